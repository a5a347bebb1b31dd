//! Barnabas, a Kafka broker.
//!
//! ARCHITECTURE.md shows how a request flows through the rooms below.

pub mod clock;
pub mod coordinator;
pub mod config;
pub mod controller;
pub mod disk;
pub mod ids;
pub mod rng;
pub mod spawn;
