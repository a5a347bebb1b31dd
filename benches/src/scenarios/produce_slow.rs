//! Many producers that each send little: a record now and then, on a connection of its own.

use super::{Run, Scenario};
use crate::case::{Case, Extras, Per, Stage, Timing};
use crate::error::Result;
use crate::load::Outcome;
use crate::load::batch::{SMALL, batch};
use crate::load::request::produce;
use crate::target::limit::WRITE;

/// Requests in a second, of all producers together.
const RATE: f64 = 2000.0;
const PARTITIONS: i32 = 6;

pub const HUNDRED: Scenario = Scenario {
    name: "slow-100",
    about: "100 producers, each sending 20 records of 100 bytes a second, acks=1",
    run: Run::With(Case { name: "slow-100", drive: |stage| run(stage, 100), ..CASE }, STEADY),
};

pub const THOUSAND: Scenario = Scenario {
    name: "slow-1000",
    about: "1,000 producers, each sending two records of 100 bytes a second, acks=1",
    run: Run::With(Case { name: "slow-1000", drive: |stage| run(stage, 1000), ..CASE }, STEADY),
};

const STEADY: Extras = Extras { timing: Timing::Rate(RATE), ..Extras::NONE };

const CASE: Case = Case {
    name: "",
    partitions: PARTITIONS,
    fill: None,
    requests: 100_000,
    per: Per::Request("request"),
    limits: &[WRITE],
    drive: |stage| run(stage, 1),
};

fn run(stage: &Stage, producers: i32) -> Result<Outcome> {
    let batch = batch(SMALL);
    let frames = |nth: i32| vec![produce(stage.topic.id, nth % PARTITIONS, 1, &batch)];
    stage.drive_steadily((0..producers).map(frames).collect())
}
