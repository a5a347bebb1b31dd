//! One measurement: a fresh topic, a quiet disk, the load, and what it cost the server.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::bench::Bench;
use crate::case::{Case, Extras, Per, Stage};
use crate::cpu::Cpu;
use crate::error::Result;
use crate::load::Outcome;
use crate::load::topic::{self, Topic};
use crate::machine;
use crate::target::limit::Loop;
use crate::target::{Server, Side};

/// What is measured.
pub struct Load<'a> {
    /// The case.
    pub case: &'a Case,
    /// What is special about it.
    pub extras: &'a Extras,
    /// The requests: mostly the case's own.
    pub drive: fn(&Stage) -> Result<Outcome>,
    /// Its pace, if it has a steady one.
    pub per_second: f64,
}

/// What a measurement gave.
pub struct Measured {
    /// CPU time of the server.
    pub cpu: Duration,
    /// What the client saw.
    pub outcome: Outcome,
    /// Resident memory of the server at the end, in bytes.
    pub resident: u64,
    /// CPU time of this program in the meantime: it must not be the bottleneck.
    pub own_cpu: Duration,
}

impl Measured {
    /// CPU seconds per gigabyte or CPU µs per request.
    pub fn cost(&self, per: Per) -> f64 {
        match per {
            Per::Gigabyte => self.cpu.as_secs_f64() / self.gigabytes(),
            Per::Request(_) => self.cpu.as_secs_f64() * 1e6 / as_f64(self.outcome.requests),
        }
    }

    /// MB/s or requests/s.
    pub fn throughput(&self, per: Per) -> f64 {
        let seconds = self.outcome.elapsed.as_secs_f64();
        match per {
            Per::Gigabyte => self.gigabytes() * 1000.0 / seconds,
            Per::Request(_) => as_f64(self.outcome.requests) / seconds,
        }
    }

    /// A quantile of the latency, in ms.
    pub fn latency_ms(&self, quantile: f64) -> f64 {
        as_f64(self.outcome.latency.value_at_quantile(quantile)) / 1e6
    }

    fn gigabytes(&self) -> f64 {
        as_f64(self.outcome.sent.max(self.outcome.received)) / 1e9
    }
}

/// A count as a float; counts here are far below 2⁵³.
pub fn as_f64(count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of a run are far below 2^53")]
    let float = count as f64;
    float
}

/// Measures a broker; its topic is gone and the disk is quiet when this returns.
pub fn broker(bench: &mut Bench, side: Side, load: &Load<'_>) -> Result<Measured> {
    let case = load.case;
    let name = format!("{}-{}", case.name, bench.number());
    let requests = bench.scaled(case.requests);
    let filled = case.fill.map_or(0, |(_, batches)| bench.scaled(batches));
    let within = bench.args.load_within();
    let running = bench.broker(side)?;
    let (addr, data) = (running.server.addr, running.dir.join("data"));
    let topic = topic::create_with(addr, &name, case.partitions, load.extras.configs)?;
    if let Some((filling, _)) = case.fill {
        topic::fill(addr, &topic, filling, filled)?;
    }
    machine::drain()?;
    if load.extras.cold {
        machine::evict(&data, &name)?;
    }
    let stage = Stage { addr, topic, requests, filled, within, per_second: load.per_second };
    let measured = measure(running.server, load, &stage)?;
    topic::delete(addr, &stage.topic)?;
    await_removal(&data, &name);
    machine::drain()?;
    Ok(measured)
}

/// Measures a plain loop, which runs only for this.
pub fn limit(bench: &mut Bench, plain: &Loop, load: &Load<'_>) -> Result<Measured> {
    let case = load.case;
    let dir = bench.fresh_dir("loop");
    let server = plain.start(&dir)?;
    machine::drain()?;
    if load.extras.cold {
        machine::evict(&dir, "")?;
    }
    let topic = Topic { name: String::new(), id: [0; 16], partitions: case.partitions };
    let filled = case.fill.map_or(0, |(_, batches)| bench.scaled(batches));
    let (requests, within) = (bench.scaled(case.requests), bench.args.load_within());
    let stage = Stage { addr: server.addr, topic, requests, filled, within, per_second: load.per_second };
    let measured = measure(&server, load, &stage)?;
    drop(server);
    // Only disk space would be lost.
    let _ = std::fs::remove_dir_all(&dir);
    machine::drain()?;
    Ok(measured)
}

fn measure(server: &Server, load: &Load<'_>, stage: &Stage) -> Result<Measured> {
    machine::touch_free_memory()?;
    let own = std::process::id();
    let (cpu, own_cpu) = (Cpu::of(server.pid)?, Cpu::of(own)?);
    let outcome = (load.drive)(stage)?;
    let cpu = Cpu::of(server.pid)?.since(&cpu);
    let own_cpu = Cpu::of(own)?.since(&own_cpu);
    Ok(Measured { cpu, outcome, resident: machine::resident(server.pid)?, own_cpu })
}

/// Brokers remove files after a delay; nobody else shall pay for it. A broker whose files cannot be seen is not waited for.
fn await_removal(data: &Path, topic: &str) {
    let patience = Instant::now() + Duration::from_secs(10);
    let left = || {
        let entries = std::fs::read_dir(data).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with(topic))
    };
    while left() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
}
