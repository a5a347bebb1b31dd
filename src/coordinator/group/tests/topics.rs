//! A cluster for stories: topics that come, grow and go.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::coordinator::group::view::{Cluster, Overrides, Topic};
use crate::ids::{TopicName, Uuid};

/// Topics by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Topics {
    pub(super) by_name: BTreeMap<TopicName, Topic>,
    pub(super) version: i64,
    pub(super) rack: Option<Arc<str>>,
    pub(super) overrides: Overrides,
}

impl Topics {
    /// A topic is new, or has so many partitions from now on.
    pub(super) fn set(&mut self, name: &str, partitions: i32) -> Uuid {
        self.version += 1;
        let mut id = [0; 16];
        for (to, from) in id.iter_mut().zip(name.bytes()) {
            *to = from;
        }
        id[15] = u8::try_from(self.version).unwrap();
        let id = self.by_name.get(name).map_or(Uuid(id), |topic| topic.id);
        self.by_name.insert(name.into(), Topic { id, name: name.into(), partitions });
        id
    }

    /// A topic is gone.
    pub(super) fn remove(&mut self, name: &str) {
        self.version += 1;
        self.by_name.remove(name);
    }
}

impl Cluster for Topics {
    fn topic(&self, name: &str) -> Option<Topic> {
        self.by_name.get(name).cloned()
    }

    fn topic_by_id(&self, id: Uuid) -> Option<Topic> {
        self.by_name.values().find(|topic| topic.id == id).cloned()
    }

    fn names(&self) -> Vec<TopicName> {
        self.by_name.keys().cloned().collect()
    }

    fn racks(&self, topic: Uuid) -> Vec<Vec<Arc<str>>> {
        let partitions = self.topic_by_id(topic).map_or(0, |topic| topic.partitions);
        (0..partitions).map(|_| self.rack.iter().cloned().collect()).collect()
    }

    fn version(&self) -> i64 {
        self.version
    }

    fn overrides(&self, _group: &str) -> Overrides {
        self.overrides
    }
}
