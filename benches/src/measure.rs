//! One measurement: a fresh topic, a quiet disk, the load, and what it cost the server.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::bench::Bench;
use crate::case::{Case, Per, Stage};
use crate::cpu::Cpu;
use crate::error::Result;
use crate::load::Outcome;
use crate::load::topic::{self, Topic};
use crate::machine;
use crate::target::limit::Loop;
use crate::target::{Server, Side};

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
pub fn broker(bench: &mut Bench, side: Side, case: &Case) -> Result<Measured> {
    let name = format!("{}-{}", case.name, bench.number());
    let stage = (bench.scaled(case.requests), case.fill.map_or(0, |(_, batches)| bench.scaled(batches)));
    let running = bench.broker(side)?;
    let addr = running.server.addr;
    let topic = topic::create(addr, &name, case.partitions)?;
    if let Some((filling, _)) = case.fill {
        topic::fill(addr, &topic, filling, stage.1)?;
    }
    machine::drain()?;
    let stage = Stage { addr, topic, requests: stage.0, filled: stage.1 };
    let measured = measure(running.server, case, &stage)?;
    topic::delete(addr, &stage.topic)?;
    await_removal(&running.dir.join("data"), &name);
    machine::drain()?;
    Ok(measured)
}

/// Measures a plain loop, which runs only for this.
pub fn limit(bench: &mut Bench, plain: &Loop, case: &Case) -> Result<Measured> {
    let dir = bench.fresh_dir("loop");
    let server = plain.start(&dir)?;
    machine::drain()?;
    let topic = Topic { name: String::new(), id: [0; 16], partitions: case.partitions };
    let filled = case.fill.map_or(0, |(_, batches)| bench.scaled(batches));
    let stage = Stage { addr: server.addr, topic, requests: bench.scaled(case.requests), filled };
    let measured = measure(&server, case, &stage)?;
    drop(server);
    // Only disk space would be lost.
    let _ = std::fs::remove_dir_all(&dir);
    machine::drain()?;
    Ok(measured)
}

fn measure(server: &Server, case: &Case, stage: &Stage) -> Result<Measured> {
    let own = std::process::id();
    let (cpu, own_cpu) = (Cpu::of(server.pid)?, Cpu::of(own)?);
    let outcome = (case.drive)(stage)?;
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
