//! Who follows the metadata: the partitions' logs, then the coordinators that live on some of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::controller::{ControllerError, Delta, Image, Subscriber};
use crate::coordinator::{Groups, OFFSETS_TOPIC, PartitionLog};
use crate::partition::Partitions;

/// See the module.
pub struct Follower {
    partitions: Arc<Partitions>,
    groups: Groups,
    /// Epoch in which each partition of `__consumer_offsets` is led here.
    leading: Mutex<BTreeMap<i32, i32>>,
    clock: Clock,
    failures: mpsc::UnboundedSender<String>,
    /// Rings when directories may have been chosen.
    chosen: mpsc::UnboundedSender<()>,
}

impl Follower {
    /// A follower that knows of nothing yet; the end of the metadata log is told to `failures`.
    pub fn new(
        partitions: Arc<Partitions>,
        groups: Groups,
        clock: Clock,
        failures: mpsc::UnboundedSender<String>,
        chosen: mpsc::UnboundedSender<()>,
    ) -> Arc<Follower> {
        Arc::new(Follower { partitions, groups, leading: Mutex::default(), clock, failures, chosen })
    }

    fn follow_offsets_topic(&self) {
        let Some(topic) = self.partitions.topic(OFFSETS_TOPIC) else { return };
        let mut leading = self.leading.lock();
        for partition in topic.partitions() {
            let index = partition.id().partition;
            match partition.leader_epoch() {
                Ok(epoch) if leading.get(&index) != Some(&epoch) => {
                    leading.insert(index, epoch);
                    self.groups.lead(index, Arc::new(PartitionLog::new(partition, self.clock.clone())));
                }
                Ok(_) => {}
                Err(_) => {
                    if leading.remove(&index).is_some() {
                        self.groups.resign(index);
                    }
                }
            }
        }
    }
}

impl Subscriber for Follower {
    fn changed(&self, _old: &Image, new: &Arc<Image>, delta: &Delta) {
        self.partitions.apply(new, delta);
        if !delta.changed.is_empty() {
            // Nobody listens only while the broker stops.
            let _stopping = self.chosen.send(());
        }
        if delta.changed.values().any(|topic| &*topic.name == OFFSETS_TOPIC) {
            self.follow_offsets_topic();
        }
        if let Some(topic) = new.topic(OFFSETS_TOPIC) {
            self.groups.set_partitions(topic.partition_count());
        }
        let removed: Vec<_> = delta.removed.values().map(|topic| topic.name.clone()).collect();
        if !removed.is_empty() {
            self.groups.topics_deleted(&removed);
        }
    }

    fn failed(&self, error: &ControllerError) {
        // Nobody listens only while the broker stops.
        let _stopping = self.failures.send(format!("the metadata log failed: {error}"));
    }
}
