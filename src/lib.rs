//! Barnabas, a Kafka broker.
//!
//! ARCHITECTURE.md shows how a request flows through the rooms below.

pub mod clock;
pub mod config;
pub mod controller;
pub mod coordinator;
pub mod disk;
pub mod ids;
pub mod rng;
pub mod spawn;
pub mod storage;
