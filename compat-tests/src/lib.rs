//! Stock clients and the official tools against a running broker.
//!
//! The nouns: a [`Broker`] is a process with a data directory that a test starts, kills and starts again; by default it
//! is Barnabas, with `COMPAT_BROKER=reference` it is Apache Kafka. A [`Suite`] may be left out by name, and says what it
//! needs of the machine. A [`Cluster`] is three brokers that are one.

pub mod broker;
pub mod cluster;
pub mod suite;
pub mod wire;

pub use broker::{Broker, Product};
pub use cluster::Cluster;
pub use suite::Suite;
pub use wire::Wire;
