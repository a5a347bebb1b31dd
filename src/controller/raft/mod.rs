//! The metadata log of several controllers: openraft decides what is committed, our files keep it.
//!
//! *Entry*: one batch of Kafka's, counted by openraft from the founding entry (0) on, which says who votes and is not in
//! the files. A leader's first entry is a LeaderChange batch, a change of voters a Voters batch. *Term*: leader epoch.
//! *Vote*: `quorum-state`. All voters have the same bytes.

mod index;
mod log_store;
mod network;
mod open;
mod quorum_log;
mod runtime;
mod state_machine;
mod types;

pub use network::Reach;
pub use open::{Opened, Seats, open, seats};
pub use quorum_log::{QuorumLog, Setup};
pub use runtime::Runtime;

#[cfg(test)]
mod conformance_test;
#[cfg(test)]
mod simulation_test;
