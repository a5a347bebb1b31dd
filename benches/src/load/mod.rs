//! The load generator: requests encoded once, answers looked at only where their error code stands, one thread.
//!
//! It is meant to cost so little that the broker is what is measured.

pub mod batch;
pub mod caller;
pub mod drive;
pub mod group;
mod inbox;
pub mod keyed;
pub mod request;
pub mod topic;
pub mod transaction;
mod wire;

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::error::{Error, Result};

/// What one drive of a broker gave, seen from the client.
pub struct Outcome {
    /// Requests (or round trips) that were answered.
    pub requests: u64,
    /// Bytes of whole requests.
    pub sent: u64,
    /// Bytes of whole answers.
    pub received: u64,
    /// From the first byte sent to the last answer.
    pub elapsed: Duration,
    /// Time from the sending of a request to its complete answer, in ns.
    pub latency: Histogram<u64>,
}

/// A histogram of nanoseconds up to ten minutes, good to three digits.
pub fn latencies() -> Result<Histogram<u64>> {
    let histogram = Histogram::new_with_bounds(1, 600_000_000_000, 3);
    histogram.map_err(|error| Error::Setup(format!("a histogram: {error}")))
}

/// A span as histogram value.
pub fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
