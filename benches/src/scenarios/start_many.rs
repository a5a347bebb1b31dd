//! From exec to the first ApiVersions answer with 1,000 partitions that hold a record each.

use super::{Run, Scenario};
use crate::bench::Bench;
use crate::error::Result;
use crate::load::batch::SMALL;
use crate::load::topic;
use crate::machine;
use crate::table::Row;
use crate::target::Side;

pub const SCENARIO: Scenario = Scenario {
    name: "start-1000",
    about: "from exec to the first ApiVersions answer with 1,000 partitions, stopped in order before",
    run: Run::Own(run),
};

const PARTITIONS: i32 = 1000;
const REPEATS: usize = 3;

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    bench.stop_brokers();
    let repeats = if bench.args.quick { 1 } else { REPEATS };
    let (mut kafka, mut barnabas) = (Vec::new(), Vec::new());
    for side in bench.startable() {
        let times = if side == Side::Kafka { &mut kafka } else { &mut barnabas };
        let dir = bench.fresh_dir("start-1000");
        let server = bench.start(side, &dir)?;
        let topic = topic::create(server.addr, "start-1000", PARTITIONS)?;
        topic::fill(server.addr, &topic, SMALL, 1)?;
        drop(server);
        for _ in 0..repeats {
            machine::drain()?;
            let server = bench.start(side, &dir)?;
            times.push(Some(server.started_in.as_secs_f64() * 1000.0));
        }
    }
    Ok(vec![Row::of("start-1000", "1,000 partitions", "ms", &kafka, &barnabas, &[])])
}
