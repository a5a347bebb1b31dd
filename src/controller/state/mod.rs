//! What requests mean, and what records change. Pure: no clock, no IO, no randomness.
//!
//! Each file holds one kind of thing: its verbs decide (`image + request → records + reply`), its `replay_…`
//! functions are the only code that changes an image. [`apply`] is the way in for every record, live and at start.

pub mod activation;
pub mod alter_partition;
pub mod brokers;
pub mod configs;
pub mod directories;
pub mod elections;
pub mod features;
mod kept;
pub mod names;
pub mod partition_change;
pub mod partitions;
pub mod producer_ids;
pub mod reassignments;
pub mod registration;
mod replay;
pub mod sessions;
pub mod topics;

#[cfg(test)]
pub(crate) mod story;

use barnabas_protocol::error::ErrorCode;

use super::image::{ConfigResource, Image, Overrides, ResourceKind};
use super::record::Record;

pub(in crate::controller) use kept::KeptKey;
pub use replay::{Hard, ReplayError, apply, to_records};

/// What a verb decided: the records become one atomic batch, the reply leaves when they are committed.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<R> {
    /// What changes.
    pub records: Vec<Record>,
    /// What is answered.
    pub reply: R,
}

impl<R> Decision<R> {
    /// Nothing changes.
    pub fn only(reply: R) -> Decision<R> {
        Decision { records: Vec::new(), reply }
    }
}

/// What decisions look at besides the image.
pub struct View<'a> {
    /// `num.partitions`.
    pub num_partitions: i32,
    /// `default.replication.factor`.
    pub default_replication_factor: i16,
    /// `min.insync.replicas` of a topic that nobody configured.
    pub min_insync_replicas: usize,
    /// `unclean.leader.election.enable` of a topic that nobody configured.
    pub unclean_leader_election: bool,
    /// What the settings' names and values mean.
    pub rules: &'a dyn ConfigRules,
}

/// Why something was refused, as the client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Kafka's code.
    pub code: ErrorCode,
    /// Kafka's words, where it has some.
    pub message: Option<String>,
}

impl Refusal {
    /// A code with words.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Refusal {
        Refusal { code, message: Some(message.into()) }
    }

    /// A code without words.
    pub fn bare(code: ErrorCode) -> Refusal {
        Refusal { code, message: None }
    }
}

/// What the settings room knows and decisions about configs need.
pub trait ConfigRules: Send + Sync {
    /// Checks a resource's overrides as they would be after a change; `before` is what they are.
    ///
    /// # Errors
    /// What Kafka says of the first setting that is wrong.
    fn check(&self, resource: &ConfigResource, before: &Overrides, after: &Overrides) -> Result<(), Refusal>;

    /// True if a setting's value is a list, which can be appended to.
    fn is_list(&self, kind: ResourceKind, name: &str) -> bool;

    /// A setting's value where nothing is configured; `None` for unknown settings.
    fn default_value(&self, kind: ResourceKind, name: &str) -> Option<String>;

    /// Every setting of a topic with these overrides, sorted by name, as CreateTopics answers it.
    fn describe_topic(&self, image: &Image, overrides: &Overrides) -> Vec<TopicSetting>;
}

/// One setting of a topic, as CreateTopics answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSetting {
    /// Its name.
    pub name: String,
    /// Its value; none if it is secret.
    pub value: Option<String>,
    /// It cannot be changed.
    pub read_only: bool,
    /// Where the value comes from: 1 topic, 2 broker, 3 all brokers, 4 file, 5 default.
    pub source: i8,
    /// It is secret.
    pub sensitive: bool,
}
