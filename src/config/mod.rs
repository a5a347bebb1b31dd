//! Settings: Kafka's keys, what they mean here, and what each value may be.
//!
//! `definition` is the table of all keys. A [`Config`] is the broker's settings as it started, typed; a
//! [`TopicConfig`] one topic's. What was written, by key, is kept as [`Written`] for DescribeConfigs.

pub mod broker;
pub mod definition;
pub mod topic;

pub use broker::{Config, Listener, Protocol};
pub use topic::{Compression, TopicConfig};

/// Settings as they were written: key to value, in the order of the keys.
pub type Written = std::collections::BTreeMap<String, String>;
