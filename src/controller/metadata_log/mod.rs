//! The log of metadata records: `__cluster_metadata-0`, and what the controller sees of whoever keeps it.
//!
//! ```text
//! 00000000000000000000-0000000000.checkpoint   what `format` wrote: the first records of the cluster
//! <offset>-<epoch>.checkpoint                  an image up to the offset, as records between header and footer
//! quorum-state                                 leader and epoch
//! 00000000000000000000.log …                   batches of records; a LeaderChange batch begins each epoch
//! ```

pub(in crate::controller) mod batches;
pub(in crate::controller) mod beside;
mod copy;
pub(in crate::controller) mod files;
mod followers;
pub(in crate::controller) mod open;
pub(in crate::controller) mod quorum_state;
mod serving;
pub(in crate::controller) mod snapshot;
mod sole;
pub mod voters;

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use barnabas_protocol::messages::{QuorumRequest, QuorumResponse};
use futures_util::future::BoxFuture;
use tokio::sync::watch;

pub use copy::Copy;
pub use followers::{Follower, Followers};
pub use open::{Opening, open};
pub use serving::{Standing, standing};
pub use snapshot::{SnapshotId, Snapshots, write_fresh};

use super::error::ControllerError;
use super::image::Image;
use super::record::Record;
use super::state::Hard;
use crate::clock::Now;
use crate::disk::Disk;
use crate::ids::Uuid;
use crate::storage::{Log, LogConfig};

/// The directory of the log in `metadata.log.dir`.
pub const DIRECTORY: &str = "__cluster_metadata-0";
/// The name of the log as a topic.
pub const TOPIC_NAME: &str = "__cluster_metadata";
/// The topic's id: the same in every cluster.
pub const TOPIC_ID: Uuid = Uuid([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);

/// The largest batch: what one decision may need, by far.
const LARGEST_BATCH: u32 = 64 << 20;

/// Where a batch of records is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Of the last record.
    pub offset: i64,
    /// Leader epoch of the batch.
    pub epoch: i32,
    /// Append time, ms since 1970.
    pub timestamp_ms: i64,
}

/// The metadata quorum, as DescribeQuorum shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quorum {
    /// The node that leads.
    pub leader: i32,
    /// Its epoch.
    pub epoch: i32,
    /// Offset after the last record.
    pub log_end: i64,
    /// The directory of the log; zero with static voters, as Kafka answers.
    pub directory: Uuid,
}

/// The log as the controller uses it: one node's, or a quorum's.
pub trait MetadataLog: Send + Sync {
    /// Lets the log speak: everything it says from now on is told here, one call at a time. To be called once. Blocks.
    ///
    /// # Errors
    /// The log failed.
    fn begin(&self, events: Weak<dyn LogEvents>) -> Result<(), ControllerError>;

    /// Appends one batch as the leader of `epoch`, behind everything appended so far, and gives its place. It is not
    /// committed yet. Waits neither for the disk's flush nor for the network, and says nothing to the listener.
    ///
    /// # Errors
    /// [`ControllerError::NotLeader`] if the epoch is over; all others are fatal.
    fn append(&self, epoch: i32, records: &[Record], now: Now) -> Result<Position, ControllerError>;

    /// Sees to it that what was appended will be committed. Called without locks: the listener may be told of the
    /// commit before this returns.
    fn push(&self);

    /// The offset that the next record of the leader gets.
    fn next_offset(&self) -> i64;

    /// Who leads, and how far.
    fn quorum(&self) -> Quorum;

    /// The bytes: what observers fetch below [`MetadataLog::committed`].
    fn log(&self) -> &Arc<Log>;

    /// The snapshots beside it.
    fn snapshots(&self) -> &Snapshots;

    /// How far each voter is, as far as this node can tell.
    fn voters(&self, now: Now) -> Vec<Follower>;

    /// Who copies it without a vote.
    fn followers(&self) -> &Followers;

    /// Answers another voter; none if that one has no part in this log.
    fn answer_voter(&self, _request: QuorumRequest) -> Option<BoxFuture<'static, QuorumResponse>> {
        None
    }

    /// Hands the leadership over to another voter, and waits until that is done; none if there is nothing to hand over.
    fn resign(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// The high watermark: the first offset that is not committed, and every later one.
    fn committed(&self) -> watch::Receiver<i64>;

    /// Bytes that a start would have to replay.
    fn bytes_since_snapshot(&self) -> u64;

    /// Writes a snapshot and removes what it makes needless. Blocks.
    ///
    /// # Errors
    /// The disk failed.
    fn snapshot(&self, image: &Image, now: Now) -> Result<(), ControllerError>;

    /// Flushes and closes, for an orderly stop; nothing is told any more. Blocks.
    ///
    /// # Errors
    /// The disk failed.
    fn close(&self) -> Result<(), ControllerError>;
}

/// What the log tells: one call at a time, in the order of the log, on a thread that may block.
pub trait LogEvents: Send + Sync {
    /// This node leads. Every entry before this epoch was told, and the epoch's LeaderChange is appended.
    ///
    /// # Errors
    /// The log failed.
    fn leading(&self, epoch: i32) -> Result<(), ControllerError>;

    /// Somebody else leads, or nobody is known to.
    fn following(&self, epoch: i32, leader: Option<i32>);

    /// What this node appended in the epoch that it leads is committed up to and including an offset.
    fn own_committed(&self, up_to: i64);

    /// A batch that somebody else appended, or this node in an earlier epoch, is committed. Control batches have no
    /// records.
    fn committed(&self, at: Position, records: &[Record]);

    /// A snapshot took the place of everything so far.
    fn restored(&self, hard: Hard);

    /// The kernel of another voter's machine says that nobody listens there.
    fn nobody_there(&self, _voter: i32) {}

    /// The log can go on no more.
    fn failed(&self, error: &ControllerError);
}

/// The settings of the log's files.
fn log_config(segment_bytes: u32) -> LogConfig {
    LogConfig {
        segment_bytes,
        retention_ms: -1,
        retention_bytes: -1,
        max_message_bytes: LARGEST_BATCH,
        timestamp_after_max_ms: i64::MAX,
        refuse_damage: true,
        ..LogConfig::default()
    }
}

/// Where files are, and through which door.
#[derive(Clone, Debug)]
pub(in crate::controller) struct Place {
    pub(in crate::controller) disk: Arc<dyn Disk>,
    pub(in crate::controller) dir: PathBuf,
}
