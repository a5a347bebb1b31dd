//! What the group machine may look at besides its own records: settings and the cluster's topics.

use std::fmt;
use std::sync::Arc;

use crate::ids::{TopicName, Uuid};

use super::GroupSettings;

/// Settings and metadata at one moment.
#[derive(Clone, Debug)]
pub struct View {
    /// The broker's settings.
    pub settings: Arc<GroupSettings>,
    /// The cluster as the metadata image shows it.
    pub cluster: Arc<dyn Cluster>,
}

/// The cluster's topics and what is configured for groups; one unchanging image.
pub trait Cluster: fmt::Debug + Send + Sync {
    /// A topic by its name.
    fn topic(&self, name: &str) -> Option<Topic>;

    /// A topic by its id.
    fn topic_by_id(&self, id: Uuid) -> Option<Topic>;

    /// All topics, in any order.
    fn names(&self) -> Vec<TopicName>;

    /// The racks of the replicas of each partition of a topic; a broker without a rack adds nothing.
    fn racks(&self, topic: Uuid) -> Vec<Vec<Arc<str>>>;

    /// Grows with every change of the metadata.
    fn version(&self) -> i64;

    /// What is configured for a group.
    fn overrides(&self, group: &str) -> Overrides;
}

/// A topic as far as groups care.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: TopicName,
    /// How many partitions it has.
    pub partitions: i32,
}

/// A group's own settings; none where the broker's hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `consumer.session.timeout.ms`.
    pub session_ms: Option<i32>,
    /// `consumer.heartbeat.interval.ms`.
    pub heartbeat_ms: Option<i32>,
    /// `consumer.assignment.interval.ms`.
    pub assignment_interval_ms: Option<i32>,
}

/// A cluster without topics: before the first image.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCluster;

impl Cluster for NoCluster {
    fn topic(&self, _name: &str) -> Option<Topic> {
        None
    }

    fn topic_by_id(&self, _id: Uuid) -> Option<Topic> {
        None
    }

    fn names(&self) -> Vec<TopicName> {
        Vec::new()
    }

    fn racks(&self, _topic: Uuid) -> Vec<Vec<Arc<str>>> {
        Vec::new()
    }

    fn version(&self) -> i64 {
        -1
    }

    fn overrides(&self, _group: &str) -> Overrides {
        Overrides::default()
    }
}
