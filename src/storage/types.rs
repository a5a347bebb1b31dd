//! What goes in and out of a log, apart from its settings and errors.

use std::sync::Arc;

use super::{Appender, Log};
use crate::disk::Chunk;

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

/// An opened log.
#[derive(Debug)]
pub struct Opened {
    /// The one writer.
    pub appender: Appender,
    /// What is shared.
    pub log: Arc<Log>,
    /// What had to be done.
    pub report: RecoveryReport,
}

/// What opening a log took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Bytes of batches that were read and checked.
    pub scanned_bytes: u64,
    /// Bytes cut off the end, whole segments included.
    pub cut_bytes: u64,
    /// Whole segments among them.
    pub cut_segments: u32,
    /// Why they were cut.
    pub cut_reason: Option<String>,
    /// Segments whose indexes were missing or damaged and were made again.
    pub rebuilt_indexes: u32,
}

/// Bytes of a log for a fetch.
#[derive(Clone, Debug)]
pub struct ReadSlice {
    /// Starts with the batch that holds the offset; the last batch may be cut.
    pub chunk: Chunk,
    /// Even the first batch is cut, because it is larger than what was asked for.
    pub first_cut: bool,
    /// No record of the slice has this offset or a later one; close to its end where that is easily known.
    pub below: i64,
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

/// What a log knows of a producer, besides its sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerMark {
    /// Its newest epoch; -1 if the producer is unknown.
    pub epoch: i16,
    /// It has a transaction open.
    pub open: bool,
    /// Offset of its last marker since the log was opened; -1 if there was none.
    pub last_marker: i64,
}

impl ProducerMark {
    /// An unknown producer.
    pub const NONE: ProducerMark = ProducerMark { epoch: -1, open: false, last_marker: -1 };

    /// Is a transaction of this epoch open?
    pub fn is_open_in(&self, epoch: i16) -> bool {
        self.open && self.epoch == epoch
    }
}

/// A producer that a log remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerInfo {
    /// Producer id.
    pub id: i64,
    /// Its newest epoch.
    pub epoch: i16,
    /// Of its newest record; -1 if none of this epoch is known.
    pub last_sequence: i32,
    /// Of its newest batch or marker, ms.
    pub last_timestamp: i64,
    /// Of its last marker; -1 if there was none.
    pub coordinator_epoch: i32,
    /// First offset of its open transaction.
    pub open_since: Option<i64>,
}

/// A segment, for those who look from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// First offset.
    pub base_offset: i64,
    /// Of its batches.
    pub bytes: u64,
}

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
    /// So many records are unflushed as `flush.messages` says: [`Log::flush`] is due, on a blocking thread, before
    /// this is acknowledged.
    pub flush_due: bool,
}
