//! Settings: Kafka's keys, what they mean here, and what each value may be.
//!
//! `definition` is the table of all keys. [`Properties`] is what was written, with its place; [`Config`] the
//! broker's settings as it started, typed and checked; [`TopicConfig`] one topic's. What was written, by key, is
//! kept as [`Written`] for DescribeConfigs.

mod alter;
pub mod broker;
mod check;
pub mod definition;
mod describe;
mod error;
mod listeners;
mod load;
mod older;
mod properties;
mod resolve;
pub mod topic;
mod values;

pub use alter::{Refused, check_broker, check_client_metrics, check_group, check_topic};
pub use broker::{Config, Listener, Protocol};
pub use describe::{Layers, Setting, Source, Synonym, describe_all_brokers, describe_client_metrics};
pub use error::{ConfigError, Problem};
pub use load::{Notes, development};
pub use properties::{Origin, Properties, ReadError};
pub use topic::{Compression, TopicConfig, TopicDefaults};
pub use values::Values;

/// Settings as they were written: key to value, in the order of the keys.
pub type Written = std::collections::BTreeMap<String, String>;
