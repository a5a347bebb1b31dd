//! What 10,000 connections cost that ask for nothing.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::{Run, Scenario};
use crate::bench::Bench;
use crate::cpu::Cpu;
use crate::error::{Attempt, Error, Result};
use crate::load::caller::Caller;
use crate::load::request::api_versions;
use crate::machine;
use crate::measure::as_f64;
use crate::table::Row;
use crate::target::Side;

pub const SCENARIO: Scenario = Scenario {
    name: "idle-10000",
    about: "10,000 connections that have asked for ApiVersions once: resident memory, and CPU while nothing happens",
    run: Run::Own(run),
};

const CONNECTIONS: usize = 10_000;
const QUIET: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Figures {
    per_connection: Vec<Option<f64>>,
    resident: Vec<Option<f64>>,
    cpu: Vec<Option<f64>>,
}

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    allow_connections()?;
    bench.stop_brokers();
    let (mut kafka, mut barnabas) = (Figures::default(), Figures::default());
    for side in bench.startable() {
        let figures = if side == Side::Kafka { &mut kafka } else { &mut barnabas };
        let dir = bench.fresh_dir("idle");
        let server = bench.start(side, &dir)?;
        let before = machine::resident(server.pid)?;
        let connections = connect_all(server.addr)?;
        let resident = machine::resident(server.pid)?;
        let (cpu, since) = (Cpu::of(server.pid)?, Instant::now());
        std::thread::sleep(QUIET);
        let cpu = Cpu::of(server.pid)?.since(&cpu).as_secs_f64() / since.elapsed().as_secs_f64();
        drop(connections);
        let grown = as_f64(resident.saturating_sub(before)) / as_f64(CONNECTIONS as u64);
        figures.per_connection.push(Some(grown / 1e3));
        figures.resident.push(Some(as_f64(resident) / 1e6));
        figures.cpu.push(Some(cpu * 1e3));
    }
    let row = |figure, unit, of: fn(&Figures) -> &[Option<f64>]| {
        Row::of("idle-10000", figure, unit, of(&kafka), of(&barnabas), &[])
    };
    Ok(vec![
        row("memory", "MB", |figures| &figures.resident),
        row("memory per connection", "KB", |figures| &figures.per_connection),
        row("CPU", "ms/s", |figures| &figures.cpu),
    ])
}

fn connect_all(addr: SocketAddr) -> Result<Vec<Caller>> {
    let mut connections = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        let mut caller = Caller::connect(addr)?;
        caller.call(&mut api_versions())?;
        connections.push(caller);
    }
    Ok(connections)
}

/// Each connection is a file of this process.
fn allow_connections() -> Result<()> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = CONNECTIONS as u64 + 200;
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = limit.maximum;
        setrlimit(Resource::Nofile, limit).attempt("raising the limit of open files")?;
    }
    if limit.maximum.is_some_and(|maximum| maximum < wanted) {
        return Err(Error::Setup(format!("{wanted} open files are needed (ulimit -n)")));
    }
    Ok(())
}
