//! The scenarios, one file each (or one per family). A new one is a file here and a row in [`ALL`].

mod codecs;
mod compaction;
mod fan_out;
mod fetch_cold;
mod fetch_small;
mod fetch_warm;
mod fsync;
mod groups;
mod idle;
mod java_perf;
#[cfg(feature = "rdkafka")]
mod librdkafka;
mod many_partitions;
mod memory;
mod mixed;
mod paced;
mod produce_idempotent;
mod produce_large;
mod produce_slow;
mod produce_small;
mod read_committed;
mod recovery;
mod round_trip;
mod start;
mod start_many;
mod stock_clients;
mod tail;
mod transactional_ids;
mod transactions;

use crate::bench::Bench;
use crate::case::{Case, Extras};
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

/// Long ones, and those of stock clients, which are not part of the main table: they run when they are named.
const EXTRA: &[&str] = &["mixed", "many-partitions", "compaction", "java-perf", "librdkafka"];

impl Scenario {
    /// Runs only when it is named.
    pub fn is_extra(&self) -> bool {
        EXTRA.contains(&self.name)
    }
}

/// How a scenario runs.
pub enum Run {
    /// All sides by turns under one load.
    Compare(Case),
    /// The same with something special.
    With(Case, Extras),
    /// In its own way.
    Own(fn(&mut Bench) -> Result<Vec<Row>>),
}

/// All of them, in the order in which they run: those that start brokers of their own come first and last.
pub const ALL: &[Scenario] = &[
    start::SCENARIO,
    start_many::SCENARIO,
    memory::SCENARIO,
    groups::STABLE,
    groups::LOADING,
    idle::SCENARIO,
    many_partitions::SCENARIO,
    recovery::SCENARIO,
    fsync::SCENARIO,
    compaction::SCENARIO,
    produce_large::ONE_PARTITION,
    produce_large::SIX_PARTITIONS,
    produce_large::MANY_PARTITIONS,
    produce_large::ACKS_ALL,
    produce_small::ONE_CONNECTION,
    produce_small::MANY_CONNECTIONS,
    produce_slow::HUNDRED,
    produce_slow::THOUSAND,
    produce_idempotent::LARGE_BATCHES,
    produce_idempotent::SMALL_BATCHES,
    codecs::GZIP,
    codecs::SNAPPY,
    codecs::LZ4,
    codecs::ZSTD,
    fetch_warm::SCENARIO,
    fetch_cold::SCENARIO,
    fetch_small::ONE_CONNECTION,
    fetch_small::MANY_CONNECTIONS,
    round_trip::SCENARIO,
    tail::SCENARIO,
    groups::COMMITS,
    fan_out::SCENARIO,
    paced::PRODUCE,
    paced::ROUND_TRIP,
    mixed::SCENARIO,
    transactions::SCENARIO,
    read_committed::SCENARIO,
    transactional_ids::SCENARIO,
    java_perf::SCENARIO,
    #[cfg(feature = "rdkafka")]
    librdkafka::SCENARIO,
];
