//! What a broker keeps in memory of transactional ids with open transactions.

use std::net::SocketAddr;
use std::time::Duration;

use super::{Run, Scenario};
use crate::bench::Bench;
use crate::error::{Error, Result};
use crate::load::topic;
use crate::load::transaction::Transactional;
use crate::machine;
use crate::measure::as_f64;
use crate::table::Row;
use crate::target::Side;

pub const SCENARIO: Scenario = Scenario {
    name: "transactional-ids",
    about: "memory of 100,000 transactional ids, each with an open transaction",
    run: Run::Own(run),
};

const IDS: u64 = 100_000;
const CONNECTIONS: usize = 8;
const SETTLE: Duration = Duration::from_secs(3);

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    bench.stop_brokers();
    let (mut kafka, mut barnabas) = (Vec::new(), Vec::new());
    let ids = bench.scaled(IDS);
    for side in bench.startable() {
        let dir = bench.fresh_dir("transactional-ids");
        let server = bench.start(side, &dir)?;
        topic::create(server.addr, "open", 1)?;
        // The topic of transactions is there from now on.
        Transactional::begin(server.addr, "first")?;
        std::thread::sleep(SETTLE);
        let before = machine::resident(server.pid)?;
        open_all(server.addr, ids)?;
        std::thread::sleep(SETTLE);
        let grown = machine::resident(server.pid)?.saturating_sub(before);
        let grown = as_f64(grown) / 1e6 * as_f64(IDS) / as_f64(ids);
        let figures = if side == Side::Kafka { &mut kafka } else { &mut barnabas };
        figures.push(Some(grown));
        drop(server);
        machine::drain()?;
    }
    Ok(vec![Row::of("transactional-ids", "100,000 open", "MB", &kafka, &barnabas, &[])])
}

fn open_all(addr: SocketAddr, ids: u64) -> Result<()> {
    let open = move |connection: usize| {
        let mut producer = Transactional::begin(addr, &format!("connection-{connection}"))?;
        for number in (0..ids).skip(connection).step_by(CONNECTIONS) {
            producer.next(&format!("transactional-id-{number}"))?;
            producer.leave_open("open")?;
        }
        Ok(())
    };
    let threads: Vec<_> =
        (0..CONNECTIONS).map(|connection| std::thread::spawn(move || open(connection))).collect();
    for thread in threads {
        thread.join().map_err(|_| Error::Setup("a connection's thread failed".to_owned()))??;
    }
    Ok(())
}
