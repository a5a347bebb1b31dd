//! Produce of one 100-byte record per request: many in flight on one connection, or one on each of many.

use super::{Run, Scenario};
use crate::case::{Case, Per, Stage};
use crate::error::Result;
use crate::load::Outcome;
use crate::load::batch::{SMALL, batch};
use crate::load::request::produce;
use crate::target::limit::WRITE;

pub const ONE_CONNECTION: Scenario = Scenario {
    name: "produce-small-w64",
    about: "one 100-byte record per request, acks=1, window 64 on one connection",
    run: Run::Compare(Case {
        name: "produce-small-w64",
        requests: 200_000,
        drive: |stage| run(stage, 1, 64),
        ..CASE
    }),
};

pub const MANY_CONNECTIONS: Scenario = Scenario {
    name: "produce-small-c64",
    about: "one 100-byte record per request, acks=1, window 1 on each of 64 connections",
    run: Run::Compare(Case {
        name: "produce-small-c64",
        requests: 150_000,
        drive: |stage| run(stage, 64, 1),
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
    drive: |stage| run(stage, 1, 1),
};

fn run(stage: &Stage, connections: usize, window: usize) -> Result<Outcome> {
    let frame = produce(stage.topic.id, 0, 1, &batch(SMALL));
    let connections = vec![vec![frame]; connections];
    stage.drive(connections, window)
}
