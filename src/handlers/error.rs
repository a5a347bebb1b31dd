//! The one map from causes to Kafka's error codes. No default arms: a new cause cannot be forgotten.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::batch::{Class, Fault};

use crate::partition::PartitionError;
use crate::storage::AppendError;

/// The sentence that Kafka gives an error where nobody has said more; its name, where none of our answers has it.
pub fn sentence(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidRequest => {
            "This most likely occurs because of a request being malformed by the client library or the message was \
             sent to an incompatible broker. See the broker logs for more details."
        }
        ErrorCode::CoordinatorNotAvailable => "The coordinator is not available.",
        ErrorCode::GroupAuthorizationFailed => "Group authorization failed.",
        ErrorCode::TransactionalIdAuthorizationFailed => "Transactional Id authorization failed.",
        other => other.name(),
    }
}

/// The code for what a partition refused.
pub fn partition(error: &PartitionError) -> ErrorCode {
    match error {
        PartitionError::UnknownTopicOrPartition => ErrorCode::UnknownTopicOrPartition,
        PartitionError::UnknownTopicId => ErrorCode::UnknownTopicId,
        PartitionError::NotLeader => ErrorCode::NotLeaderOrFollower,
        PartitionError::FencedLeaderEpoch { .. } => ErrorCode::FencedLeaderEpoch,
        PartitionError::UnknownLeaderEpoch { .. } => ErrorCode::UnknownLeaderEpoch,
        PartitionError::Offline => ErrorCode::KafkaStorageError,
        PartitionError::Corrupt => ErrorCode::CorruptMessage,
        PartitionError::NotEnoughReplicas => ErrorCode::NotEnoughReplicas,
        PartitionError::InvalidSize => ErrorCode::UnknownServerError,
        PartitionError::NotEnoughReplicasAfterAppend => ErrorCode::NotEnoughReplicasAfterAppend,
        PartitionError::NotReplica { knows_epoch: true } => ErrorCode::UnknownLeaderEpoch,
        PartitionError::NotReplica { knows_epoch: false } => ErrorCode::NotLeaderOrFollower,
        PartitionError::StaleReplica => ErrorCode::NotLeaderOrFollower,
        PartitionError::OffsetNotAvailable => ErrorCode::OffsetNotAvailable,
        PartitionError::OffsetOutOfRange { .. } => ErrorCode::OffsetOutOfRange,
        PartitionError::Append(error) => append(error),
    }
}

fn append(error: &AppendError) -> ErrorCode {
    match error {
        AppendError::OutOfOrderSequence { .. } => ErrorCode::OutOfOrderSequenceNumber,
        AppendError::InvalidProducerEpoch { .. } => ErrorCode::InvalidProducerEpoch,
        AppendError::CoordinatorFenced { .. } => ErrorCode::TransactionCoordinatorFenced,
        AppendError::InvalidTxnState { .. } => ErrorCode::InvalidTxnState,
        AppendError::LargerThanSegment { .. } => ErrorCode::RecordListTooLarge,
        AppendError::Damaged { .. } => ErrorCode::CorruptMessage,
        AppendError::NotNext { .. } => ErrorCode::UnknownServerError,
        AppendError::Storage(_) => ErrorCode::KafkaStorageError,
    }
}

/// The code for a batch that does not pass its checks.
pub fn batch(fault: &Fault) -> ErrorCode {
    match fault.class() {
        Class::Corrupt => ErrorCode::CorruptMessage,
        Class::Invalid => ErrorCode::InvalidRecord,
        Class::Timestamp => ErrorCode::InvalidTimestamp,
        Class::TooLarge => ErrorCode::MessageTooLarge,
        Class::UnsupportedCodec => ErrorCode::UnsupportedCompressionType,
        Class::Unreadable => ErrorCode::UnknownServerError,
    }
}
