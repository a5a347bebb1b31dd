use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{ConfigResource, Image, ResourceKind, TopicImage};
use crate::ids::{TopicName, Uuid};

/// What became different between two images. A topic that was deleted and made anew under its name is in both lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Topics that are new or have new or changed partitions, as they are now.
    pub changed: BTreeMap<Uuid, Arc<TopicImage>>,
    /// Topics that are gone, as they were.
    pub removed: BTreeMap<Uuid, Arc<TopicImage>>,
    /// What was configured or is not any more.
    pub configs: BTreeSet<ConfigResource>,
    /// A broker's or controller's registration changed.
    pub nodes: bool,
    /// A feature level changed.
    pub features: bool,
}

impl Delta {
    /// True if nothing changed that anybody is told of.
    pub fn is_empty(&self) -> bool {
        *self == Delta::default()
    }

    /// Names of the topics whose configuration changed.
    pub fn topic_configs(&self) -> impl Iterator<Item = TopicName> {
        self.configs
            .iter()
            .filter(|resource| resource.kind == ResourceKind::Topic)
            .map(|resource| resource.name.clone())
    }

    /// Everything that is in an image: its difference from the empty one.
    pub fn everything(image: &Image) -> Delta {
        Delta {
            changed: image.topics().map(|topic| (topic.id, topic.clone())).collect(),
            removed: BTreeMap::new(),
            configs: configured(image).collect(),
            nodes: true,
            features: true,
        }
    }
}

/// Everything that something is configured for.
fn configured(image: &Image) -> impl Iterator<Item = ConfigResource> {
    image.configs.iter().flat_map(|(kind, by_name)| {
        by_name.keys().map(|name| ConfigResource { kind: *kind, name: name.clone() })
    })
}

/// What records have touched since the last image was published.
#[derive(Clone, Debug, Default)]
pub(in crate::controller) struct Changes {
    pub(in crate::controller) topics: BTreeSet<Uuid>,
    pub(in crate::controller) removed: BTreeMap<Uuid, Arc<TopicImage>>,
    pub(in crate::controller) configs: BTreeSet<ConfigResource>,
    pub(in crate::controller) nodes: bool,
    pub(in crate::controller) features: bool,
}

impl Changes {
    /// What is different, where the records that made it so are not known.
    pub(in crate::controller) fn between(old: &Image, new: &Image) -> Changes {
        let same = |topic: &Arc<TopicImage>, other: Option<&Arc<TopicImage>>| {
            other.is_some_and(|other| Arc::ptr_eq(topic, other) || topic == other)
        };
        let topics = new.topics().filter(|topic| !same(topic, old.topic_by_id(topic.id)));
        let removed = old.topics().filter(|topic| new.topic_by_id(topic.id).is_none());
        Changes {
            topics: topics.map(|topic| topic.id).collect(),
            removed: removed.map(|topic| (topic.id, topic.clone())).collect(),
            configs: configured(old).chain(configured(new)).collect(),
            nodes: true,
            features: true,
        }
    }

    /// Adds what changed after this.
    pub(in crate::controller) fn then(&mut self, later: Changes) {
        self.topics.extend(later.topics);
        for id in later.removed.keys() {
            self.topics.remove(id);
        }
        self.removed.extend(later.removed);
        self.configs.extend(later.configs);
        self.nodes |= later.nodes;
        self.features |= later.features;
    }

    /// The difference from `old`, the last image published, to `new`.
    pub(in crate::controller) fn delta(self, old: &Image, new: &Image) -> Delta {
        let changed = self.topics.iter().filter_map(|id| Some((*id, new.topic_by_id(*id)?.clone())));
        // What came and went between two images was never seen.
        let removed = self.removed.into_iter().filter(|(id, _)| old.topic_by_id(*id).is_some());
        Delta {
            changed: changed.collect(),
            removed: removed.collect(),
            configs: self.configs,
            nodes: self.nodes,
            features: self.features,
        }
    }
}
