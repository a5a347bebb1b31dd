//! What it costs to read only what is committed, where one transaction of twenty was aborted.

use super::{Run, Scenario};
use crate::bench::Bench;
use crate::cpu::Cpu;
use crate::error::Result;
use crate::load::batch::LARGE;
use crate::load::drive::{Plan, drive};
use crate::load::request::{Fetching, fetch};
use crate::load::topic;
use crate::load::transaction::Transactional;
use crate::machine;
use crate::table::Row;
use crate::target::Side;

pub const SCENARIO: Scenario = Scenario {
    name: "read-committed",
    about: "CPU of 1 MiB fetches with read_committed by those with read_uncommitted; 5% of the transactions aborted",
    run: Run::Own(run),
};

/// Transactions of one batch of 250 KB.
const TRANSACTIONS: u64 = 400;
const ABORTED: u64 = 20;
/// A batch's records and its marker.
const OFFSETS: u64 = LARGE.records as u64 + 1;
const FETCHES: u64 = 2000;

fn run(bench: &mut Bench) -> Result<Vec<Row>> {
    let repeats = if bench.args.quick { 2 } else { 9 };
    let (transactions, fetches) = (bench.scaled(TRANSACTIONS), bench.scaled(FETCHES));
    let (mut kafka, mut barnabas) = (Vec::new(), Vec::new());
    for side in bench.startable() {
        let name = format!("read-committed-{}", bench.number());
        let server = bench.broker(side)?.server;
        let (addr, pid) = (server.addr, server.pid);
        let topic = topic::create(addr, &name, 1)?;
        let mut producer = Transactional::begin(addr, &name)?;
        for number in 0..transactions {
            producer.transaction(topic.id, &[LARGE], number % ABORTED != 0)?;
        }
        machine::drain()?;
        let cost = |committed: bool| -> Result<f64> {
            let fetching = Fetching { offset: 0, max_bytes: 1 << 20, max_wait_ms: 500 };
            let (step, all) = (OFFSETS * 4, OFFSETS * transactions / (OFFSETS * 4) * (OFFSETS * 4));
            let frame = fetch(topic.id, 0, fetching).walking(step.cast_signed(), all.cast_signed());
            let frame = if committed { frame.committed() } else { frame };
            let plan =
                Plan { connections: vec![vec![frame.at_least(1_000_000)]], window: 1, requests: fetches };
            let before = Cpu::of(pid)?;
            drive(addr, plan)?;
            Ok(Cpu::of(pid)?.since(&before).as_secs_f64())
        };
        cost(true)?;
        let ratios = if side == Side::Kafka { &mut kafka } else { &mut barnabas };
        for _ in 0..repeats {
            let (all, committed) = (cost(false)?, cost(true)?);
            ratios.push(Some(committed / all));
        }
        topic::delete(addr, &topic)?;
        machine::drain()?;
    }
    Ok(vec![Row::of("read-committed", "CPU by read_uncommitted's", "×", &kafka, &barnabas, &[])])
}
