//! Barnabas, a Kafka broker.
//!
//! ARCHITECTURE.md shows how a request flows through the rooms below.

pub mod broker;
pub mod broker_lifecycle;
pub mod cli;
pub mod clock;
pub mod config;
pub mod controller;
pub mod coordinator;
pub mod disk;
pub mod handlers;
pub mod ids;
pub mod limits;
pub mod logging;
pub mod net;
pub mod partition;
pub mod peer;
pub mod replication;
pub mod rng;
#[cfg(test)]
mod seeds;
pub mod server;
pub mod shutdown;
pub mod signals;
pub mod spawn;
pub mod storage;
