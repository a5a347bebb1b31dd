//! Raw bytes in, raw bytes out, against a broker on a port of its own.

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod order;
mod records;
