//! The start after a kill -9: how fast one partition's log is read and checked, from the page cache, on one core.

use super::{Run, Scenario};
use crate::bench::Bench;
use crate::error::Result;
use crate::load::batch::{Filling, LARGE};
use crate::load::topic;
use crate::measure::as_f64;
use crate::table::Row;
use crate::target::Side;

pub const SCENARIO: Scenario = Scenario {
    name: "recovery",
    about: "start after kill -9 with 0.9 GB in one segment, less a start after a clean stop: bytes per second",
    run: Run::Own(run),
};

/// Batches of which sizes the log has, and how many.
const KINDS: [(&str, Filling, u64); 3] = [
    ("1 KB batches", Filling { records: 1, value_bytes: 1000 }, 850_000),
    ("16 KB batches", Filling { records: 16, value_bytes: 1000 }, 55_000),
    ("250 KB batches", LARGE, 3600),
];

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    bench.stop_brokers();
    let repeats = if bench.args.quick { 1 } else { 3 };
    let mut rows = Vec::new();
    for (name, filling, batches) in KINDS {
        let (mut kafka, mut barnabas) = (Vec::new(), Vec::new());
        for _ in 0..repeats {
            for side in bench.startable() {
                let speeds = if side == Side::Kafka { &mut kafka } else { &mut barnabas };
                speeds.push(Some(speed(bench, side, filling, batches)?));
            }
        }
        rows.push(Row::of("recovery", name, "MB/s", &kafka, &barnabas, &[]));
    }
    Ok(rows)
}

/// MB/s of recovery alone.
fn speed(bench: &mut Bench, side: Side, filling: Filling, batches: u64) -> Result<f64> {
    let dir = bench.fresh_dir("recovery");
    let server = bench.start(side, &dir)?;
    let topic = topic::create(server.addr, "recovered", 1)?;
    topic::fill(server.addr, &topic, filling, bench.scaled(batches))?;
    server.kill();
    let log = dir.join("data/recovered-0/00000000000000000000.log");
    let bytes = std::fs::metadata(&log).map_or(0, |meta| meta.len());
    let server = bench.start(side, &dir)?;
    let after_kill = server.started_in;
    drop(server);
    let after_stop = bench.start(side, &dir)?.started_in;
    // Only disk space would be lost.
    let _ = std::fs::remove_dir_all(&dir);
    Ok(as_f64(bytes) / 1e6 / after_kill.saturating_sub(after_stop).as_secs_f64().max(0.001))
}
