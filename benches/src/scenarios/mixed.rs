//! As much in as out for two minutes, while retention removes old segments behind.

use std::time::{Duration, Instant};

use super::{Run, Scenario};
use crate::bench::Bench;
use crate::case::{Case, Extras, Per, Stage};
use crate::error::Result;
use crate::load::batch::{LARGE, batch};
use crate::load::caller::Caller;
use crate::load::request::{Fetching, fetch, produce};
use crate::load::{Outcome, latencies, nanos};
use crate::measure::{self, Load, Measured, as_f64};
use crate::table::Row;
use crate::target::Side;

pub const SCENARIO: Scenario = Scenario {
    name: "mixed",
    about: "40 times a second 1 MB in four batches and the same out by four fetches, for two minutes; 256 MB are retained",
    run: Run::Own(run),
};

const PER_SECOND: f64 = 40.0;
const BATCHES: u64 = 4;
const TURNS: u64 = 120 * 40;
const CONFIGS: &[(&str, &str)] = &[("retention.bytes", "268435456"), ("segment.bytes", "67108864")];

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    let case = Case {
        name: "mixed",
        partitions: 1,
        fill: None,
        requests: TURNS,
        per: Per::Gigabyte,
        limits: &[],
        drive: turns,
    };
    let extras = Extras { configs: CONFIGS, ..Extras::NONE };
    let load = Load { case: &case, extras: &extras, drive: case.drive, per_second: PER_SECOND };
    let (mut kafka, mut barnabas) = (None, None);
    for side in bench.brokers() {
        let warm = Case { requests: TURNS / 8, ..case };
        measure::broker(bench, side, &Load { case: &warm, ..load })?;
        let measured = measure::broker(bench, side, &load)?;
        *(if side == Side::Kafka { &mut kafka } else { &mut barnabas }) = Some(measured);
    }
    let row = |figure, unit, of: &dyn Fn(&Measured) -> f64| {
        Row::of("mixed", figure, unit, &[kafka.as_ref().map(of)], &[barnabas.as_ref().map(of)], &[])
    };
    Ok(vec![
        row("broker CPU", "s/GB in", &|measured| measured.cost(Per::Gigabyte)),
        row("p50 of a turn", "ms", &|measured| measured.latency_ms(0.5)),
        row("p99 of a turn", "ms", &|measured| measured.latency_ms(0.99)),
        row("p99.9 of a turn", "ms", &|measured| measured.latency_ms(0.999)),
        row("memory after", "MB", &|measured| as_f64(measured.resident) / 1e6),
    ])
}

fn turns(stage: &Stage) -> Result<Outcome> {
    let batch = batch(LARGE);
    let mut produce = produce(stage.topic.id, 0, 1, &batch);
    // A batch at a time: an answer ends where a segment does.
    let fetching = Fetching { offset: 0, max_bytes: 250_000, max_wait_ms: 500 };
    let mut fetch =
        fetch(stage.topic.id, 0, fetching).walking(i64::from(LARGE.records), i64::MAX).at_least(250_000);
    let mut producer = Caller::connect(stage.addr)?;
    let mut consumer = Caller::connect(stage.addr)?;
    let mut latency = latencies()?;
    let (mut sent, mut received, start) = (0, 0, Instant::now());
    for turn in 0..stage.requests {
        let due = start + Duration::from_secs_f64(as_f64(turn) / stage.per_second);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        for _ in 0..BATCHES {
            producer.send(&mut produce)?;
            sent += produce.bytes.len() as u64;
        }
        for _ in 0..BATCHES {
            producer.receive(&produce)?;
        }
        for _ in 0..BATCHES {
            consumer.send(&mut fetch)?;
        }
        for _ in 0..BATCHES {
            received += consumer.receive(&fetch)?.len() as u64;
        }
        latency.saturating_record(nanos(due.elapsed()));
    }
    Ok(Outcome { requests: stage.requests, sent, received, elapsed: start.elapsed(), latency })
}
