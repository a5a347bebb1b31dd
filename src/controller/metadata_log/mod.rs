//! The log of metadata records: `__cluster_metadata-0`, on one node.
//!
//! ```text
//! 00000000000000000000-0000000000.checkpoint   what `format` wrote: the first records of the cluster
//! <offset>-<epoch>.checkpoint                  an image up to the offset, as records between header and footer
//! quorum-state                                 leader and epoch
//! 00000000000000000000.log …                   batches of records; a LeaderChange batch begins each epoch
//! ```
//!
//! Each start is a new epoch, which this node leads. What is appended counts once it is flushed.

mod batches;
mod open;
mod quorum_state;
mod snapshot;

use std::path::PathBuf;
use std::sync::Arc;

use barnabas_protocol::batch::{Caps, Origin, RawBatch, Rules, Scratch, TimestampRule};

pub use open::{Opening, open};
pub use snapshot::{SnapshotId, write_fresh};

use super::error::ControllerError;
use super::record::Record;
use crate::clock::Now;
use crate::disk::Disk;
use crate::ids::Uuid;
use crate::storage::{Appender, Log, LogConfig};
use snapshot::Snapshots;

/// The directory of the log in `metadata.log.dir`.
pub const DIRECTORY: &str = "__cluster_metadata-0";
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
    /// The node that leads: this one.
    pub leader: i32,
    /// Its epoch.
    pub epoch: i32,
    /// Offset after the last record.
    pub log_end: i64,
    /// The directory of the log; zero with static voters, as Kafka answers.
    pub directory: Uuid,
}

/// The log, opened, in the hands of its leader.
pub struct MetadataLog {
    node: i32,
    epoch: i32,
    appender: Appender,
    scratch: Scratch,
    snapshots: Snapshots,
    bytes_since_snapshot: u64,
}

impl MetadataLog {
    /// Appends records as one batch. They are in the file, but not flushed.
    ///
    /// # Errors
    /// The disk failed.
    pub fn append(&mut self, records: &[Record], now: Now) -> Result<Position, ControllerError> {
        let mut bytes = batches::data(records, 0, self.epoch, now)?;
        self.append_batch(&mut bytes, now)
    }

    fn append_batch(&mut self, bytes: &mut [u8], now: Now) -> Result<Position, ControllerError> {
        let path = self.appender.log().dir().to_path_buf();
        let damaged = |fault| ControllerError::Batch { path: path.clone(), fault };
        let rules = Rules {
            origin: Origin::Coordinator,
            max_bytes: usize::try_from(LARGEST_BATCH).unwrap_or(usize::MAX),
            compacted: false,
            timestamps: TimestampRule::Create { before_max_ms: i64::MAX, after_max_ms: i64::MAX },
            now_ms: now.wall_ms,
            caps: Caps::default(),
        };
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let raw = RawBatch::sole(bytes, true).map_err(damaged)?;
        let batch = raw.validate(&rules, &mut self.scratch).map_err(damaged)?;
        let appended = self.appender.append(batch, self.epoch, Origin::Coordinator, now)?;
        self.bytes_since_snapshot = self.bytes_since_snapshot.saturating_add(length);
        Ok(Position { offset: appended.last_offset, epoch: self.epoch, timestamp_ms: now.wall_ms })
    }

    /// The offset that the next record gets.
    pub fn next_offset(&self) -> i64 {
        self.appender.log().end_offset()
    }

    /// What is shared with readers; flushing it makes everything appended so far durable.
    pub fn shared(&self) -> &Arc<Log> {
        self.appender.log()
    }

    /// Who leads.
    pub fn quorum(&self) -> Quorum {
        Quorum { leader: self.node, epoch: self.epoch, log_end: self.next_offset(), directory: Uuid::ZERO }
    }

    /// Bytes that a start would have to replay.
    pub fn bytes_since_snapshot(&self) -> u64 {
        self.bytes_since_snapshot
    }

    /// Writes snapshots, without the log being locked.
    pub fn snapshots(&self) -> Snapshots {
        self.snapshots.clone()
    }

    /// A snapshot is on the disk: what it holds need not be kept.
    ///
    /// # Errors
    /// The disk failed.
    pub fn snapshot_taken(&mut self, id: SnapshotId, now: Now) -> Result<(), ControllerError> {
        self.bytes_since_snapshot = 0;
        self.appender.advance_log_start(id.offset)?;
        let retained = self.appender.retention(id.offset, now)?;
        if let Some(removal) = retained.removal {
            // Nobody else reads this log.
            removal.run()?;
        }
        self.snapshots.remove_before(id)
    }

    /// Flushes and closes, for an orderly stop. Blocks.
    ///
    /// # Errors
    /// The disk failed.
    pub fn close(self) -> Result<(), ControllerError> {
        Ok(self.appender.close_clean()?)
    }
}

/// The settings of the log's files.
fn log_config(segment_bytes: u32) -> LogConfig {
    LogConfig {
        segment_bytes,
        retention_ms: -1,
        retention_bytes: -1,
        max_message_bytes: LARGEST_BATCH,
        timestamp_after_max_ms: i64::MAX,
        ..LogConfig::default()
    }
}

/// Where files are, and through which door.
#[derive(Clone, Debug)]
struct Place {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
}
