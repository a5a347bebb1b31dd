//! Fetches of 1 MiB from the page cache, one after the other; cost by gigabyte.

use super::{Run, Scenario};
use crate::case::{Case, Per, Stage};
use crate::error::Result;
use crate::limit::Via;
use crate::load::Outcome;
use crate::load::batch::LARGE;
use crate::load::request::{Fetching, fetch};
use crate::target::limit::Loop;

const MIB: usize = 1 << 20;
/// Whole batches in an answer of 1 MiB.
const BATCHES: u64 = 4;

pub const SCENARIO: Scenario = Scenario {
    name: "fetch-warm",
    about: "1 MiB fetches from the page cache, one connection, window 1",
    run: Run::Compare(Case {
        name: "fetch-warm",
        partitions: 1,
        fill: Some((LARGE, 2000)),
        requests: 4000,
        per: Per::Gigabyte,
        limits: &[
            Loop { name: "sendfile", fetch_bytes: MIB, via: Via::Sendfile, park: false },
            Loop { name: "pread + send", fetch_bytes: MIB, via: Via::Pread, park: false },
        ],
        drive: run,
    }),
};

fn run(stage: &Stage) -> Result<Outcome> {
    let records = u64::from(LARGE.records) * BATCHES;
    let held = stage.filled / BATCHES * records;
    let (records, held) = (records.cast_signed(), held.cast_signed());
    let fetching = Fetching { offset: 0, max_bytes: 1 << 20, max_wait_ms: 500 };
    let frame = fetch(stage.topic.id, 0, fetching).walking(records, held).at_least(1_000_000);
    stage.drive(vec![vec![frame]], 1)
}
