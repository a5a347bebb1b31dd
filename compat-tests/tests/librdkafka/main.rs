//! Applications on librdkafka against a running broker.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

mod admin;
mod app;
mod groups;
mod positions;
mod produce;
mod transactions;
