//! The settings that transaction coordination looks at.

/// A copy of the broker's settings, in the units the coordinator computes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionSettings {
    /// `transaction.max.timeout.ms`.
    pub max_timeout_ms: i32,
    /// `transactional.id.expiration.ms`.
    pub id_expiration_ms: i64,
    /// `transaction.remove.expired.transaction.cleanup.interval.ms`.
    pub expiry_check_ms: u64,
    /// Largest batch the log takes, in bytes (`max.message.bytes` of the internal topic).
    pub max_batch_bytes: usize,
    /// `transaction.state.log.num.partitions`: shards, unless the topic exists with another count.
    pub partitions: i32,
}

impl Default for TransactionSettings {
    /// Kafka's defaults.
    fn default() -> TransactionSettings {
        TransactionSettings {
            max_timeout_ms: 900_000,
            id_expiration_ms: 7 * 24 * 3_600_000,
            expiry_check_ms: 3_600_000,
            max_batch_bytes: 1_048_588,
            partitions: 50,
        }
    }
}

/// How long to wait before markers that could not be written are tried again.
pub(super) const MARKER_RETRY_MS: u64 = 100;
