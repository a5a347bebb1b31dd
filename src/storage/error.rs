//! What can go wrong in a log, by whose fault it is.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The log directory can no longer be trusted: take it offline, retry nothing.
#[derive(Debug, Error)]
pub enum StorageError {
    /// The system refused a call.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file holds what Kafka would not have written.
    #[error("{} is corrupt: {what}", path.display())]
    Corrupt {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// An earlier write to this log failed, so nobody knows what it holds.
    #[error("{} was closed by an earlier error", dir.display())]
    Poisoned {
        /// The log's directory.
        dir: PathBuf,
    },
}

impl StorageError {
    pub(super) fn io<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> StorageError + 'a {
        move |source| StorageError::Io { doing, path: path.into(), source }
    }
}

/// Why a read gives nothing.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Below the log's start or beyond its end.
    #[error("offset {offset} is not within {start} to {end}")]
    OutOfRange {
        /// Asked for.
        offset: i64,
        /// First offset of the log.
        start: i64,
        /// Offset after the last.
        end: i64,
    },
    /// CORRUPT_MESSAGE: what is in the file is not a batch.
    #[error("the log is corrupt at position {position}: {what}")]
    Corrupt {
        /// In its segment, in bytes.
        position: u64,
        /// What is wrong.
        what: String,
    },
    /// The disk failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a batch is not appended. Nothing was written, unless it says `Storage`.
#[derive(Debug, Error)]
pub enum AppendError {
    /// OUT_OF_ORDER_SEQUENCE_NUMBER: a gap, or older than the last five batches.
    #[error("out of order sequence of producer {producer_id}: {incoming} after {last}")]
    OutOfOrderSequence {
        /// Who.
        producer_id: i64,
        /// First sequence of the batch.
        incoming: i32,
        /// Last sequence in the log, -1 if there is none.
        last: i32,
    },
    /// INVALID_PRODUCER_EPOCH: a newer incarnation has written.
    #[error("epoch {incoming} of producer {producer_id} is older than {current}")]
    InvalidProducerEpoch {
        /// Who.
        producer_id: i64,
        /// Of the batch.
        incoming: i16,
        /// In the log.
        current: i16,
    },
    /// TRANSACTION_COORDINATOR_FENCED: a marker of a coordinator that has been replaced.
    #[error("coordinator epoch {incoming} of producer {producer_id} is older than {current}")]
    CoordinatorFenced {
        /// Whose transaction.
        producer_id: i64,
        /// Of the marker.
        incoming: i32,
        /// In the log.
        current: i32,
    },
    /// INVALID_TXN_STATE: a plain batch within a transaction, or one of a transaction that is not open.
    #[error("producer {producer_id}: {what}")]
    InvalidTxnState {
        /// Who.
        producer_id: i64,
        /// What is wrong.
        what: &'static str,
    },
    /// RECORD_LIST_TOO_LARGE: larger than a segment may be.
    #[error("a batch of {bytes} bytes does not fit into a segment of {segment_bytes}")]
    LargerThanSegment {
        /// Of the batch.
        bytes: usize,
        /// `segment.bytes`.
        segment_bytes: u32,
    },
    /// CORRUPT_MESSAGE: what was copied from the leader is not what the leader wrote.
    #[error("a copied batch is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: String,
    },
    /// A copied batch that does not lie behind the log's end.
    #[error("a copied batch has offset {offset}, the log ends at {end}")]
    NotNext {
        /// Of the batch.
        offset: i64,
        /// Of the log.
        end: i64,
    },
    /// The disk or the files failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}
