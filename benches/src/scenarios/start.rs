//! From exec to the first ApiVersions answer, on an empty directory and on a formatted one.

use super::{Run, Scenario};
use crate::bench::Bench;
use crate::error::Result;
use crate::machine;
use crate::table::Row;
use crate::target::Side;

pub const SCENARIO: Scenario = Scenario {
    name: "start",
    about: "from exec to the first ApiVersions answer; Kafka's empty directory includes kafka-storage format",
    run: Run::Own(run),
};

const REPEATS: usize = 5;

#[derive(Default)]
struct Times {
    empty: Vec<Option<f64>>,
    formatted: Vec<Option<f64>>,
}

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    bench.stop_brokers();
    let repeats = if bench.args.quick { 1 } else { REPEATS };
    let (mut kafka, mut barnabas) = (Times::default(), Times::default());
    for _ in 0..repeats {
        for side in bench.startable() {
            let times = if side == Side::Kafka { &mut kafka } else { &mut barnabas };
            let dir = bench.fresh_dir("start");
            for list in [&mut times.empty, &mut times.formatted] {
                machine::drain()?;
                let server = bench.start(side, &dir)?;
                list.push(Some(server.started_in.as_secs_f64() * 1000.0));
            }
        }
    }
    Ok(vec![
        Row::of("start", "empty directory", "ms", &kafka.empty, &barnabas.empty, &[]),
        Row::of("start", "formatted directory", "ms", &kafka.formatted, &barnabas.formatted, &[]),
    ])
}
