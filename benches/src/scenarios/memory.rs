//! Resident memory of a broker that was just started, and after it has worked.

use std::net::SocketAddr;
use std::time::Duration;

use super::{Run, Scenario};
use crate::bench::Bench;
use crate::error::Result;
use crate::load::batch::{LARGE, SMALL, batch};
use crate::load::drive::{Plan, drive};
use crate::load::request::{Fetching, fetch, produce};
use crate::load::topic;
use crate::machine;
use crate::measure::as_f64;
use crate::table::Row;
use crate::target::Side;

pub const SCENARIO: Scenario = Scenario {
    name: "memory",
    about: "resident memory 3 s after the start, and after large and small produces and fetches",
    run: Run::Own(run),
};

const SETTLE: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Sizes {
    idle: Vec<Option<f64>>,
    after: Vec<Option<f64>>,
}

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    bench.stop_brokers();
    let repeats = if bench.args.quick { 1 } else { 3 };
    let (mut kafka, mut barnabas) = (Sizes::default(), Sizes::default());
    for _ in 0..repeats {
        for side in bench.startable() {
            let sizes = if side == Side::Kafka { &mut kafka } else { &mut barnabas };
            let dir = bench.fresh_dir("memory");
            let server = bench.start(side, &dir)?;
            std::thread::sleep(SETTLE);
            sizes.idle.push(Some(as_f64(machine::resident(server.pid)?) / 1e6));
            load(bench, server.addr)?;
            sizes.after.push(Some(as_f64(machine::resident(server.pid)?) / 1e6));
            drop(server);
            machine::drain()?;
        }
    }
    Ok(vec![
        Row::of("memory", "idle", "MB", &kafka.idle, &barnabas.idle, &[]),
        Row::of("memory", "after load", "MB", &kafka.after, &barnabas.after, &[]),
    ])
}

/// A gigabyte in, a gigabyte out, and small requests on 64 connections.
fn load(bench: &mut Bench, addr: SocketAddr) -> Result<()> {
    let name = format!("memory-{}", bench.number());
    let topic = topic::create(addr, &name, 6)?;
    topic::fill(addr, &topic, LARGE, bench.scaled(700))?;
    let fetching = Fetching { offset: 0, max_bytes: 1 << 20, max_wait_ms: 500 };
    let records = (bench.scaled(700) * u64::from(LARGE.records)).cast_signed();
    let fetches = (0..6).map(|partition| vec![fetch(topic.id, partition, fetching).walking(1000, records)]);
    drive(addr, Plan { connections: fetches.collect(), window: 1, requests: bench.scaled(1000) })?;
    let small = batch(SMALL);
    let produces = (0..64).map(|connection| vec![produce(topic.id, connection % 6, 1, &small)]);
    drive(addr, Plan { connections: produces.collect(), window: 4, requests: bench.scaled(50_000) })?;
    Ok(())
}
