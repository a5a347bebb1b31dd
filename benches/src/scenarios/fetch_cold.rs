//! Fetches of 1 MiB of what is not in memory, each byte once; cost by gigabyte.

use super::{Run, Scenario};
use crate::case::{Case, Extras, Per, Stage};
use crate::error::Result;
use crate::limit::Via;
use crate::load::Outcome;
use crate::load::batch::LARGE;
use crate::load::request::{Fetching, fetch};
use crate::target::limit::Loop;

const MIB: usize = 1 << 20;
/// Whole batches in an answer of 1 MiB.
const BATCHES: u64 = 4;
const FILL: u64 = 2000;

pub const SCENARIO: Scenario = Scenario {
    name: "fetch-cold",
    about: "1 MiB fetches from the disk, one connection, window 1",
    run: Run::With(
        Case {
            name: "fetch-cold",
            partitions: 1,
            fill: Some((LARGE, FILL)),
            requests: FILL / BATCHES,
            per: Per::Gigabyte,
            limits: &[
                Loop { name: "sendfile", fetch_bytes: MIB, via: Via::Sendfile, park: false },
                Loop { name: "pread + send", fetch_bytes: MIB, via: Via::Pread, park: false },
            ],
            drive: run,
        },
        Extras { cold: true, ..Extras::NONE },
    ),
};

fn run(stage: &Stage) -> Result<Outcome> {
    let records = (u64::from(LARGE.records) * BATCHES).cast_signed();
    let fetching = Fetching { offset: 0, max_bytes: 1 << 20, max_wait_ms: 500 };
    let frame = fetch(stage.topic.id, 0, fetching).walking(records, i64::MAX).at_least(1_000_000);
    let requests = stage.requests.min(stage.filled / BATCHES);
    Stage { requests, topic: stage.topic.clone(), ..*stage }.drive(vec![vec![frame]], 1)
}
