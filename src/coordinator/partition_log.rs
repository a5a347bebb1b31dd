//! A partition of an internal topic as a shard's log.

use std::sync::Arc;

use barnabas_protocol::batch::{Caps, Origin, RawBatch, Rules, Scratch, TimestampRule};
use bytes::Bytes;

use super::log::{LogFault, ShardLog, Waiting};
use crate::clock::Clock;
use crate::partition::{Isolation, Partition, PartitionError, Read, Waiter};

/// See the module.
pub struct PartitionLog {
    partition: Arc<Partition>,
    clock: Clock,
}

impl PartitionLog {
    /// The log that the partition is.
    pub fn new(partition: Arc<Partition>, clock: Clock) -> PartitionLog {
        PartitionLog { partition, clock }
    }
}

fn fault(error: &PartitionError) -> LogFault {
    match error {
        PartitionError::NotLeader => LogFault::NotLeader,
        other => LogFault::Failed(other.to_string()),
    }
}

impl ShardLog for PartitionLog {
    fn append(&self, mut batch: Vec<u8>) -> Result<i64, LogFault> {
        let now = self.clock.now();
        // The coordinator keeps within the largest batch itself; times are its own.
        let rules = Rules {
            origin: Origin::Coordinator,
            max_bytes: usize::MAX,
            compacted: true,
            timestamps: TimestampRule::Create { before_max_ms: i64::MAX, after_max_ms: i64::MAX },
            now_ms: now.wall_ms,
            caps: Caps::default(),
        };
        let checked =
            RawBatch::sole(&mut batch, true).and_then(|raw| raw.validate(&rules, &mut Scratch::default()));
        let batch = checked.map_err(|error| LogFault::Failed(error.to_string()))?;
        let appended =
            self.partition.append(batch, Origin::Coordinator, now).map_err(|error| fault(&error))?;
        Ok(appended.last_offset)
    }

    fn committed(&self) -> i64 {
        self.partition.high_watermark()
    }

    fn wait_committed(&self, offset: i64) -> Waiting {
        let waiter = Waiter::for_bytes(i64::MAX);
        self.partition.waiters().watch_commit(offset, waiter.clone());
        if self.partition.high_watermark() > offset || self.partition.leader_epoch().is_err() {
            waiter.fire();
        }
        Box::pin(std::future::poll_fn(move |cx| waiter.poll(cx)))
    }

    fn start(&self) -> i64 {
        self.partition.log().start_offset()
    }

    fn end(&self) -> i64 {
        self.partition.log().end_offset()
    }

    fn read(&self, offset: i64, max_bytes: usize) -> Result<Bytes, LogFault> {
        let read = Read {
            offset,
            max_bytes: max_bytes as u64,
            min_one: true,
            isolation: Isolation::LogEnd,
            current_leader_epoch: -1,
            last_fetched_epoch: -1,
        };
        let fetched = self.partition.read(&read).map_err(|error| fault(&error))?;
        fetched.records.load().map_err(|error| LogFault::Failed(error.to_string()))
    }
}
