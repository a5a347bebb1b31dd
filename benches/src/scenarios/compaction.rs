//! Compaction of ten gigabytes in which every one of ten million keys comes twice: alone, and while a producer is at work.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Run, Scenario};
use crate::bench::Bench;
use crate::cpu::Cpu;
use crate::error::{Error, Result};
use crate::load::batch::{LARGE, batch};
use crate::load::caller::Caller;
use crate::load::keyed::Keyed;
use crate::load::request::{Frame, produce};
use crate::load::topic::{self, Topic};
use crate::load::{latencies, nanos};
use crate::machine;
use crate::measure::as_f64;
use crate::table::Row;
use crate::target::{Server, Side};

pub const SCENARIO: Scenario = Scenario {
    name: "compaction",
    about: "10 GB, 10 million keys, each twice, one pass; alone, then beside a producer at half its speed",
    run: Run::Own(run),
};

const KEYS: u64 = 10_000_000;
const RECORDS_OF_A_BATCH: u64 = 200;
const VALUE_BYTES: usize = 470;
const IN_FLIGHT: usize = 4;
/// Room for all keys at once (Kafka takes 24 bytes each and fills nine tenths).
const SETTINGS: [&str; 2] = ["log.cleaner.dedupe.buffer.size=335544320", "log.cleaner.backoff.ms=100"];
const PATIENCE: Duration = Duration::from_secs(1800);
/// How long the producer is watched before the compaction.
const WATCHED: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Figures {
    alone: Vec<Option<f64>>,
    cpu: Vec<Option<f64>>,
    beside: Vec<Option<f64>>,
    kept: Vec<Option<f64>>,
    p99_before: Vec<Option<f64>>,
    p99_during: Vec<Option<f64>>,
    p99_rise: Vec<Option<f64>>,
}

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    bench.stop_brokers();
    let (mut kafka, mut barnabas) = (Figures::default(), Figures::default());
    for side in bench.startable() {
        let figures = if side == Side::Kafka { &mut kafka } else { &mut barnabas };
        let dir = bench.fresh_dir("compaction");
        let server = bench.start_with(side, &dir, &SETTINGS)?;
        measure(bench, &server, &dir.join("data"), figures)?;
        drop(server);
        // Only disk space would be lost.
        let _ = std::fs::remove_dir_all(&dir);
        machine::drain()?;
    }
    let row = |figure, unit, of: fn(&Figures) -> &[Option<f64>]| {
        Row::of("compaction", figure, unit, of(&kafka), of(&barnabas), &[])
    };
    Ok(vec![
        row("alone", "MB/s", |figures| &figures.alone),
        row("broker CPU, alone", "s/GB", |figures| &figures.cpu),
        row("beside a producer", "MB/s", |figures| &figures.beside),
        row("share of its speed that the producer keeps", "", |figures| &figures.kept),
        row("its p99 before", "ms", |figures| &figures.p99_before),
        row("its p99 during", "ms", |figures| &figures.p99_during),
        row("its p99, during by before", "times", |figures| &figures.p99_rise),
    ])
}

fn measure(bench: &mut Bench, server: &Server, data: &Path, figures: &mut Figures) -> Result<()> {
    let addr = server.addr;
    let topic = filled(bench, addr)?;
    let (cpu, since) = (Cpu::of(server.pid)?, Instant::now());
    let bytes = size(data, &topic);
    topic::alter(addr, &topic, "min.cleanable.dirty.ratio", "0.01")?;
    await_compaction(data, &topic, since, || std::thread::sleep(Duration::from_millis(20)))?;
    figures.alone.push(Some(as_f64(bytes) / 1e6 / since.elapsed().as_secs_f64()));
    figures.cpu.push(Some(Cpu::of(server.pid)?.since(&cpu).as_secs_f64() * 1e9 / as_f64(bytes)));
    topic::delete(addr, &topic)?;

    let topic = filled(bench, addr)?;
    let beside = topic::create(addr, "beside", 1)?;
    let mut producer = Producer::new(addr, &beside)?;
    let fastest = producer.run(Duration::ZERO, WATCHED)?.0;
    // What a faster producer has left behind must not be what the next figure waits for.
    machine::drain()?;
    let pause = Duration::from_secs_f64(2.0 / fastest);
    let (_, p99_before) = producer.run(pause, WATCHED)?;
    machine::drain()?;
    let since = Instant::now();
    topic::alter(addr, &topic, "min.cleanable.dirty.ratio", "0.01")?;
    let mut during = producer.begin(pause)?;
    let mut failed = Ok(());
    await_compaction(data, &topic, since, || {
        if failed.is_ok() {
            failed = producer.step(&mut during);
        }
    })?;
    failed?;
    let (rate, p99) = during.figures();
    figures.beside.push(Some(as_f64(bytes) / 1e6 / since.elapsed().as_secs_f64()));
    figures.kept.push(Some(rate * 2.0 / fastest));
    figures.p99_before.push(Some(p99_before));
    figures.p99_during.push(Some(p99));
    figures.p99_rise.push(Some(p99 / p99_before));
    topic::delete(addr, &topic)?;
    topic::delete(addr, &beside)
}

/// A topic in which every key comes twice and nothing is compacted yet.
fn filled(bench: &mut Bench, addr: SocketAddr) -> Result<Topic> {
    let configs =
        [("cleanup.policy", "compact"), ("min.cleanable.dirty.ratio", "1.0"), ("segment.bytes", "104857600")];
    let topic = topic::create_with(addr, &format!("compacted-{}", bench.number()), 1, &configs)?;
    let keys = bench.scaled(KEYS);
    let mut batch = Keyed::new(RECORDS_OF_A_BATCH, VALUE_BYTES);
    let mut caller = Caller::connect(addr)?;
    let mut frame = produce(topic.id, 0, 1, batch.bytes());
    let mut waiting = 0;
    for number in 0..keys.saturating_mul(2) / RECORDS_OF_A_BATCH {
        // Odd, so that all keys come before one comes again, in an order of no use to anybody.
        let key = |at: u64| (number * RECORDS_OF_A_BATCH + at).wrapping_mul(0x9e37_79b1) % keys;
        batch.set_keys(key);
        frame.set_batch(batch.bytes());
        caller.send(&mut frame)?;
        waiting += 1;
        if waiting == IN_FLIGHT {
            caller.receive(&frame)?;
            waiting -= 1;
        }
    }
    for _ in 0..waiting {
        caller.receive(&frame)?;
    }
    machine::drain()?;
    Ok(topic)
}

/// Bytes in a topic's logs.
fn size(data: &Path, topic: &Topic) -> u64 {
    let entries = std::fs::read_dir(data.join(format!("{}-0", topic.name))).into_iter().flatten().flatten();
    let logs = entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "log"));
    logs.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}

/// Waits until a topic is compacted; meanwhile it is the caller's turn, again and again.
fn await_compaction(data: &Path, topic: &Topic, since: Instant, mut meanwhile: impl FnMut()) -> Result<()> {
    let checkpoint = data.join("cleaner-offset-checkpoint");
    let line = format!("{} 0 ", topic.name);
    let done = || {
        std::fs::read_to_string(&checkpoint).unwrap_or_default().lines().any(|found| found.starts_with(&line))
    };
    while !done() {
        if since.elapsed() > PATIENCE {
            return Err(Error::Stalled {
                what: "a topic was compacted".to_owned(),
                seconds: PATIENCE.as_secs(),
            });
        }
        meanwhile();
    }
    Ok(())
}

/// One producer that waits for each answer.
struct Producer {
    caller: Caller,
    frame: Frame,
}

/// What it has seen since it began.
struct Watch {
    pause: Duration,
    began: Instant,
    due: Instant,
    requests: u64,
    latency: hdrhistogram::Histogram<u64>,
}

impl Producer {
    fn new(addr: SocketAddr, topic: &Topic) -> Result<Producer> {
        let frame = produce(topic.id, 0, 1, &batch(LARGE));
        Ok(Producer { caller: Caller::connect(addr)?, frame })
    }

    fn begin(&self, pause: Duration) -> Result<Watch> {
        let now = Instant::now();
        Ok(Watch { pause, began: now, due: now, requests: 0, latency: latencies()? })
    }

    /// The next request, at its time. Its latency counts from when it was due.
    fn step(&mut self, watch: &mut Watch) -> Result<()> {
        let now = Instant::now();
        let since = if watch.pause.is_zero() { now } else { watch.due };
        std::thread::sleep(since.saturating_duration_since(now));
        self.caller.call(&mut self.frame)?;
        watch.latency.saturating_record(nanos(since.elapsed()));
        watch.requests += 1;
        watch.due += watch.pause;
        Ok(())
    }

    /// Requests per second and the 99th percentile of their latency, in ms.
    fn run(&mut self, pause: Duration, span: Duration) -> Result<(f64, f64)> {
        let mut watch = self.begin(pause)?;
        while watch.began.elapsed() < span {
            self.step(&mut watch)?;
        }
        Ok(watch.figures())
    }
}

impl Watch {
    fn figures(&self) -> (f64, f64) {
        let rate = as_f64(self.requests) / self.began.elapsed().as_secs_f64();
        (rate, as_f64(self.latency.value_at_quantile(0.99)) / 1e6)
    }
}
