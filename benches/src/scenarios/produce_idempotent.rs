//! Idempotent producers: every batch has a producer id and the next sequence.

use super::{Run, Scenario};
use crate::case::{Case, Per, Stage};
use crate::error::Result;
use crate::load::Outcome;
use crate::load::batch::{LARGE, SMALL, batch};
use crate::load::request::produce;
use crate::target::limit::WRITE;

/// As many as an idempotent producer may have in flight.
const WINDOW: usize = 5;
const SMALL_ONES: i64 = 16;
/// Brokers take a producer that they have never heard of.
const FIRST_ID: i64 = 1_000_000;

pub const LARGE_BATCHES: Scenario = Scenario {
    name: "idempotent-large",
    about: "as produce-large, by an idempotent producer (acks=all)",
    run: Run::Compare(Case {
        name: "idempotent-large",
        requests: 6000,
        per: Per::Gigabyte,
        drive: |stage| run(stage, 1, &batch(LARGE)),
        ..CASE
    }),
};

pub const SMALL_BATCHES: Scenario = Scenario {
    name: "idempotent-small",
    about: "one 100-byte record per request, 16 idempotent producers (acks=all), window 5",
    run: Run::Compare(Case {
        name: "idempotent-small",
        requests: 150_000,
        drive: |stage| run(stage, SMALL_ONES, &batch(SMALL)),
        ..CASE
    }),
};

const CASE: Case = Case {
    name: "",
    partitions: 1,
    fill: None,
    requests: 0,
    per: Per::Request("request"),
    limits: &[WRITE],
    drive: |stage| run(stage, 1, &batch(SMALL)),
};

fn run(stage: &Stage, producers: i64, batch: &[u8]) -> Result<Outcome> {
    let frame = |nth| vec![produce(stage.topic.id, 0, -1, batch).by_producer(FIRST_ID + nth, batch.len())];
    stage.drive((0..producers).map(frame).collect(), WINDOW)
}
