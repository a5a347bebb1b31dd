//! Three voters in one thread, from one seed: killed, cut off and paused, on disks that lose what was not flushed.
//! Controllers agree on what is committed, an epoch has one leader, what was answered stays, and all of them recover.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};

use barnabas_protocol::messages::QuorumRequest;
use barnabas_protocol::messages::records::metadata::TopicRecord;
use openraft::async_runtime::WatchReceiver;
use parking_lot::Mutex;

use super::network::Reach;
use super::quorum_log::{QuorumLog, Setup};
use super::runtime::Runtime;
use crate::clock::Clock;
use crate::controller::error::ControllerError;
use crate::controller::leadership::Leadership;
use crate::controller::metadata::{Loader, Metadata};
use crate::controller::metadata_log::voters::{Voter, Voters};
use crate::controller::metadata_log::{LogEvents, MetadataLog, Opening, Position};
use crate::controller::record::{self, Record};
use crate::controller::state::Hard;
use crate::disk::MemoryDisk;
use crate::ids::Uuid;
use crate::rng::Rng;
use crate::spawn::Spawner;

const NODES: [i32; 3] = [1, 2, 3];

/// What everybody must agree on.
#[derive(Default)]
struct Truth {
    /// By last offset: the epoch, and the records as they are written.
    committed: BTreeMap<i64, (i32, Vec<Vec<u8>>)>,
    leaders: BTreeMap<i32, i32>,
    /// Topics whose creation was answered.
    answered: BTreeSet<String>,
}

impl Truth {
    fn commit(&mut self, at: Position, records: &[Record]) {
        let bytes: Vec<Vec<u8>> = records.iter().map(record::to_bytes).collect();
        let before = self.committed.insert(at.offset, (at.epoch, bytes.clone()));
        assert!(before.is_none_or(|before| before == (at.epoch, bytes)), "two truths at {at:?}");
    }
}

/// A driver that makes topics while it leads.
struct Driver {
    node: i32,
    truth: Arc<Mutex<Truth>>,
    log: OnceLock<QuorumLog>,
    metadata: Metadata,
    state: Mutex<State>,
}

struct State {
    loader: Loader,
    leading: Option<i32>,
    ahead: Vec<(Position, Vec<Record>)>,
}

impl Driver {
    fn create(&self, name: &str, id: Uuid, now: crate::clock::Now) {
        let mut state = self.state.lock();
        let Some(epoch) = state.leading else { return };
        let records: Vec<Record> = vec![TopicRecord { name: name.to_owned(), topic_id: id }.into()];
        match self.log.get().unwrap().append(epoch, &records, now) {
            Ok(at) => state.ahead.push((at, records)),
            Err(ControllerError::NotLeader | ControllerError::Closed) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

impl LogEvents for Driver {
    fn leading(&self, epoch: i32) -> Result<(), ControllerError> {
        let before = self.truth.lock().leaders.insert(epoch, self.node);
        assert!(before.is_none_or(|before| before == self.node), "two leaders in epoch {epoch}");
        let mut state = self.state.lock();
        assert!(state.ahead.is_empty());
        state.leading = Some(epoch);
        Ok(())
    }

    fn following(&self, _epoch: i32, _leader: Option<i32>) {
        let mut state = self.state.lock();
        state.leading = None;
        state.ahead.clear();
    }

    fn own_committed(&self, up_to: i64) {
        let mut state = self.state.lock();
        while state.ahead.first().is_some_and(|(at, _)| at.offset <= up_to) {
            let (at, records) = state.ahead.remove(0);
            let mut truth = self.truth.lock();
            truth.commit(at, &records);
            for record in &records {
                if let Record::Topic(topic) = record {
                    truth.answered.insert(topic.name.clone());
                }
            }
            drop(truth);
            state.loader.take(at, &records).unwrap();
        }
    }

    fn committed(&self, at: Position, records: &[Record]) {
        self.truth.lock().commit(at, records);
        self.state.lock().loader.take(at, records).unwrap();
    }

    fn restored(&self, hard: Hard) {
        self.state.lock().loader.restore(hard);
    }

    fn failed(&self, error: &ControllerError) {
        panic!("node {} failed: {error}", self.node);
    }
}

/// Which ways are cut, and who is there to answer.
#[derive(Default)]
struct Wires {
    up: BTreeMap<i32, QuorumLog>,
    cut: BTreeSet<(i32, i32)>,
    slow_ms: u64,
}

struct World {
    clock: Clock,
    rng: Rng,
    truth: Arc<Mutex<Truth>>,
    wires: Arc<Mutex<Wires>>,
    disks: BTreeMap<i32, MemoryDisk>,
    drivers: BTreeMap<i32, Arc<Driver>>,
}

impl World {
    fn new(seed: u64) -> World {
        let rng = Rng::from_seed(seed);
        Runtime::set_dice(&rng);
        let clock = Clock::simulated(1_700_000_000_000);
        let disk = |id| {
            let disk = MemoryDisk::new(clock.clone());
            disk.shared().create_dir(Path::new("/data")).unwrap();
            disk.shared().sync_dir(Path::new("/")).unwrap();
            (id, disk)
        };
        let disks = NODES.into_iter().map(disk).collect();
        let mut world = World {
            clock,
            rng,
            truth: Arc::default(),
            wires: Arc::default(),
            disks,
            drivers: BTreeMap::new(),
        };
        NODES.into_iter().for_each(|node| world.start(node));
        world
    }

    fn start(&mut self, node: i32) {
        let opening = Opening {
            disk: self.disks[&node].shared(),
            dir: "/data".into(),
            node,
            cluster_id: "cluster".to_owned(),
            clean: false,
            log_dirs: Vec::new(),
            fresh: true,
            segment_bytes: 1 << 14,
            hash_seed: 1,
        };
        let fixed = Voters::all_of(NODES.map(|id| (id, Voter::default())));
        let metadata = |hard: &Hard| Metadata::new(hard.image.clone());
        let spawner = Spawner::simulated();
        let opened = super::open(&opening, Some(fixed), metadata, &self.clock, spawner).unwrap();
        let metadata = opened.metadata.clone();
        let setup = Setup {
            node,
            cluster_id: "cluster".to_owned(),
            reach: self.reach(node),
            leadership: Leadership::new(Vec::new(), Vec::new()),
            fetch_timeout_ms: 2000,
            spawner,
        };
        let log = QuorumLog::new(setup, &opened);
        let loader = Loader::new(opened.hard, metadata.clone());
        let state = Mutex::new(State { loader, leading: None, ahead: Vec::new() });
        let truth = self.truth.clone();
        let driver = Arc::new(Driver { node, truth, log: OnceLock::new(), metadata, state });
        assert!(driver.log.set(log.clone()).is_ok());
        let events: Weak<Driver> = Arc::downgrade(&driver);
        log.begin(events).unwrap();
        self.wires.lock().up.insert(node, log);
        self.drivers.insert(node, driver);
    }

    fn reach(&self, from: i32) -> Reach {
        let (wires, clock, rng) = (self.wires.clone(), self.clock.clone(), self.rng.clone());
        Reach::Direct(Arc::new(move |request: QuorumRequest| {
            let (wires, clock, rng) = (wires.clone(), clock.clone(), rng.clone());
            Box::pin(async move {
                let to = request.to;
                let pass = |way: (i32, i32)| {
                    let wires = wires.lock();
                    let there = wires.up.contains_key(&from) && wires.up.contains_key(&to);
                    (there && !wires.cut.contains(&way)).then_some(wires.slow_ms)
                };
                let slow_ms = pass((from, to))?;
                let delay_ms = 1 + rng.below(5 + slow_ms);
                clock.sleep_until(clock.now().mono_ms + delay_ms).await;
                let log = wires.lock().up.get(&to).cloned()?;
                let answer = log.answer(request).await;
                clock.sleep_until(clock.now().mono_ms + 1 + rng.below(5)).await;
                pass((to, from)).map(|_| answer)
            })
        }))
    }

    async fn kill(&mut self, node: i32) {
        let Some(log) = self.wires.lock().up.remove(&node) else { return };
        let driver = self.drivers.remove(&node);
        drop(driver);
        if let Some(raft) = log.node() {
            log.close().unwrap();
            drop(raft.shutdown().await);
        }
        self.disks[&node].crash(&self.rng);
    }

    async fn wait(&self, ms: u64) {
        self.clock.sleep_until(self.clock.now().mono_ms + ms).await;
    }

    fn create_everywhere(&self, name: &str) {
        for driver in self.drivers.values() {
            driver.create(&format!("{name}-{}", driver.node), self.rng.uuid(), self.clock.now());
        }
    }

    async fn step(&mut self, step: u64) {
        let node = NODES[usize::try_from(self.rng.below(3)).unwrap()];
        match self.rng.below(12) {
            0 => self.kill(node).await,
            1 | 2 if self.drivers.contains_key(&node) => {}
            1 | 2 => self.start(node),
            3 => {
                let other = NODES[usize::try_from(self.rng.below(3)).unwrap()];
                self.wires.lock().cut.insert((node, other));
            }
            4 => self
                .wires
                .lock()
                .cut
                .extend(NODES.into_iter().flat_map(|other| [(node, other), (other, node)])),
            5 | 6 => self.wires.lock().cut.clear(),
            7 => self.wires.lock().slow_ms = self.rng.below(3) * 400,
            8 => {
                if let Some(driver) = self.drivers.get(&node) {
                    let image = driver.metadata.image();
                    driver.log.get().unwrap().snapshot(&image, self.clock.now()).unwrap();
                }
            }
            _ => {}
        }
        for n in 0..self.rng.below(5) {
            self.create_everywhere(&format!("s{step}-{n}"));
            self.wait(self.rng.below(50)).await;
        }
        self.wait(self.rng.below(1500)).await;
    }

    async fn recover(&mut self) {
        {
            let mut wires = self.wires.lock();
            wires.cut.clear();
            wires.slow_ms = 0;
        }
        for node in NODES {
            if !self.drivers.contains_key(&node) {
                self.start(node);
            }
        }
        for attempt in 0..60 {
            self.create_everywhere(&format!("last{attempt}"));
            self.wait(500).await;
            let truth = self.truth.lock();
            let last = truth.answered.iter().any(|name| name.starts_with("last"));
            let complete = |driver: &Arc<Driver>| {
                let image = driver.metadata.image();
                truth.answered.iter().all(|name| image.topic(name).is_some())
            };
            if last && self.drivers.values().all(complete) {
                return;
            }
        }
        for (node, driver) in &self.drivers {
            let log = driver.log.get().unwrap();
            let metrics = log.node().map(|node| node.metrics().borrow_watched().to_string());
            let (end, image) = (log.log().end_offset(), driver.metadata.image().offset());
            println!("node {node}: log ends at {end}, image at {image}, {metrics:?}");
        }
        let truth = self.truth.lock();
        println!(
            "leaders {:?}, {} answered, {:?}",
            truth.leaders,
            truth.answered.len(),
            truth.committed.keys().last()
        );
        panic!("not recovered after 30 s without faults");
    }
}

async fn run(seed: u64) -> (usize, i64) {
    let mut world = World::new(seed);
    world.wait(3000).await;
    for step in 0..25 {
        world.step(step).await;
    }
    world.recover().await;
    let truth = world.truth.lock();
    (truth.answered.len(), truth.committed.keys().last().copied().unwrap_or_default())
}

fn simulate(seed: u64) -> (usize, i64) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(run(seed))
}

#[test]
fn voters_agree_and_recover_whatever_happens() {
    let seeds = std::env::var("BARNABAS_SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(20);
    for seed in 0..seeds {
        println!("BARNABAS_SEED={seed}");
        let (answered, _) = simulate(seed);
        assert!(answered > 0);
    }
}
