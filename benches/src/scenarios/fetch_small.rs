//! Many small fetches: answers of 1 KB from the page cache; cost by request.

use super::{Run, Scenario};
use crate::case::{Case, Per, Stage};
use crate::error::Result;
use crate::limit::Via;
use crate::load::Outcome;
use crate::load::batch::Filling;
use crate::load::request::{Fetching, fetch};
use crate::target::limit::Loop;

/// One record, with everything around it just below 1 KiB.
const KILOBYTE: Filling = Filling { records: 1, value_bytes: 940 };

pub const ONE_CONNECTION: Scenario = Scenario {
    name: "fetch-small-w64",
    about: "answers of 1 KB, window 64 on one connection",
    run: Run::Compare(Case { name: "fetch-small-w64", drive: |stage| run(stage, 1, 64), ..CASE }),
};

pub const MANY_CONNECTIONS: Scenario = Scenario {
    name: "fetch-small-c64",
    about: "answers of 1 KB, window 1 on each of 64 connections",
    run: Run::Compare(Case { name: "fetch-small-c64", drive: |stage| run(stage, 64, 1), ..CASE }),
};

const CASE: Case = Case {
    name: "",
    partitions: 1,
    fill: Some((KILOBYTE, 4000)),
    requests: 150_000,
    per: Per::Request("request"),
    limits: &[
        Loop { name: "pread + send", fetch_bytes: 1024, via: Via::Pread, park: false },
        Loop { name: "sendfile", fetch_bytes: 1024, via: Via::Sendfile, park: false },
    ],
    drive: |stage| run(stage, 1, 1),
};

fn run(stage: &Stage, connections: usize, window: usize) -> Result<Outcome> {
    let fetching = Fetching { offset: 0, max_bytes: 1024, max_wait_ms: 500 };
    let held = stage.filled.cast_signed();
    let frame = fetch(stage.topic.id, 0, fetching).walking(1, held).at_least(KILOBYTE.value_bytes);
    let connections = vec![vec![frame]; connections];
    stage.drive(connections, window)
}
