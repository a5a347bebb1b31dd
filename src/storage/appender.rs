//! The one writer of a log.
#![allow(clippy::unimplemented, missing_docs, unused_variables, reason = "signatures first, bodies follow")]

use std::sync::Arc;

use super::{AppendError, Log, StorageError};
use crate::clock::Now;

/// The one writer of a log.
#[derive(Debug)]
pub struct Appender {}

/// Where a batch is in the log now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Of its first record.
    pub first_offset: i64,
    /// Of its last record.
    pub last_offset: i64,
    /// What the answer gives as log append time: the broker's time with `LogAppendTime`, the first copy's timestamp
    /// if it is a duplicate, else -1.
    pub append_time: i64,
    /// It was there already; nothing was written.
    pub duplicate: bool,
    /// A segment was sealed: [`Log::flush_sealed`] is due, on a blocking thread.
    pub rolled: bool,
}

/// What retention took away.
#[derive(Debug, Default)]
pub struct Retained {
    /// Segments that are no longer in the log.
    pub segments: u32,
    /// Their bytes.
    pub bytes: u64,
    /// To be run later.
    pub removal: Option<Removal>,
}

/// Files named `.deleted` that are to be removed after `file.delete.delay.ms`.
#[derive(Debug)]
pub struct Removal {}

impl Removal {
    /// How long to wait, ms.
    pub fn delay_ms(&self) -> u64 {
        unimplemented!()
    }

    /// Removes the files. Blocks.
    pub fn run(self) -> Result<(), StorageError> {
        unimplemented!()
    }
}

impl Appender {
    /// What is shared with readers.
    pub fn log(&self) -> &Arc<Log> {
        unimplemented!()
    }

    // pub fn append(&mut self, batch: &mut ValidBatch<'_>, leader_epoch: i32, origin: Origin, now: Now)
    //     -> Result<Appended, AppendError>
    // One call for clients and for internal writers: checks idempotence (clients), stamps, one write, publishes.

    /// Appends one checked batch: deduplicates, assigns offsets, writes once, publishes.
    pub fn append(
        &mut self,
        batch: barnabas_protocol::batch::ValidBatch<'_>,
        epoch: i32,
        origin: barnabas_protocol::batch::Origin,
        now: Now,
    ) -> Result<Appended, super::AppendError> {
        unimplemented!()
    }

    /// A new leader epoch begins at the log's end.
    pub fn begin_epoch(&mut self, epoch: i32) -> Result<(), StorageError> {
        unimplemented!()
    }

    /// Seals the active segment and starts a new one, unless it is empty.
    pub fn roll(&mut self, now: Now) -> Result<(), StorageError> {
        unimplemented!()
    }

    /// Removes every batch that has a record at or above `offset`.
    pub fn truncate_to(&mut self, offset: i64) -> Result<(), StorageError> {
        unimplemented!()
    }

    /// Nothing below `offset` is readable from now on (DeleteRecords). Whole segments go with the next retention.
    pub fn advance_log_start(&mut self, offset: i64) -> Result<(), StorageError> {
        unimplemented!()
    }

    /// Takes away whole segments that are too old, too much, or below the log's start; nothing at or above the
    /// high watermark.
    pub fn retention(&mut self, high_watermark: i64, now: Now) -> Result<Retained, StorageError> {
        unimplemented!()
    }

    /// Forgets producers that have been silent for `producer.id.expiration.ms`.
    pub fn expire_producers(&mut self, now: Now) {
        unimplemented!()
    }

    /// Flushes, trims and writes the producer snapshot, for an orderly stop.
    pub fn close_clean(self) -> Result<(), StorageError> {
        unimplemented!()
    }
}
