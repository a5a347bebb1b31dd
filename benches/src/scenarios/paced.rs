//! Latency at half load: requests come at half the rate that Kafka can do, whether or not the last one was answered.

use std::time::{Duration, Instant};

use super::{Run, Scenario};
use crate::case::{Case, Extras, Per, Stage, Timing};
use crate::error::Result;
use crate::limit::Via;
use crate::load::batch::{SMALL, batch};
use crate::load::caller::Caller;
use crate::load::request::{Fetching, Frame, fetch, produce};
use crate::load::{Outcome, latencies, nanos};
use crate::measure::as_f64;
use crate::target::limit::{Loop, WRITE};

const PRODUCERS: i32 = 16;
const PARTITIONS: i32 = 6;

pub const PRODUCE: Scenario = Scenario {
    name: "produce-paced",
    about: "100-byte records on 16 connections at half of Kafka's rate; latency from when each was due",
    run: Run::With(
        Case {
            name: "produce-paced",
            partitions: PARTITIONS,
            fill: None,
            requests: 1_000_000,
            per: Per::Request("request"),
            limits: &[WRITE],
            drive: |stage| stage.drive_steadily(producers(stage)),
        },
        half_of(|stage| stage.drive(producers(stage), 1)),
    ),
};

pub const ROUND_TRIP: Scenario = Scenario {
    name: "round-trip-paced",
    about: "produce one record, then fetch it, at half of Kafka's rate; latency from when each was due",
    run: Run::With(
        Case {
            name: "round-trip-paced",
            partitions: 1,
            fill: None,
            requests: 1_000_000,
            per: Per::Request("trip"),
            limits: &[Loop {
                name: "write, then pread + send",
                fetch_bytes: 171,
                via: Via::Pread,
                park: false,
            }],
            drive: |stage| trips(stage, stage.per_second),
        },
        half_of(|stage| trips(stage, f64::INFINITY)),
    ),
};

const fn half_of(quick: fn(&Stage) -> Result<Outcome>) -> Extras {
    Extras { timing: Timing::HalfOf(quick), ..Extras::NONE }
}

fn producers(stage: &Stage) -> Vec<Vec<Frame>> {
    let batch = batch(SMALL);
    (0..PRODUCERS).map(|nth| vec![produce(stage.topic.id, nth % PARTITIONS, 1, &batch)]).collect()
}

fn trips(stage: &Stage, per_second: f64) -> Result<Outcome> {
    let batch = batch(SMALL);
    let mut produce = produce(stage.topic.id, 0, 1, &batch);
    let fetching = Fetching { offset: 0, max_bytes: 1 << 20, max_wait_ms: 500 };
    let mut fetch = fetch(stage.topic.id, 0, fetching).walking(1, i64::MAX).at_least(batch.len());
    let mut caller = Caller::connect(stage.addr)?;
    let mut latency = latencies()?;
    let (mut trips, start) = (0, Instant::now());
    while trips < stage.requests && !stage.is_over(start) {
        let due = start + Duration::from_secs_f64(as_f64(trips) / per_second);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let due = if per_second.is_finite() { due } else { Instant::now() };
        caller.call(&mut produce)?;
        caller.call(&mut fetch)?;
        latency.saturating_record(nanos(due.elapsed()));
        trips += 1;
    }
    let elapsed = start.elapsed();
    let bytes = trips.saturating_mul(batch.len() as u64);
    Ok(Outcome { requests: trips, sent: bytes, received: bytes, elapsed, latency })
}
