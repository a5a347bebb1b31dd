//! Who follows the metadata: the partitions' logs, then the coordinators that live on some of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::cluster::ImageCluster;
use crate::clock::Clock;
use crate::controller::{ControllerError, Delta, Image, Subscriber};
use crate::coordinator::{Groups, OFFSETS_TOPIC, PartitionLog, TRANSACTIONS_TOPIC, Transactions};
use crate::partition::{Partition, Partitions};
use crate::replication::Fetchers;

/// See the module.
pub struct Follower {
    partitions: Arc<Partitions>,
    fetchers: Arc<Fetchers>,
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
        fetchers: Arc<Fetchers>,
        groups: Groups,
        transactions: Transactions,
        clock: Clock,
        failures: mpsc::UnboundedSender<String>,
        chosen: mpsc::UnboundedSender<()>,
    ) -> Arc<Follower> {
        Arc::new(Follower {
            partitions,
            fetchers,
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
        let partitions = self.partitions.topic(name).map(|topic| topic.partitions()).unwrap_or_default();
        let led: BTreeMap<i32, (i32, Arc<Partition>)> = partitions
            .into_iter()
            .filter_map(|partition| {
                Some((partition.id().partition, (partition.leader_epoch().ok()?, partition)))
            })
            .collect();
        let mut leading = leading.lock();
        leading.retain(|index, _| {
            let stays = led.contains_key(index);
            if !stays {
                resign(*index);
            }
            stays
        });
        for (index, (epoch, partition)) in led {
            if leading.insert(index, epoch) != Some(epoch) {
                lead(index, PartitionLog::new(partition, epoch, self.clock.clone()));
            }
        }
    }

    fn follow_internal_topics(&self, new: &Image, touched: &dyn Fn(&str) -> bool) {
        if touched(OFFSETS_TOPIC) {
            if let Some(topic) = new.topic(OFFSETS_TOPIC) {
                self.groups.set_partitions(topic.partition_count());
            }
            self.follow_topic(
                OFFSETS_TOPIC,
                &self.leading_groups,
                |index, log| self.groups.lead(index, Arc::new(log)),
                |index| self.groups.resign(index),
            );
        }
        // After the groups, where these write markers.
        if touched(TRANSACTIONS_TOPIC) {
            if let Some(topic) = new.topic(TRANSACTIONS_TOPIC) {
                self.transactions.set_partitions(topic.partition_count());
            }
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
    fn changed(&self, old: &Image, new: &Arc<Image>, delta: &Delta) {
        self.partitions.apply(new, delta);
        self.fetchers.apply(new, delta);
        if !delta.changed.is_empty() {
            // Nobody listens only while the broker stops.
            let _stopping = self.chosen.send(());
        }
        self.groups.set_cluster(Arc::new(ImageCluster(new.clone())));
        let touched = |name: &str| {
            delta.changed.values().chain(delta.removed.values()).any(|topic| &*topic.name == name)
        };
        self.follow_internal_topics(new, &touched);
        let changed = delta.changed.values().chain(delta.removed.values());
        let changed: Arc<[_]> = changed.map(|topic| topic.name.clone()).collect();
        if !changed.is_empty() {
            let new = delta.changed.keys().any(|id| old.topic_by_id(*id).is_none());
            self.groups.topics_changed(&changed, new);
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
