//! The shared side of a log.
#![allow(clippy::unimplemented, missing_docs, unused_variables, reason = "signatures first, bodies follow")]

use std::path::Path;
use std::sync::Arc;

use super::{Appender, LogConfig, ReadError, StorageError};
use crate::clock::Now;
use crate::disk::{Chunk, Disk};

/// A log as its readers see it.
#[derive(Debug)]
pub struct Log {}

/// What the log directory remembers of a log.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The directory was stopped cleanly: nothing is scanned.
    pub clean: bool,
    /// Everything below was flushed (`recovery-point-offset-checkpoint`); 0 if unknown.
    pub recovery_point: i64,
    /// First offset that may be read (`log-start-offset-checkpoint`); 0 if unknown.
    pub log_start: i64,
    /// `producer.id.expiration.ms`.
    pub producer_expiry_ms: i64,
    /// Seeds `segment.jitter.ms`.
    pub jitter_seed: u64,
}

/// An opened log: the one writer, what is shared, and what recovery had to do.
#[derive(Debug)]
pub struct Opened {
    pub appender: Appender,
    pub log: Arc<Log>,
    pub report: RecoveryReport,
}

/// What opening found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Bytes of batches that were read and checked.
    pub scanned_bytes: u64,
    /// Bytes cut off the end, whole segments included.
    pub cut_bytes: u64,
    /// Why they were cut.
    pub cut_reason: Option<String>,
    /// Indexes that were missing or corrupt and were made again.
    pub rebuilt_indexes: u32,
}

/// Bytes of a log for a fetch.
#[derive(Clone, Debug)]
pub struct ReadSlice {
    /// Starts with the batch that holds the offset; the last batch may be cut.
    pub chunk: Chunk,
    /// The chunk's first batch is cut, because `min_one` was not asked for.
    pub first_cut: bool,
}

/// Where a timestamp is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampOffset {
    /// Of the record, ms.
    pub timestamp: i64,
    /// Of the record.
    pub offset: i64,
    /// Of its batch; -1 if unknown.
    pub leader_epoch: i32,
}

/// Where a leader epoch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochEnd {
    /// The largest epoch not above the one asked for.
    pub epoch: i32,
    /// The first offset after it.
    pub end_offset: i64,
}

/// A transaction that was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortedTransaction {
    /// Whose.
    pub producer_id: i64,
    /// Its first record.
    pub first_offset: i64,
    /// Its marker.
    pub last_offset: i64,
    /// The last stable offset once it had ended.
    pub last_stable_offset: i64,
}

/// A segment, for those who look from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// First offset.
    pub base_offset: i64,
    /// Of its batches.
    pub bytes: u64,
}

impl Log {
    /// Opens the log in `dir`, making it if it is new. Blocks: belongs on a blocking thread.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        config: LogConfig,
        opening: Opening,
        now: Now,
    ) -> Result<Opened, StorageError> {
        unimplemented!()
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        unimplemented!()
    }

    /// Its settings.
    pub fn config(&self) -> Arc<LogConfig> {
        unimplemented!()
    }

    /// Changes its settings.
    pub fn set_config(&self, config: LogConfig) {
        unimplemented!()
    }

    /// First offset that may be read.
    pub fn start_offset(&self) -> i64 {
        unimplemented!()
    }

    /// The offset that the next record gets.
    pub fn end_offset(&self) -> i64 {
        unimplemented!()
    }

    /// Everything below is flushed.
    pub fn recovery_point(&self) -> i64 {
        unimplemented!()
    }

    /// First offset of the oldest open transaction; `None` if there is none. The last stable offset is this or the
    /// high watermark, whichever is less.
    pub fn first_unstable_offset(&self) -> Option<i64> {
        unimplemented!()
    }

    /// Bytes from the batch that holds `offset` on, at most `max_bytes`, of one segment, of batches below
    /// `upper_bound`. With `min_one` the first batch is whole whatever its size. Nothing at or beyond the bound.
    pub fn read(
        &self,
        offset: i64,
        max_bytes: u64,
        min_one: bool,
        upper_bound: i64,
    ) -> Result<ReadSlice, ReadError> {
        unimplemented!()
    }

    /// The first record whose timestamp is `timestamp` (ms) or later. Reads, also compressed batches: may block.
    pub fn offset_for_timestamp(&self, timestamp: i64) -> Result<Option<TimestampOffset>, ReadError> {
        unimplemented!()
    }

    /// The first record that has the largest timestamp. May block.
    pub fn max_timestamp(&self) -> Result<Option<TimestampOffset>, ReadError> {
        unimplemented!()
    }

    /// The newest leader epoch that wrote.
    pub fn latest_epoch(&self) -> Option<i32> {
        unimplemented!()
    }

    /// The leader epoch of an offset.
    pub fn epoch_for_offset(&self, offset: i64) -> Option<i32> {
        unimplemented!()
    }

    /// Where `epoch`, or the largest one below it, ends; `None` if the log has none so old.
    pub fn end_offset_for_epoch(&self, epoch: i32) -> Option<EpochEnd> {
        unimplemented!()
    }

    /// The aborted transactions that touch `[from, to)`.
    pub fn aborted_transactions(&self, from: i64, to: i64) -> Result<Vec<AbortedTransaction>, ReadError> {
        unimplemented!()
    }

    /// Bytes of all batches.
    pub fn size(&self) -> u64 {
        unimplemented!()
    }

    /// The segments, oldest first.
    pub fn segments(&self) -> Vec<SegmentInfo> {
        unimplemented!()
    }

    /// Flushes everything appended so far and moves the recovery point. Blocks; needs no lock.
    pub fn flush(&self) -> Result<(), StorageError> {
        unimplemented!()
    }

    /// Flushes the segments before the active one and moves the recovery point, as is due after a roll. Blocks.
    pub fn flush_sealed(&self) -> Result<(), StorageError> {
        unimplemented!()
    }
}
