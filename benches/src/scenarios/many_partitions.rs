//! Ten thousand partitions with a record each: a start after a clean stop, what it takes in memory, the stop.

use std::time::{Duration, Instant};

use super::{Run, Scenario};
use crate::bench::Bench;
use crate::error::Result;
use crate::load::batch::{SMALL, batch};
use crate::load::drive::{Plan, drive};
use crate::load::request::produce;
use crate::load::topic;
use crate::machine;
use crate::measure::as_f64;
use crate::table::Row;
use crate::target::Side;

pub const SCENARIO: Scenario = Scenario {
    name: "many-partitions",
    about: "10,000 partitions with a record each: start after a clean stop, memory 3 s later, stop",
    run: Run::Own(run),
};

const PARTITIONS: u64 = 10_000;
/// Partitions of a topic: what one CreateTopics answers within its timeout.
const OF_A_TOPIC: u64 = 500;
const SETTLE: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Figures {
    start: Vec<Option<f64>>,
    memory: Vec<Option<f64>>,
    stop: Vec<Option<f64>>,
}

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    bench.stop_brokers();
    let repeats = if bench.args.quick { 1 } else { 3 };
    let (mut kafka, mut barnabas) = (Figures::default(), Figures::default());
    for side in bench.startable() {
        let figures = if side == Side::Kafka { &mut kafka } else { &mut barnabas };
        let dir = bench.fresh_dir("many");
        let server = bench.start(side, &dir)?;
        for number in 0..bench.scaled(PARTITIONS).div_ceil(OF_A_TOPIC) {
            let partitions = i32::try_from(OF_A_TOPIC).unwrap_or(i32::MAX);
            let topic = topic::create(server.addr, &format!("many-{number}"), partitions)?;
            let small = batch(SMALL);
            let frames = (0..partitions).map(|partition| produce(topic.id, partition, 1, &small)).collect();
            drive(server.addr, Plan { connections: vec![frames], window: 64, requests: OF_A_TOPIC })?;
        }
        drop(server);
        for _ in 0..repeats {
            machine::drain()?;
            let server = bench.start(side, &dir)?;
            figures.start.push(Some(server.started_in.as_secs_f64() * 1000.0));
            std::thread::sleep(SETTLE);
            figures.memory.push(Some(as_f64(machine::resident(server.pid)?) / 1e6));
            let since = Instant::now();
            drop(server);
            figures.stop.push(Some(since.elapsed().as_secs_f64() * 1000.0));
        }
        // Only disk space would be lost.
        let _ = std::fs::remove_dir_all(&dir);
    }
    let row = |figure, unit, of: fn(&Figures) -> &[Option<f64>]| {
        Row::of("many-partitions", figure, unit, of(&kafka), of(&barnabas), &[])
    };
    Ok(vec![
        row("start after a clean stop", "ms", |figures| &figures.start),
        row("memory", "MB", |figures| &figures.memory),
        row("stop", "ms", |figures| &figures.stop),
    ])
}
