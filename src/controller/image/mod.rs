//! The metadata image: what the records of the metadata log add up to.
//!
//! Persistent maps of shared topics: a copy costs a few counters, a change copies the path to what changed.

mod broker;
mod configs;
mod delta;
mod hash;
mod topic;

use std::ops::Bound;
use std::sync::Arc;

use rpds::{HashTrieMapSync, RedBlackTreeMapSync, RedBlackTreeSetSync};

pub use broker::{BrokerImage, ControllerImage, Endpoint, FeatureRange};
pub use configs::{ConfigResource, Overrides, ResourceKind};
pub(in crate::controller) use delta::Changes;
pub use delta::Delta;
pub use hash::SeededHash;
pub use topic::{NO_LEADER, PartitionImage, TopicImage};

use super::record::Record;
use super::state::KeptKey;
use crate::ids::{TopicName, Uuid};

/// Cluster metadata at one offset of the metadata log. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub(in crate::controller) cluster_id: Arc<str>,
    pub(in crate::controller) offset: i64,
    pub(in crate::controller) epoch: i32,
    pub(in crate::controller) timestamp_ms: i64,
    pub(in crate::controller) features: RedBlackTreeMapSync<Arc<str>, i16>,
    pub(in crate::controller) brokers: RedBlackTreeMapSync<i32, Arc<BrokerImage>>,
    pub(in crate::controller) controllers: RedBlackTreeMapSync<i32, Arc<ControllerImage>>,
    pub(in crate::controller) names: RedBlackTreeSetSync<TopicName>,
    /// Names by what they are as metrics, where that is not only themselves.
    pub(in crate::controller) blurred: HashTrieMapSync<Arc<str>, TopicName, SeededHash>,
    pub(in crate::controller) by_name: HashTrieMapSync<TopicName, Uuid, SeededHash>,
    pub(in crate::controller) by_id: HashTrieMapSync<Uuid, Arc<TopicImage>, SeededHash>,
    pub(in crate::controller) configs:
        RedBlackTreeMapSync<ResourceKind, RedBlackTreeMapSync<Arc<str>, Arc<Overrides>>>,
    pub(in crate::controller) next_producer_id: i64,
    pub(in crate::controller) kept: RedBlackTreeMapSync<KeptKey, Arc<Record>>,
}

impl Image {
    /// The image of an empty log. `hash_seed` is drawn at random, so that nobody can choose colliding names.
    pub fn empty(cluster_id: &str, hash_seed: u64) -> Image {
        let hash = SeededHash(hash_seed);
        Image {
            cluster_id: cluster_id.into(),
            offset: -1,
            epoch: 0,
            timestamp_ms: 0,
            features: RedBlackTreeMapSync::new_sync(),
            brokers: RedBlackTreeMapSync::new_sync(),
            controllers: RedBlackTreeMapSync::new_sync(),
            names: RedBlackTreeSetSync::new_sync(),
            blurred: HashTrieMapSync::new_with_hasher_and_ptr_kind(hash),
            by_name: HashTrieMapSync::new_with_hasher_and_ptr_kind(hash),
            by_id: HashTrieMapSync::new_with_hasher_and_ptr_kind(hash),
            configs: RedBlackTreeMapSync::new_sync(),
            next_producer_id: 0,
            kept: RedBlackTreeMapSync::new_sync(),
        }
    }

    /// The cluster's id, 22 characters of base64 unless somebody chose another text.
    pub fn cluster_id(&self) -> &str {
        &self.cluster_id
    }

    /// Offset of the last record in this image; -1 for the empty log.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Leader epoch of that record.
    pub fn epoch(&self) -> i32 {
        self.epoch
    }

    /// Append time of the batch of that record, ms since 1970.
    pub fn timestamp_ms(&self) -> i64 {
        self.timestamp_ms
    }

    /// Finalized feature levels by name, in the order of their names.
    pub fn features(&self) -> impl Iterator<Item = (&str, i16)> {
        self.features.iter().map(|(name, level)| (&**name, *level))
    }

    /// A feature's finalized level; 0 if it is not set.
    pub fn feature(&self, name: &str) -> i16 {
        self.features.get(name).copied().unwrap_or_default()
    }

    /// A topic by its name.
    pub fn topic(&self, name: &str) -> Option<&Arc<TopicImage>> {
        self.by_id.get(self.by_name.get(name)?)
    }

    /// A topic by its id.
    pub fn topic_by_id(&self, id: Uuid) -> Option<&Arc<TopicImage>> {
        self.by_id.get(&id)
    }

    /// Every topic, in the order of the names.
    pub fn topics(&self) -> impl Iterator<Item = &Arc<TopicImage>> {
        self.names.iter().filter_map(|name| self.topic(name))
    }

    /// Topics whose name is `first` or greater, in the order of the names.
    pub fn topics_from<'a>(&'a self, first: &'a str) -> impl Iterator<Item = &'a Arc<TopicImage>> {
        self.names
            .range::<str, _>((Bound::Included(first), Bound::Unbounded))
            .filter_map(|name| self.topic(name))
    }

    /// How many topics there are.
    pub fn topic_count(&self) -> usize {
        self.by_id.size()
    }

    /// A registered broker.
    pub fn broker(&self, id: i32) -> Option<&Arc<BrokerImage>> {
        self.brokers.get(&id)
    }

    /// Registered brokers, in the order of their ids.
    pub fn brokers(&self) -> impl Iterator<Item = &Arc<BrokerImage>> {
        self.brokers.values()
    }

    /// Registered controllers, in the order of their ids.
    pub fn controllers(&self) -> impl Iterator<Item = &Arc<ControllerImage>> {
        self.controllers.values()
    }

    /// What was configured for a resource; defaults and the configuration file are not in it.
    pub fn overrides(&self, kind: ResourceKind, name: &str) -> &Overrides {
        self.configs
            .get(&kind)
            .and_then(|by_name| by_name.get(name))
            .map_or(configs::none(), |overrides| overrides)
    }

    /// What was configured for a topic.
    pub fn topic_config(&self, topic: &str) -> &Overrides {
        self.overrides(ResourceKind::Topic, topic)
    }

    /// What was configured dynamically for one broker.
    pub fn broker_config(&self, broker: i32) -> &Overrides {
        self.overrides(ResourceKind::Broker, &broker.to_string())
    }

    /// What was configured dynamically for all brokers ("cluster-wide default").
    pub fn cluster_config(&self) -> &Overrides {
        self.overrides(ResourceKind::Broker, "")
    }

    /// What was configured for a group.
    pub fn group_config(&self, group: &str) -> &Overrides {
        self.overrides(ResourceKind::Group, group)
    }

    /// Every resource of a kind that something was configured for, in the order of the names.
    pub fn configured(&self, kind: ResourceKind) -> impl Iterator<Item = (&str, &Overrides)> {
        let by_name = self.configs.get(&kind).into_iter();
        by_name.flat_map(|by_name| by_name.iter()).map(|(name, overrides)| (&**name, &**overrides))
    }

    /// The first id of the next block of producer ids.
    pub fn next_producer_id(&self) -> i64 {
        self.next_producer_id
    }
}
