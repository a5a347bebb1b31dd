use std::sync::Arc;

use super::super::internal_topics;
use crate::ids::{TopicName, Uuid};

/// The leader of a partition that has none.
pub const NO_LEADER: i32 = -1;

/// A topic and its partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicImage {
    /// Its id: another topic of the same name later has another one.
    pub id: Uuid,
    /// Its name.
    pub name: TopicName,
    /// In the order of their indexes, which have no gaps once a batch of records is applied.
    pub(in crate::controller) partitions: Vec<Arc<PartitionImage>>,
}

/// One partition as the cluster sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionImage {
    /// Its number in the topic, from 0.
    pub index: i32,
    /// The broker that leads it, or [`NO_LEADER`].
    pub leader: i32,
    /// Grows with every new leader.
    pub leader_epoch: i32,
    /// Grows with every change of the partition.
    pub partition_epoch: i32,
    /// The leader came from outside the ISR and is still recovering.
    pub recovering: bool,
    /// Brokers that hold it, the preferred leader first.
    pub replicas: Vec<i32>,
    /// Replicas in sync.
    pub isr: Vec<i32>,
    /// Eligible leaders: not in sync, but they miss nothing that was committed (KIP-966).
    pub elr: Vec<i32>,
    /// The last known leader, where ISR and ELR are empty (KIP-966).
    pub last_known_elr: Vec<i32>,
    /// Replicas on their way in.
    pub adding: Vec<i32>,
    /// Replicas on their way out.
    pub removing: Vec<i32>,
    /// The log directory of each replica, in the order of `replicas`.
    pub directories: Vec<Uuid>,
}

impl PartitionImage {
    /// The directory that holds the replica of a broker.
    pub fn directory_of(&self, broker: i32) -> Option<Uuid> {
        let at = self.replicas.iter().position(|replica| *replica == broker)?;
        self.directories.get(at).copied()
    }
}

impl TopicImage {
    /// A topic without partitions yet.
    pub(in crate::controller) fn new(id: Uuid, name: TopicName) -> TopicImage {
        TopicImage { id, name, partitions: Vec::new() }
    }

    /// A partition by its index.
    pub fn partition(&self, index: i32) -> Option<&Arc<PartitionImage>> {
        let at = usize::try_from(index).ok()?;
        match self.partitions.get(at) {
            Some(partition) if partition.index == index => Some(partition),
            // Only between the records of one batch may an index be missing.
            _ => self.partitions.iter().find(|partition| partition.index == index),
        }
    }

    /// All partitions, from index 0.
    pub fn partitions(&self) -> &[Arc<PartitionImage>] {
        &self.partitions
    }

    /// How many partitions it has.
    pub fn partition_count(&self) -> i32 {
        i32::try_from(self.partitions.len()).unwrap_or(i32::MAX)
    }

    /// Topics that the broker itself writes; clients are told so.
    pub fn is_internal(&self) -> bool {
        internal_topics::is_internal(&self.name)
    }

    /// Takes in a partition, new or changed.
    pub(in crate::controller) fn put(&mut self, partition: PartitionImage) {
        let at = self.partitions.partition_point(|other| other.index < partition.index);
        match self.partitions.get_mut(at) {
            Some(old) if old.index == partition.index => *old = Arc::new(partition),
            _ => self.partitions.insert(at, Arc::new(partition)),
        }
    }
}
