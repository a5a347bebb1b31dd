//! Brokers on simulated disks, networks and clocks: one thread, one seed, one trace.

#[path = "../support/mod.rs"]
mod support;

mod compaction;
mod one_node;
mod slow;
