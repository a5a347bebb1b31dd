//! Brokers on simulated disks, networks and clocks: one thread, one seed, one trace.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking, and its numbers are small"
)]

#[path = "../support/mod.rs"]
mod support;

mod compaction;
mod lossy_transactions;
mod one_node;
mod replication;
mod slow;
mod transactions;
