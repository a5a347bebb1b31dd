//! Produce one record, wait for the answer, fetch the record: one connection, one thing at a time.

use std::time::Instant;

use super::{Run, Scenario};
use crate::case::{Case, Per, Stage};
use crate::error::Result;
use crate::limit::Via;
use crate::load::batch::{SMALL, batch};
use crate::load::caller::Caller;
use crate::load::request::{Fetching, fetch, produce};
use crate::load::{Outcome, latencies, nanos};
use crate::target::limit::Loop;

pub const SCENARIO: Scenario = Scenario {
    name: "round-trip",
    about: "produce one 100-byte record, then fetch it, one connection; p50 and the like are of both together",
    run: Run::Compare(Case {
        name: "round-trip",
        partitions: 1,
        fill: None,
        requests: 30_000,
        per: Per::Request("trip"),
        limits: &[Loop { name: "write, then pread + send", fetch_bytes: 171, via: Via::Pread, park: false }],
        drive: run,
    }),
};

fn run(stage: &Stage) -> Result<Outcome> {
    let batch = batch(SMALL);
    let mut produce = produce(stage.topic.id, 0, 1, &batch);
    let fetching = Fetching { offset: 0, max_bytes: 1 << 20, max_wait_ms: 500 };
    let mut fetch = fetch(stage.topic.id, 0, fetching).walking(1, i64::MAX).at_least(batch.len());
    let mut caller = Caller::connect(stage.addr)?;
    let mut latency = latencies()?;
    let start = Instant::now();
    let mut trips = 0;
    while trips < stage.requests && !stage.is_over(start) {
        let sent = Instant::now();
        caller.call(&mut produce)?;
        caller.call(&mut fetch)?;
        latency.saturating_record(nanos(sent.elapsed()));
        trips += 1;
    }
    let elapsed = start.elapsed();
    let bytes = trips.saturating_mul(batch.len() as u64);
    Ok(Outcome { requests: trips, sent: bytes, received: bytes, elapsed, latency })
}
