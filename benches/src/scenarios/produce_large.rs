//! Produce of large batches: 250 records of 1 KB each, acks=1; cost by gigabyte.

use super::{Run, Scenario};
use crate::case::{Case, Per, Stage};
use crate::error::Result;
use crate::load::Outcome;
use crate::load::batch::{LARGE, batch};
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

pub const MANY_PARTITIONS: Scenario = Scenario {
    name: "produce-large-100",
    about: "the same to 100 partitions in turn, over four connections",
    run: Run::Compare(Case { name: "produce-large-100", partitions: 100, drive: in_turn, ..CASE }),
};

pub const ACKS_ALL: Scenario = Scenario {
    name: "produce-large-all",
    about: "as produce-large, with acks=all",
    run: Run::Compare(Case {
        name: "produce-large-all",
        partitions: 1,
        drive: |stage| one_each(stage, ALL_REPLICAS),
        ..CASE
    }),
};

/// acks=all on the wire.
const ALL_REPLICAS: i16 = -1;
/// Connections that share many partitions.
const SHARED_BY: i32 = 4;

const CASE: Case = Case {
    name: "",
    partitions: 0,
    fill: None,
    requests: 6000,
    per: Per::Gigabyte,
    limits: &[WRITE],
    drive: |stage| one_each(stage, 1),
};

/// A connection for each partition.
fn one_each(stage: &Stage, acks: i16) -> Result<Outcome> {
    let batch = batch(LARGE);
    let frames = |partition| vec![produce(stage.topic.id, partition, acks, &batch)];
    stage.drive((0..stage.topic.partitions).map(frames).collect(), WINDOW)
}

/// Few connections, each of which goes through its share of the partitions.
fn in_turn(stage: &Stage) -> Result<Outcome> {
    let batch = batch(LARGE);
    let frames = |nth| {
        let partitions = (0..stage.topic.partitions).filter(move |partition| partition % SHARED_BY == nth);
        partitions.map(|partition| produce(stage.topic.id, partition, 1, &batch)).collect()
    };
    stage.drive((0..SHARED_BY).map(frames).collect(), WINDOW)
}
