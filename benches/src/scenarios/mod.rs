//! The scenarios, one file each (or one per family). A new one is a file here and a row in [`ALL`].

mod fetch_small;
mod fetch_warm;
mod groups;
mod java_perf;
mod memory;
mod produce_large;
mod produce_small;
mod round_trip;
mod start;
mod tail;

use crate::bench::Bench;
use crate::case::Case;
use crate::error::Result;
use crate::table::Row;

/// A scenario.
pub struct Scenario {
    /// Its name, by which it is chosen.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// How it runs.
    pub run: Run,
}

/// How a scenario runs.
pub enum Run {
    /// All sides by turns under one load.
    Compare(Case),
    /// In its own way.
    Own(fn(&mut Bench) -> Result<Vec<Row>>),
}

/// All of them, in the order in which they run: those that start brokers of their own come first and last.
pub const ALL: &[Scenario] = &[
    start::SCENARIO,
    memory::SCENARIO,
    groups::STABLE,
    groups::LOADING,
    produce_large::ONE_PARTITION,
    produce_large::SIX_PARTITIONS,
    produce_small::ONE_CONNECTION,
    produce_small::MANY_CONNECTIONS,
    fetch_warm::SCENARIO,
    fetch_small::ONE_CONNECTION,
    fetch_small::MANY_CONNECTIONS,
    round_trip::SCENARIO,
    tail::SCENARIO,
    groups::COMMITS,
    java_perf::SCENARIO,
];
