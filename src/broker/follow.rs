//! Who follows the metadata: the partitions' logs, then the coordinators that live on some of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::controller::{ControllerError, Delta, Image, Subscriber};
use crate::coordinator::{Groups, OFFSETS_TOPIC, PartitionLog, TRANSACTIONS_TOPIC, Transactions};
use crate::partition::Partitions;

/// See the module.
pub struct Follower {
    partitions: Arc<Partitions>,
    groups: Groups,
    transactions: Transactions,
    /// Epoch in which each partition of `__consumer_offsets` is led here.
    leading_groups: Mutex<BTreeMap<i32, i32>>,
    /// The same of `__transaction_state`.
    leading_transactions: Mutex<BTreeMap<i32, i32>>,
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
        transactions: Transactions,
        clock: Clock,
        failures: mpsc::UnboundedSender<String>,
        chosen: mpsc::UnboundedSender<()>,
    ) -> Arc<Follower> {
        Arc::new(Follower {
            partitions,
            groups,
            transactions,
            leading_groups: Mutex::default(),
            leading_transactions: Mutex::default(),
            clock,
            failures,
            chosen,
        })
    }

    /// Leads the shards of an internal topic, or lets them go, as the metadata says.
    fn follow_topic(
        &self,
        name: &str,
        leading: &Mutex<BTreeMap<i32, i32>>,
        lead: impl Fn(i32, PartitionLog),
        resign: impl Fn(i32),
    ) {
        let Some(topic) = self.partitions.topic(name) else { return };
        let mut leading = leading.lock();
        for partition in topic.partitions() {
            let index = partition.id().partition;
            match partition.leader_epoch() {
                Ok(epoch) if leading.get(&index) != Some(&epoch) => {
                    leading.insert(index, epoch);
                    lead(index, PartitionLog::new(partition, epoch, self.clock.clone()));
                }
                Ok(_) => {}
                Err(_) => {
                    if leading.remove(&index).is_some() {
                        resign(index);
                    }
                }
            }
        }
    }

    fn follow_internal_topics(&self, new: &Image, changed: &dyn Fn(&str) -> bool) {
        if let Some(topic) = new.topic(OFFSETS_TOPIC).filter(|_| changed(OFFSETS_TOPIC)) {
            self.groups.set_partitions(topic.partition_count());
            self.follow_topic(
                OFFSETS_TOPIC,
                &self.leading_groups,
                |index, log| self.groups.lead(index, Arc::new(log)),
                |index| self.groups.resign(index),
            );
        }
        // After the groups, where these write markers.
        if let Some(topic) = new.topic(TRANSACTIONS_TOPIC).filter(|_| changed(TRANSACTIONS_TOPIC)) {
            self.transactions.set_partitions(topic.partition_count());
            self.follow_topic(
                TRANSACTIONS_TOPIC,
                &self.leading_transactions,
                |index, log| self.transactions.lead(index, Arc::new(log)),
                |index| self.transactions.resign(index),
            );
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
        self.follow_internal_topics(new, &|name| delta.changed.values().any(|topic| &*topic.name == name));
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
