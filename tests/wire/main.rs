//! Raw bytes in, raw bytes out, against a broker on a port of its own.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking, and its numbers are small"
)]

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod cluster;
mod consumer_groups;
mod controller_listener;
mod internal_topics;
mod metadata_log;
mod order;
mod quorum;
mod records;
mod repeats;
mod senseless;
mod transactions;
mod unpacking;
