//! Writing the ends of transactions: into partitions of data, and through the coordinator into those that have one, so
//! that offsets committed in the transaction count or are forgotten.

use std::sync::Arc;

use thiserror::Error;
use tracing::warn;

use super::groups::{Groups, OFFSETS_TOPIC};
use super::log::{LogFault, Marker};
use super::partition_log::append_marker;
use super::shard::Unavailable;
use super::transaction::Partitions as Wanted;
use crate::clock::Clock;
use crate::partition::{PartitionError, Partitions};

/// Why a marker was not written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MarkerFault {
    /// No such partition: there is nothing to end.
    #[error("no such topic or partition")]
    Unknown,
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
    clock: Clock,
}

impl Markers {
    /// See the module.
    pub fn new(partitions: Arc<Partitions>, groups: Groups, clock: Clock) -> Markers {
        Markers { partitions, groups, clock }
    }

    /// Writes a marker to one partition.
    ///
    /// # Errors
    /// See [`MarkerFault`]; nothing was written.
    pub fn write(&self, topic: &str, index: i32, marker: Marker) -> Result<(), MarkerFault> {
        let partition = self.partitions.partition(topic, index).map_err(|error| match error {
            PartitionError::UnknownTopicOrPartition => MarkerFault::Unknown,
            _ => MarkerFault::NotLeader,
        })?;
        if topic == OFFSETS_TOPIC {
            return match self.groups.marker(index, marker) {
                Ok(written) => written.map_err(MarkerFault::from),
                Err(
                    Unavailable::NotHere
                    | Unavailable::Loading
                    | Unavailable::Lost
                    | Unavailable::ProducerFenced
                    | Unavailable::TransactionEnded,
                ) => Err(MarkerFault::NotLeader),
            };
        }
        append_marker(&partition, marker, self.clock.now()).map(|_| ()).map_err(MarkerFault::from)
    }

    /// Writes a marker to every partition; gives those that must be tried again.
    pub(super) fn write_all(&self, partitions: &Wanted, marker: Marker) -> Wanted {
        let mut left = Wanted::new();
        for (topic, indexes) in partitions {
            for index in indexes {
                match self.write(topic, *index, marker) {
                    Ok(()) | Err(MarkerFault::Unknown) => {}
                    Err(fault @ (MarkerFault::ProducerFenced | MarkerFault::CoordinatorFenced)) => {
                        let producer = marker.producer_id;
                        warn!(%topic, index, producer, "a marker came too late: {fault}");
                    }
                    Err(MarkerFault::NotLeader | MarkerFault::Failed(_)) => {
                        left.entry(topic.clone()).or_default().insert(*index);
                    }
                }
            }
        }
        left
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
