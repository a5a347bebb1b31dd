//! A partition's log, in Kafka's own files.
//!
//! A **log** is a directory of **segments**, each named by its first offset in 20 digits:
//!
//! ```text
//! 00000000000000000000.log        batches, one after the other
//! 00000000000000000000.index      every 4 KiB: last offset of a batch - base (u32), its position (u32)
//! 00000000000000000000.timeindex  largest timestamp so far (i64), last offset of its batch - base (u32)
//! 00000000000000000000.txnindex   aborted transactions
//! 00000000000000000042.snapshot   what the idempotent producers had written up to offset 42
//! leader-epoch-checkpoint         first offset of each leader epoch
//! partition.metadata              the topic's id
//! ```
//!
//! [`Log`] is what everybody may share: it reads, and no reader ever waits for the writer. [`Appender`] is the one
//! writer: it appends, rolls, truncates and deletes. [`Log::open`] gives both, after recovery if need be.
//! [`log_dir`] knows the files beside the partitions.
//!
//! Errors of type [`StorageError`] mean that the log directory must go offline.

mod appender;
pub mod checkpoint;
mod config;
mod error;
mod log;
pub mod log_dir;

pub use appender::{Appended, Appender, Removal, Retained};
pub use config::{CompressionType, LogConfig};
pub use error::{AppendError, ReadError, StorageError};
pub use log::{
    AbortedTransaction, EpochEnd, Log, Opened, Opening, ReadSlice, RecoveryReport, SegmentInfo,
    TimestampOffset,
};
