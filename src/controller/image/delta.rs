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
        let configs = image.configs.iter().flat_map(|(kind, by_name)| {
            by_name.keys().map(|name| ConfigResource { kind: *kind, name: name.clone() })
        });
        Delta {
            changed: image.topics().map(|topic| (topic.id, topic.clone())).collect(),
            removed: BTreeMap::new(),
            configs: configs.collect(),
            nodes: true,
            features: true,
        }
    }
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
