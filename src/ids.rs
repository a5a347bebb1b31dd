//! Names of things that several rooms speak of.

use std::fmt;
use std::sync::Arc;

pub use barnabas_protocol::Uuid;

/// A topic's name, shared by everything that refers to it.
pub type TopicName = Arc<str>;

/// A partition of a topic by name. The pair prints as Kafka's directory name, `topic-3`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicPartition {
    /// The topic's name.
    pub topic: TopicName,
    /// The partition's index, from 0.
    pub partition: i32,
}

impl TopicPartition {
    /// A topic and one of its partitions.
    pub fn new(topic: impl Into<TopicName>, partition: i32) -> TopicPartition {
        TopicPartition { topic: topic.into(), partition }
    }
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

impl fmt::Debug for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
