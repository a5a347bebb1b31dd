//! Answers that wait for the disk (flush.messages=1): one producer pays a flush per request, 64 share them.

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
    name: "fsync",
    about: "flush.messages=1, 100-byte records, one partition: a producer that waits for each answer, then 64 of them",
    run: Run::Own(run),
};

#[derive(Default)]
struct Speeds {
    one: Vec<Option<f64>>,
    many: Vec<Option<f64>>,
    gain: Vec<Option<f64>>,
}

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    let repeats = if bench.args.quick { 1 } else { 5 };
    let (mut kafka, mut barnabas) = (Speeds::default(), Speeds::default());
    for _ in 0..repeats {
        for side in bench.brokers() {
            let speeds = if side == Side::Kafka { &mut kafka } else { &mut barnabas };
            let one = speed(bench, side, 1, 3000)?;
            let many = speed(bench, side, 64, 60_000)?;
            speeds.one.push(Some(one));
            speeds.many.push(Some(many));
            speeds.gain.push(Some(many / one));
        }
    }
    let row = |figure, unit, of: fn(&Speeds) -> &[Option<f64>]| {
        Row::of("fsync", figure, unit, of(&kafka), of(&barnabas), &[])
    };
    Ok(vec![
        row("1 producer", "requests/s", |speeds| &speeds.one),
        row("64 producers", "requests/s", |speeds| &speeds.many),
        row("64 producers by 1", "times", |speeds| &speeds.gain),
    ])
}

/// Requests per second.
fn speed(bench: &mut Bench, side: Side, producers: usize, requests: u64) -> Result<f64> {
    let (name, requests) = (format!("fsync-{}", bench.number()), bench.scaled(requests));
    let addr = bench.broker(side)?.server.addr;
    let topic = topic::create_with(addr, &name, 1, &[("flush.messages", "1")])?;
    machine::drain()?;
    let connections = vec![vec![produce(topic.id, 0, 1, &batch(SMALL))]; producers];
    let outcome = drive(addr, Plan { connections, window: 1, requests })?;
    topic::delete(addr, &topic)?;
    Ok(as_f64(outcome.requests) / outcome.elapsed.as_secs_f64())
}
