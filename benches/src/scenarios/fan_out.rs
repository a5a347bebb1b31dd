//! Many consumers wait at the end of one partition, a large batch comes, and all get it; cost by gigabyte sent out.

use std::time::Instant;

use super::{Run, Scenario};
use crate::case::{Case, Per, Stage};
use crate::error::Result;
use crate::limit::Via;
use crate::load::batch::{LARGE, batch};
use crate::load::caller::Caller;
use crate::load::request::{Fetching, fetch, produce};
use crate::load::{Outcome, latencies, nanos};
use crate::target::limit::Loop;

const CONSUMERS: usize = 50;

pub const SCENARIO: Scenario = Scenario {
    name: "fan-out",
    about: "50 consumers wait at the tail, a 250 KB batch comes; latency from its sending to the last arrival",
    run: Run::Compare(Case {
        name: "fan-out",
        partitions: 1,
        fill: None,
        requests: 400,
        per: Per::Gigabyte,
        limits: &[Loop { name: "sendfile to all", fetch_bytes: 250_000, via: Via::Sendfile, park: true }],
        drive: run,
    }),
};

fn run(stage: &Stage) -> Result<Outcome> {
    let batch = batch(LARGE);
    let mut produce = produce(stage.topic.id, 0, 1, &batch);
    let fetching = Fetching { offset: 0, max_bytes: 1 << 20, max_wait_ms: 5000 };
    let fetch = fetch(stage.topic.id, 0, fetching).walking(i64::from(LARGE.records), i64::MAX);
    let mut fetches = vec![fetch.at_least(250_000); CONSUMERS];
    let mut producer = Caller::connect(stage.addr)?;
    let mut consumers = Vec::new();
    for _ in 0..CONSUMERS {
        consumers.push(Caller::connect(stage.addr)?);
    }
    let mut latency = latencies()?;
    let (mut batches, mut received) = (0, 0);
    let start = Instant::now();
    while batches < stage.requests && !stage.is_over(start) {
        for (consumer, fetch) in consumers.iter_mut().zip(&mut fetches) {
            consumer.send(fetch)?;
        }
        let sent = Instant::now();
        producer.send(&mut produce)?;
        for (consumer, fetch) in consumers.iter_mut().zip(&fetches) {
            received += consumer.receive(fetch)?.len() as u64;
        }
        latency.saturating_record(nanos(sent.elapsed()));
        producer.receive(&produce)?;
        batches += 1;
    }
    let elapsed = start.elapsed();
    let sent = batches * produce.bytes.len() as u64;
    Ok(Outcome { requests: batches, sent, received, elapsed, latency })
}
