//! Why a partition does not do what it was asked, by whose fault it is.

use thiserror::Error;

use crate::storage::{AppendError, ReadError};

/// See the module.
#[derive(Debug, Error)]
pub enum PartitionError {
    /// No such topic, or no such partition of it.
    #[error("no such topic or partition")]
    UnknownTopicOrPartition,
    /// No topic has this id.
    #[error("no topic has this id")]
    UnknownTopicId,
    /// Another broker leads it.
    #[error("this broker does not lead the partition")]
    NotLeader,
    /// The client knows an older leader epoch.
    #[error("the leader epoch is {current}, the request's is older")]
    FencedLeaderEpoch {
        /// The partition's.
        current: i32,
    },
    /// The client knows a newer leader epoch.
    #[error("the leader epoch is {current}, the request's is newer")]
    UnknownLeaderEpoch {
        /// The partition's.
        current: i32,
    },
    /// Its log directory has failed.
    #[error("the log directory has failed")]
    Offline,
    /// `acks=all` with too few replicas in sync; nothing was appended.
    #[error("fewer than min.insync.replicas are in sync")]
    NotEnoughReplicas,
    /// A negative number of bytes was asked for.
    #[error("a size is negative")]
    InvalidSize,
    /// It was appended, and by then too few replicas were in sync.
    #[error("appended, but fewer than min.insync.replicas are in sync")]
    NotEnoughReplicasAfterAppend,
    /// A broker that is no replica of the partition asks as if it were, as far as is known here.
    #[error("the broker is not known as a replica")]
    NotReplica {
        /// It knows the current leader epoch: it may know of a newer assignment, and asks again.
        knows_epoch: bool,
    },
    /// The replica has registered anew since it asked.
    #[error("the replica's broker epoch is old")]
    StaleReplica,
    /// The leader is new and does not know yet what is committed.
    #[error("the new leader does not know yet what is committed")]
    OffsetNotAvailable,
    /// The log refused the batch.
    #[error(transparent)]
    Append(AppendError),
    /// What the log holds there is not a batch.
    #[error("the log is corrupt")]
    Corrupt,
    /// The offset lies outside the log.
    #[error("offset {offset} is not within {start} to {end}")]
    OffsetOutOfRange {
        /// Asked for.
        offset: i64,
        /// First readable offset.
        start: i64,
        /// Offset after the last readable one.
        end: i64,
    },
}

impl PartitionError {
    /// Takes a read's error apart; a failed disk has been reported by then.
    pub(super) fn from_read(error: &ReadError) -> PartitionError {
        match error {
            ReadError::OutOfRange { offset, start, end } => {
                PartitionError::OffsetOutOfRange { offset: *offset, start: *start, end: *end }
            }
            ReadError::Corrupt { .. } => PartitionError::Corrupt,
            ReadError::Storage(_) => PartitionError::Offline,
        }
    }
}
