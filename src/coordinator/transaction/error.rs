//! Why the transaction coordinator refuses.

use thiserror::Error;

/// A refusal, by cause. `handlers` maps each to Kafka's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TransactionError {
    /// The answer got lost with its shard.
    #[error("the coordinator is not available")]
    NotAvailable,
    /// Another broker coordinates this transactional id.
    #[error("this broker does not coordinate the transactional id")]
    NotCoordinator,
    /// The records are still being read.
    #[error("the coordinator is loading")]
    Loading,
    /// An empty transactional id.
    #[error("the transactional id is empty")]
    EmptyId,
    /// Not positive, or above `transaction.max.timeout.ms`.
    #[error("invalid transaction timeout")]
    InvalidTimeout,
    /// The transactional id has another producer, or none.
    #[error("the producer id does not belong to the transactional id")]
    UnknownMapping,
    /// A newer incarnation of the producer exists.
    #[error("an older epoch of the producer")]
    Fenced,
    /// The transaction before is still on its way to its end.
    #[error("the transaction before has not ended yet")]
    Concurrent,
    /// Nothing to end, or to be ended the other way.
    #[error("not possible in the transaction's state")]
    InvalidState,
    /// No such transactional id.
    #[error("no such transactional id")]
    NotFound,
    /// Draw a producer id and ask again with it.
    #[error("a producer id is needed")]
    NeedsProducerId,
    /// More partitions than a record has room for.
    #[error("the record does not fit into a batch")]
    TooLarge,
}
