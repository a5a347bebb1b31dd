//! Produce of large batches: 250 records of 1 KB each, acks=1; cost by gigabyte.

use super::{Run, Scenario};
use crate::case::{Case, Per, Stage};
use crate::error::Result;
use crate::load::Outcome;
use crate::load::batch::{LARGE, batch};
use crate::load::drive::{Plan, drive};
use crate::load::request::produce;
use crate::target::limit::WRITE;

/// As many as a Java producer keeps in flight.
const WINDOW: usize = 5;

pub const ONE_PARTITION: Scenario = Scenario {
    name: "produce-large",
    about: "1 KB records in 250 KB batches, acks=1, one partition, one connection, window 5",
    run: Run::Compare(Case { name: "produce-large", partitions: 1, ..CASE }),
};

pub const SIX_PARTITIONS: Scenario = Scenario {
    name: "produce-large-6",
    about: "the same to six partitions, a connection for each",
    run: Run::Compare(Case { name: "produce-large-6", partitions: 6, ..CASE }),
};

const CASE: Case = Case {
    name: "",
    partitions: 0,
    fill: None,
    requests: 6000,
    per: Per::Gigabyte,
    limits: &[WRITE],
    drive: run,
};

fn run(stage: &Stage) -> Result<Outcome> {
    let batch = batch(LARGE);
    let frames = |partition| vec![produce(stage.topic.id, partition, 1, &batch)];
    let connections = (0..stage.topic.partitions).map(frames).collect();
    drive(stage.addr, Plan { connections, window: WINDOW, requests: stage.requests })
}
