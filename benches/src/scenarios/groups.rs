//! What groups cost: commits, a large group that comes together, and a coordinator that starts with much to read.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::{Run, Scenario};
use crate::bench::Bench;
use crate::case::{Case, Per, Stage};
use crate::cpu::Cpu;
use crate::error::{Error, Result};
use crate::load::Outcome;
use crate::load::caller::Caller;
use crate::load::drive::{Plan, drive};
use crate::load::group::{Member, await_coordinators, commit};
use crate::load::topic::{self, Topic};
use crate::machine;
use crate::measure::as_f64;
use crate::table::Row;
use crate::target::{Server, Side};

pub const COMMITS: Scenario = Scenario {
    name: "group-commits",
    about: "commits of 50 partitions each, 8 connections with 2 in flight, a group for each",
    run: Run::Compare(Case {
        name: "group-commits",
        partitions: 50,
        fill: None,
        requests: 10_000,
        per: Per::Request("commit"),
        limits: &[],
        drive: commits,
    }),
};

pub const STABLE: Scenario = Scenario {
    name: "group-stable",
    about: "2,000 members of a consumer group on 4,000 partitions, from the first heartbeat until all have their shares; \
            and what 1,000 members take of memory",
    run: Run::Own(stable),
};

pub const LOADING: Scenario = Scenario {
    name: "group-loading",
    about: "a start with 10 million committed offsets in the log (100 groups, 1,000 partitions, 100 commits)",
    run: Run::Own(loading),
};

/// How often the members of a settled group report, as Kafka tells them by default.
const HEARTBEAT: Duration = Duration::from_secs(5);

fn commits(stage: &Stage) -> Result<Outcome> {
    let groups: Vec<String> = (0..8).map(|n| format!("{}-{n}", stage.topic.name)).collect();
    await_coordinators(stage.addr, &groups)?;
    let frames =
        groups.iter().map(|group| vec![commit(group, &stage.topic.name, stage.topic.partitions)]).collect();
    stage.drive(frames, 2)
}

/// A figure of Kafka's and one of ours, a round each.
#[derive(Default)]
struct Pair {
    kafka: Vec<Option<f64>>,
    barnabas: Vec<Option<f64>>,
}

impl Pair {
    fn push(&mut self, side: Side, value: f64) {
        let list = if side == Side::Kafka { &mut self.kafka } else { &mut self.barnabas };
        list.push(Some(value));
    }

    fn row(&self, scenario: &str, figure: &str, unit: &str) -> Row {
        Row::of(scenario, figure, unit, &self.kafka, &self.barnabas, &[])
    }
}

fn stable(bench: &mut Bench) -> Result<Vec<Row>> {
    bench.stop_brokers();
    let repeats = if bench.args.quick { 1 } else { 3 };
    let (members, partitions) = if bench.args.quick { (200, 400) } else { (2_000, 4_000) };
    let (mut seconds, mut cpu, mut memory) = (Pair::default(), Pair::default(), Pair::default());
    for _ in 0..repeats {
        for side in bench.startable() {
            let dir = bench.fresh_dir("group-stable");
            let server = bench.start(side, &dir)?;
            let small = topic::create(server.addr, "small", 1_000)?;
            let large = topic::create(server.addr, "large", partitions)?;
            await_coordinators(
                server.addr,
                &["warm-a", "warm-b", "warm-c", "small", "large"].map(str::to_owned),
            )?;
            // What is compiled and allocated once is not a group's.
            for warm in ["warm-a", "warm-b", "warm-c"] {
                gather(server.addr, warm, &small, 300)?;
            }
            let before = machine::resident(server.pid)?;
            gather(server.addr, "small", &small, 1_000)?;
            memory.push(side, as_f64(machine::resident(server.pid)?.saturating_sub(before)) / 1e6);
            machine::drain()?;
            let used = Cpu::of(server.pid)?;
            let took = gather(server.addr, "large", &large, members)?;
            cpu.push(side, Cpu::of(server.pid)?.since(&used).as_secs_f64());
            seconds.push(side, took.as_secs_f64());
            drop(server);
            machine::drain()?;
        }
    }
    Ok(vec![
        seconds.row("group-stable", "time until stable", "s"),
        cpu.row("group-stable", "broker CPU until stable", "s"),
        memory.row("group-stable", "memory of 1,000 members", "MB"),
    ])
}

/// Members join one after the other, confirm at once what they are told, and otherwise report when their time comes.
fn gather(addr: SocketAddr, group: &str, topic: &Topic, count: usize) -> Result<Duration> {
    let mut caller = Caller::connect(addr)?;
    let start = Instant::now();
    let patience = start + Duration::from_secs(600);
    let mut due: VecDeque<(Instant, Member)> = (0..count).map(|n| (start, Member::new(n))).collect();
    loop {
        let Some((at, mut member)) = due.pop_front() else { return Ok(start.elapsed()) };
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
        member.beat(&mut caller, group, topic)?;
        while member.has_news {
            member.beat(&mut caller, group, topic)?;
        }
        due.push_back((Instant::now() + HEARTBEAT, member));
        let epoch = due.front().map_or(0, |(_, member)| member.epoch);
        let all: usize = due.iter().map(|(_, member)| member.assigned.len()).sum();
        let whole = usize::try_from(topic.partitions).unwrap_or_default();
        if epoch > 0 && all == whole && due.iter().all(|(_, member)| member.epoch == epoch) {
            return Ok(start.elapsed());
        }
        if Instant::now() > patience {
            let what = format!("{count} members were to become stable");
            return Err(Error::Stalled { what, seconds: patience.duration_since(start).as_secs() });
        }
    }
}

fn loading(bench: &mut Bench) -> Result<Vec<Row>> {
    bench.stop_brokers();
    let repeats = if bench.args.quick { 1 } else { 3 };
    let requests = bench.scaled(10_000);
    let groups: Vec<String> = (0..100).map(|n| format!("group-{n}")).collect();
    let (mut seconds, mut cpu) = (Pair::default(), Pair::default());
    for side in bench.startable() {
        let dir = bench.fresh_dir("group-loading");
        let server = bench.start(side, &dir)?;
        fill(&server, &groups, requests)?;
        drop(server);
        for _ in 0..repeats {
            machine::drain()?;
            let server = bench.start(side, &dir)?;
            let answered = Instant::now();
            await_coordinators(server.addr, &groups)?;
            seconds.push(side, answered.elapsed().as_secs_f64());
            cpu.push(side, Cpu::of(server.pid)?.total().as_secs_f64());
            drop(server);
        }
    }
    let mut time = seconds.row("group-loading", "from the first answer until all groups answer", "s");
    time.note = format!("{} offsets", requests * 1_000);
    Ok(vec![time, cpu.row("group-loading", "broker CPU from exec until then", "s")])
}

fn fill(server: &Server, groups: &[String], requests: u64) -> Result<()> {
    let topic = topic::create(server.addr, "committed", 1_000)?;
    await_coordinators(server.addr, groups)?;
    // The groups by turns, on a few connections: their records lie mixed, as they do in life.
    let mut connections = vec![Vec::new(); 4];
    for (group, connection) in groups.iter().zip((0..4).cycle()) {
        if let Some(frames) = connections.get_mut(connection) {
            frames.push(commit(group, &topic.name, 1_000));
        }
    }
    drive(server.addr, Plan { connections, window: 1, requests })?;
    Ok(())
}
