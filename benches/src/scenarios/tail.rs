//! A consumer waits at the end of the log (long poll) while a producer on another connection writes one record.

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
    name: "tail",
    about: "a fetch waits at the end of the log, a 100-byte record comes; latency from its sending to its arrival",
    run: Run::Compare(Case {
        name: "tail",
        partitions: 1,
        fill: None,
        requests: 30_000,
        per: Per::Request("trip"),
        limits: &[Loop { name: "write, wake, pread + send", fetch_bytes: 171, via: Via::Pread, park: true }],
        drive: run,
    }),
};

fn run(stage: &Stage) -> Result<Outcome> {
    let batch = batch(SMALL);
    let mut produce = produce(stage.topic.id, 0, 1, &batch);
    let fetching = Fetching { offset: 0, max_bytes: 1 << 20, max_wait_ms: 5000 };
    let mut fetch = fetch(stage.topic.id, 0, fetching).walking(1, i64::MAX).at_least(batch.len());
    let mut producer = Caller::connect(stage.addr)?;
    let mut consumer = Caller::connect(stage.addr)?;
    let mut latency = latencies()?;
    let start = Instant::now();
    let mut trips = 0;
    while trips < stage.requests && !stage.is_over(start) {
        consumer.send(&mut fetch)?;
        let sent = Instant::now();
        producer.send(&mut produce)?;
        consumer.receive(&fetch)?;
        latency.saturating_record(nanos(sent.elapsed()));
        producer.receive(&produce)?;
        trips += 1;
    }
    let elapsed = start.elapsed();
    let bytes = trips.saturating_mul(batch.len() as u64);
    Ok(Outcome { requests: trips, sent: bytes, received: bytes, elapsed, latency })
}
