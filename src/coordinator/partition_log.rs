//! A partition of an internal topic as a shard's log.

use std::sync::Arc;

use barnabas_protocol::batch::{Caps, EndTxnMarker, Origin, RawBatch, Rules, Scratch, TimestampRule};
use bytes::Bytes;

use super::log::{LogFault, Marker, ShardLog, Waiting};
use crate::clock::{Clock, Now};
use crate::partition::{Isolation, Partition, PartitionError, Read};
use crate::storage::{AppendError, Appended, ProducerMark};

/// See the module.
pub struct PartitionLog {
    partition: Arc<Partition>,
    clock: Clock,
    leader_epoch: i32,
}

impl PartitionLog {
    /// The log that the partition is, as long as this broker leads it in this epoch.
    pub fn new(partition: Arc<Partition>, leader_epoch: i32, clock: Clock) -> PartitionLog {
        PartitionLog { partition, clock, leader_epoch }
    }
}

/// From this version of the protocol on a marker has the epoch after that of its transaction (KIP-890).
const EPOCH_PER_TRANSACTION: i8 = 2;

fn fault(error: &PartitionError) -> LogFault {
    match error {
        PartitionError::NotLeader => LogFault::NotLeader,
        PartitionError::Append(AppendError::InvalidProducerEpoch { .. }) => LogFault::ProducerFenced,
        PartitionError::Append(AppendError::CoordinatorFenced { .. }) => LogFault::CoordinatorFenced,
        other => LogFault::Failed(other.to_string()),
    }
}

/// What a batch of the broker's own holds.
#[derive(Clone, Copy)]
enum Built {
    Marker(Marker),
    /// A shard's records: only for the epoch that the shard was loaded in.
    Records {
        leader_epoch: i32,
    },
}

/// Appends a batch of the broker's own, whose times are its own; its writer keeps within the largest batch itself.
fn append_built(
    partition: &Arc<Partition>,
    mut batch: Vec<u8>,
    what: Built,
    now: Now,
) -> Result<Appended, LogFault> {
    let rules = Rules {
        origin: Origin::Coordinator,
        max_bytes: usize::MAX,
        compacted: true,
        timestamps: TimestampRule::Create { before_max_ms: i64::MAX, after_max_ms: i64::MAX },
        now_ms: now.wall_ms,
        caps: Caps::default(),
        codec: None,
    };
    let checked =
        RawBatch::sole(&mut batch, true).and_then(|raw| raw.validate(&rules, &mut Scratch::default()));
    let batch = checked.map_err(|error| LogFault::Failed(error.to_string()))?;
    let appended = match what {
        Built::Marker(marker) => {
            partition.append_marker(batch, marker.transaction_version >= EPOCH_PER_TRANSACTION, now)
        }
        Built::Records { leader_epoch } => partition.append_in_epoch(batch, leader_epoch, now),
    };
    appended.map_err(|error| match partition.log().is_abandoned() {
        // The topic was deleted.
        true => LogFault::NotLeader,
        false => fault(&error),
    })
}

/// Appends the end of a transaction.
pub(super) fn append_marker(
    partition: &Arc<Partition>,
    marker: Marker,
    now: Now,
) -> Result<Appended, LogFault> {
    let end = EndTxnMarker { commit: marker.commit, coordinator_epoch: marker.coordinator_epoch };
    let batch = end
        .batch(now.wall_ms, marker.producer_id, marker.producer_epoch)
        .map_err(|error| LogFault::Failed(error.to_string()))?;
    append_built(partition, batch, Built::Marker(marker), now)
}

impl ShardLog for PartitionLog {
    fn append(&self, batch: Vec<u8>) -> Result<i64, LogFault> {
        let records = Built::Records { leader_epoch: self.leader_epoch };
        let appended = append_built(&self.partition, batch, records, self.clock.now())?;
        Ok(appended.last_offset)
    }

    fn append_marker(&self, marker: Marker) -> Result<i64, LogFault> {
        append_marker(&self.partition, marker, self.clock.now()).map(|appended| appended.last_offset)
    }

    fn producer(&self, id: i64) -> ProducerMark {
        self.partition.producer(id)
    }

    fn leader_epoch(&self) -> i32 {
        self.leader_epoch
    }

    fn committed(&self) -> i64 {
        let committed = self.partition.high_watermark();
        // Read first: what a later leader has committed at these offsets may be something else.
        if self.partition.leader_epoch().ok() == Some(self.leader_epoch) { committed } else { -1 }
    }

    fn wait_committed(&self, offset: i64) -> Waiting {
        let waiter = self.partition.wait_committed(offset);
        Box::pin(std::future::poll_fn(move |cx| match &waiter {
            Some(waiter) => waiter.poll(cx),
            None => std::task::Poll::Ready(()),
        }))
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
