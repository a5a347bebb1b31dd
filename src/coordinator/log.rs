//! What a shard needs of the partition that holds its records.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use thiserror::Error;

use crate::storage::ProducerMark;

/// A future that a trait object can return.
pub type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The end of a transaction, for one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Whose transaction.
    pub producer_id: i64,
    /// Of the marker.
    pub producer_epoch: i16,
    /// Or aborted.
    pub commit: bool,
    /// Leader epoch of the coordinator's partition.
    pub coordinator_epoch: i32,
    /// 2 if each transaction has an epoch of its own (KIP-890).
    pub transaction_version: i8,
}

/// The partition of an internal topic, led by this broker. Implemented by `partition`, and in memory for tests.
pub trait ShardLog: Send + Sync + 'static {
    /// Appends one finished batch; offsets and leader epoch are patched in by the log. Returns the offset of its last
    /// record. Called under the shard's lock; must not wait for replicas.
    fn append(&self, batch: Vec<u8>) -> Result<i64, LogFault>;

    /// Appends a transaction's end. Refused markers leave the log as it is.
    fn append_marker(&self, marker: Marker) -> Result<i64, LogFault>;

    /// What the log knows of a producer.
    fn producer(&self, id: i64) -> ProducerMark;

    /// The epoch in which this broker leads the partition.
    fn leader_epoch(&self) -> i32;

    /// The first offset that is not committed yet (the high watermark).
    fn committed(&self) -> i64;

    /// Ends when `committed()` is above `offset`, or when this broker does not lead the partition any more.
    fn wait_committed(&self, offset: i64) -> Waiting;

    /// The first offset of the log.
    fn start(&self) -> i64;

    /// The offset of the next record.
    fn end(&self) -> i64;

    /// Whole batches from the one that holds `offset` on, of about `max_bytes` and at least one; empty at the end.
    /// May block: called on a blocking thread.
    fn read(&self, offset: i64, max_bytes: usize) -> Result<Bytes, LogFault>;
}

/// Why the log did not take or give.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LogFault {
    /// Another broker leads the partition.
    #[error("not the leader of the partition")]
    NotLeader,
    /// A newer incarnation of the producer has written. Nothing was appended.
    #[error("an older epoch of the producer")]
    ProducerFenced,
    /// A newer transaction coordinator has written. Nothing was appended.
    #[error("an older epoch of the transaction coordinator")]
    CoordinatorFenced,
    /// The disk, or too few replicas.
    #[error("the log failed: {0}")]
    Failed(String),
    /// A batch or a record in the log makes no sense.
    #[error("offset {offset}: {what}")]
    Corrupt {
        /// Where.
        offset: i64,
        /// What is wrong.
        what: String,
    },
}
