//! Every partition that this broker has, by topic name and by topic id.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::RwLock;

use super::{Partition, PartitionError};
use crate::config::TopicConfig;
use crate::ids::{TopicName, Uuid};

/// A topic of which this broker has partitions.
#[derive(Debug)]
pub struct Topic {
    /// Its name.
    pub name: TopicName,
    /// Its id.
    pub id: Uuid,
    config: ArcSwap<TopicConfig>,
    partitions: RwLock<BTreeMap<i32, Arc<Partition>>>,
    /// Those whose log is in a directory that does not work.
    offline: RwLock<BTreeSet<i32>>,
}

impl Topic {
    /// A topic without partitions yet.
    pub(super) fn new(name: TopicName, id: Uuid, config: Arc<TopicConfig>) -> Arc<Topic> {
        Arc::new(Topic {
            name,
            id,
            config: ArcSwap::new(config),
            partitions: RwLock::default(),
            offline: RwLock::default(),
        })
    }

    /// Its settings now.
    pub fn config(&self) -> arc_swap::Guard<Arc<TopicConfig>> {
        self.config.load()
    }

    pub(super) fn set_config(&self, config: Arc<TopicConfig>) {
        self.config.store(config);
    }

    /// One of its partitions here.
    pub fn partition(&self, index: i32) -> Option<Arc<Partition>> {
        self.partitions.read().get(&index).cloned()
    }

    /// One of its partitions here.
    ///
    /// # Errors
    /// There is none, or its directory does not work.
    pub fn find(&self, index: i32) -> Result<Arc<Partition>, PartitionError> {
        self.partition(index).ok_or_else(|| match self.offline.read().contains(&index) {
            true => PartitionError::Offline,
            false => PartitionError::UnknownTopicOrPartition,
        })
    }

    /// The log of a partition cannot be opened; false if that was known.
    pub(super) fn set_offline(&self, index: i32) -> bool {
        self.offline.write().insert(index)
    }

    /// All of its partitions here, by index.
    pub fn partitions(&self) -> Vec<Arc<Partition>> {
        self.partitions.read().values().cloned().collect()
    }

    pub(super) fn insert(&self, partition: Arc<Partition>) {
        self.partitions.write().insert(partition.id().partition, partition);
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Table {
    topics: RwLock<Topics>,
}

#[derive(Debug, Default)]
struct Topics {
    by_name: HashMap<TopicName, Arc<Topic>>,
    by_id: HashMap<Uuid, Arc<Topic>>,
}

impl Table {
    /// A topic by name.
    pub fn topic(&self, name: &str) -> Option<Arc<Topic>> {
        self.topics.read().by_name.get(name).cloned()
    }

    /// A topic by id.
    pub fn topic_by_id(&self, id: Uuid) -> Option<Arc<Topic>> {
        self.topics.read().by_id.get(&id).cloned()
    }

    /// A partition by name and index.
    ///
    /// # Errors
    /// This broker has no such partition.
    pub fn partition(&self, topic: &str, index: i32) -> Result<Arc<Partition>, PartitionError> {
        let topic = self.topic(topic).ok_or(PartitionError::UnknownTopicOrPartition)?;
        topic.find(index)
    }

    /// All topics, by name.
    pub fn topics(&self) -> Vec<Arc<Topic>> {
        let mut topics: Vec<Arc<Topic>> = self.topics.read().by_name.values().cloned().collect();
        topics.sort_by(|a, b| a.name.cmp(&b.name));
        topics
    }

    /// All partitions, by topic name and index.
    pub fn partitions(&self) -> Vec<Arc<Partition>> {
        self.topics().iter().flat_map(|topic| topic.partitions()).collect()
    }

    pub(super) fn insert(&self, topic: Arc<Topic>) {
        let mut topics = self.topics.write();
        topics.by_id.insert(topic.id, topic.clone());
        topics.by_name.insert(topic.name.clone(), topic);
    }

    pub(super) fn remove(&self, id: Uuid) -> Option<Arc<Topic>> {
        let mut topics = self.topics.write();
        let topic = topics.by_id.remove(&id)?;
        // A topic that was deleted and made again has another id under the same name.
        if topics.by_name.get(&topic.name).is_some_and(|named| named.id == id) {
            topics.by_name.remove(&topic.name);
        }
        Some(topic)
    }
}
