//! Writing the ends of transactions: into partitions of data, and through the coordinator into those that have one, so
//! that offsets committed in the transaction count or are forgotten.

use std::sync::Arc;

use thiserror::Error;
use tracing::warn;

use super::groups::{Groups, OFFSETS_TOPIC};
use super::log::{LogFault, Marker};
use super::partition_log::append_marker;
use super::remote_markers::Elsewhere;
use super::shard::Unavailable;
use super::transaction::Partitions as Wanted;
use crate::clock::Clock;
use crate::ids::TopicName;
use crate::partition::{Partition, PartitionError, Partitions, Waiter};

/// Why a marker was not written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MarkerFault {
    /// No such partition: there is nothing to end.
    #[error("no such topic or partition")]
    Unknown,
    /// No producer has this id, epoch or protocol.
    #[error("the marker of no producer")]
    OfNobody,
    /// Another broker leads it, or its coordinator is not ready.
    #[error("not the leader of the partition")]
    NotLeader,
    /// A newer incarnation of the producer has written: the transaction has ended there.
    #[error("an older epoch of the producer")]
    ProducerFenced,
    /// A newer transaction coordinator has written.
    #[error("an older epoch of the transaction coordinator")]
    CoordinatorFenced,
    /// The disk.
    #[error("the log failed: {0}")]
    Failed(String),
}

/// The partitions of this broker, as transactions end in them.
#[derive(Clone)]
pub struct Markers {
    partitions: Arc<Partitions>,
    groups: Groups,
    pub(super) elsewhere: Elsewhere,
    clock: Clock,
}

impl Markers {
    /// See the module.
    pub fn new(partitions: Arc<Partitions>, groups: Groups, elsewhere: Elsewhere, clock: Clock) -> Markers {
        Markers { partitions, groups, elsewhere, clock }
    }

    /// Writes a marker to one partition; gives what is to be waited for, unless it is committed at once.
    ///
    /// # Errors
    /// See [`MarkerFault`]; nothing was written.
    pub fn write(&self, topic: &str, index: i32, marker: Marker) -> Result<Option<Unsettled>, MarkerFault> {
        let partition = self.partitions.partition(topic, index).map_err(|error| match error {
            PartitionError::UnknownTopicOrPartition => MarkerFault::Unknown,
            _ => MarkerFault::NotLeader,
        })?;
        if marker.producer_id < 0 || marker.producer_epoch < 0 || marker.transaction_version < 0 {
            return Err(MarkerFault::OfNobody);
        }
        if topic == OFFSETS_TOPIC {
            return match self.groups.marker(index, marker) {
                Ok(written) => {
                    written?;
                    let last_offset = partition.log().end_offset().saturating_sub(1);
                    Ok(Unsettled::of(partition, last_offset))
                }
                Err(
                    Unavailable::NotHere
                    | Unavailable::Loading
                    | Unavailable::Lost
                    | Unavailable::ProducerFenced
                    | Unavailable::TransactionEnded,
                ) => Err(MarkerFault::NotLeader),
            };
        }
        let appended = append_marker(&partition, marker, self.clock.now())?;
        Ok(Unsettled::of(partition, appended.last_offset))
    }

    /// Writes a marker to every partition; gives those that must be tried again, and those that are not committed yet.
    pub(super) fn write_all(&self, partitions: &Wanted, marker: Marker) -> (Wanted, Vec<Unsettled>) {
        let (mut left, mut unsettled) = (Wanted::new(), Vec::new());
        for (topic, indexes) in partitions {
            for index in indexes {
                match self.write(topic, *index, marker) {
                    Ok(waits) => unsettled.extend(waits),
                    Err(MarkerFault::Unknown) => {}
                    Err(
                        fault @ (MarkerFault::ProducerFenced
                        | MarkerFault::CoordinatorFenced
                        | MarkerFault::OfNobody),
                    ) => {
                        let producer = marker.producer_id;
                        warn!(%topic, index, producer, "a marker will never be taken: {fault}");
                    }
                    Err(MarkerFault::NotLeader | MarkerFault::Failed(_)) => {
                        left.entry(topic.clone()).or_default().insert(*index);
                    }
                }
            }
        }
        (left, unsettled)
    }
}

/// A marker that is written and not committed yet.
pub struct Unsettled {
    partition: Arc<Partition>,
    offset: i64,
    /// The leader epoch it was written in: what a later leader commits at its offset may be something else.
    epoch: Option<i32>,
    waiter: Arc<Waiter>,
}

impl Unsettled {
    fn of(partition: Arc<Partition>, offset: i64) -> Option<Unsettled> {
        let epoch = partition.leader_epoch().ok();
        let waiter = partition.wait_committed(offset)?;
        Some(Unsettled { partition, offset, epoch, waiter })
    }

    /// Waits until it is committed; false if it may never be.
    pub async fn settles(&self) -> bool {
        std::future::poll_fn(|cx| self.waiter.poll(cx)).await;
        self.partition.high_watermark() > self.offset && self.partition.leader_epoch().ok() == self.epoch
    }

    /// Where it is.
    pub fn place(&self) -> (TopicName, i32) {
        let id = self.partition.id();
        (id.topic.clone(), id.partition)
    }
}

impl From<LogFault> for MarkerFault {
    fn from(fault: LogFault) -> MarkerFault {
        match fault {
            LogFault::NotLeader => MarkerFault::NotLeader,
            LogFault::ProducerFenced => MarkerFault::ProducerFenced,
            LogFault::CoordinatorFenced => MarkerFault::CoordinatorFenced,
            LogFault::Failed(_) | LogFault::Corrupt { .. } => MarkerFault::Failed(fault.to_string()),
        }
    }
}
