//! One producer's transactions, one after the other: ten records in three partitions, then the commit.

use std::time::Instant;

use super::{Run, Scenario};
use crate::case::{Case, Per, Stage};
use crate::error::Result;
use crate::load::batch::{Filling, SMALL};
use crate::load::transaction::Transactional;
use crate::load::{Outcome, latencies, nanos};

pub const SCENARIO: Scenario = Scenario {
    name: "transactions",
    about: "10 records of 100 bytes in 3 partitions, then the commit (KIP-890), one connection",
    run: Run::Compare(Case {
        name: "transactions",
        partitions: 3,
        fill: None,
        requests: 1000,
        per: Per::Request("transaction"),
        limits: &[],
        drive: run,
    }),
};

fn run(stage: &Stage) -> Result<Outcome> {
    let fillings = [4, 3, 3].map(|records| Filling { records, ..SMALL });
    let mut producer = Transactional::begin(stage.addr, &stage.topic.name)?;
    let mut latency = latencies()?;
    let start = Instant::now();
    for _ in 0..stage.requests {
        let begun = Instant::now();
        producer.transaction(stage.topic.id, &fillings, true)?;
        latency.saturating_record(nanos(begun.elapsed()));
    }
    Ok(Outcome { requests: stage.requests, sent: 0, received: 0, elapsed: start.elapsed(), latency })
}
