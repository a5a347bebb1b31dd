use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{ConfigResource, TopicImage};
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
    /// A broker's registration changed.
    pub brokers: bool,
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
            .filter(|resource| resource.kind == super::ResourceKind::Topic)
            .map(|resource| resource.name.clone())
    }
}
