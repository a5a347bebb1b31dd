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

mod active;
mod appender;
mod boundaries;
pub mod checkpoint;
mod compaction;
mod config;
mod error;
mod index_file;
mod leader_epochs;
mod log;
pub mod log_dir;
mod maintenance;
mod offset_index;
mod producers;
mod read;
mod recovery;
mod scan;
mod segment;
mod time_index;
mod txn_index;
mod types;
mod verify;

pub use appender::Appender;
pub use compaction::{CleanError, Cleaned, Cleaning, Limits as CleanLimits, Outcome, Plan, Step};
pub use config::{CompressionType, LogConfig};
pub use error::{AppendError, ReadError, StorageError};
pub use log::Log;
pub use maintenance::{Removal, Retained};
pub use types::{
    AbortedTransaction, Appended, EpochEnd, Opened, Opening, ProducerInfo, ProducerMark, ReadSlice,
    RecoveryReport, SegmentInfo, TimestampOffset,
};

pub use verify::{Damage, Verified, verify};

#[cfg(test)]
mod log_test;
#[cfg(test)]
mod model_test;
#[cfg(test)]
mod testing;
