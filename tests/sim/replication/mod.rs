//! Partitions on three brokers, under a controller that follows a script: brokers stop, are killed, lose power, pause, are
//! slow, cut off (one-way, too) or hard to reach, and their disks fail. What was acknowledged with acks=all stays,
//! consumers see no offset change, whoever is in sync has everything that is committed, and after the last fault all is
//! well again within bounded time.

mod acked_survives;
mod committed;
mod consumer_sees_no_change;
mod controller;
mod in_sync_has_all;
mod links;
mod logs_agree;
mod node;
mod one_leader;
mod server;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use barnabas::clock::Clock;
use barnabas::net::SimulatedNetwork;
use barnabas::partition::{Acks, Partition};
use barnabas::rng::Rng;
use barnabas_protocol::batch::{Caps, Origin, RawBatch, Rules, Scratch, TimestampRule};

use self::acked_survives::Acked;
use self::committed::Committed;
use self::consumer_sees_no_change::Consumer;
use self::controller::Controller;
use self::links::Links;
use self::node::{Manner, Node};
use self::one_leader::Leaders;
use crate::support;

const NODES: [i32; 3] = [1, 2, 3];
const PARTITIONS: i32 = 2;
/// Of simulated time, ms.
const TICK_MS: u64 = 50;
const FAULTY_TICKS: u64 = 200;
/// After the last fault everything must be in sync again within so many ticks: sessions, backoffs and lag times add up.
const RECOVERY_TICKS: u64 = 400;

/// An append whose fate is not known yet.
struct Pending {
    partition: Arc<Partition>,
    index: i32,
    epoch: i32,
    last_offset: i64,
    value: String,
}

struct World {
    seed: u64,
    rng: Rng,
    clock: Clock,
    links: Arc<Links>,
    controller: Arc<Controller>,
    nodes: Vec<Node>,
    pending: Vec<Pending>,
    acked: Acked,
    consumer: Consumer,
    committed: Committed,
    leaders: Leaders,
    written: u64,
    manner: Manner,
    trace: DefaultHasher,
}

impl World {
    fn new(seed: u64) -> World {
        let (rng, clock) = (Rng::from_seed(seed), Clock::simulated(1_000_000));
        let links = Arc::new(Links::new(Rng::from_seed(rng.next_u64())));
        let manner = Manner { flushes: rng.below(3) == 0, deletes: rng.below(3) == 0 };
        let controller = Controller::new(PARTITIONS, links.clone());
        let network = SimulatedNetwork::new();
        let node = |id| Node::new(id, &network, &clock, &rng, (&links, &controller), manner);
        let nodes = NODES.into_iter().map(node).collect();
        World {
            seed,
            rng,
            clock,
            links,
            controller,
            nodes,
            pending: Vec::new(),
            acked: Acked::default(),
            consumer: Consumer::default(),
            committed: Committed::default(),
            leaders: Leaders::default(),
            written: 0,
            manner,
            trace: DefaultHasher::new(),
        }
    }

    fn chance(&self, of: u64) -> bool {
        self.rng.below(of) == 0
    }

    fn any_node(&self) -> usize {
        self.rng.below(self.nodes.len() as u64) as usize
    }

    /// Writes to a broker that believes to lead, which may be wrong.
    fn produce(&mut self) {
        let index = self.rng.below(PARTITIONS as u64) as i32;
        let at = self.any_node();
        let Some(partition) = self.nodes[at].partition(index) else { return };
        let Ok(epoch) = partition.leader_epoch() else { return };
        self.written += 1;
        let value = format!("v{}", self.written);
        let mut bytes = support::batch(self.clock.now().wall_ms, &[value.as_bytes()]);
        let rules = Rules {
            origin: Origin::Client,
            max_bytes: 1 << 20,
            compacted: false,
            timestamps: TimestampRule::Create { before_max_ms: i64::MAX, after_max_ms: i64::MAX },
            now_ms: self.clock.now().wall_ms,
            caps: Caps::default(),
            codec: None,
        };
        let batch = RawBatch::sole(&mut bytes, true).expect("a batch");
        let batch = batch.validate(&rules, &mut Scratch::default()).expect("a good batch");
        // Refused: the client knows that nothing was written.
        let Ok(appended) = partition.append(batch, Origin::Client, Acks::All, self.clock.now()) else {
            return;
        };
        self.pending.push(Pending { partition, index, epoch, last_offset: appended.last_offset, value });
    }

    /// What a broker would answer to those who wait.
    fn answer(&mut self) {
        let acked = &mut self.acked;
        self.pending.retain(|pending| {
            if pending.partition.leader_epoch().ok() != Some(pending.epoch) {
                return false;
            }
            if pending.partition.high_watermark() <= pending.last_offset {
                return true;
            }
            if pending.partition.check_committed().is_ok() {
                acked.note(pending.index, pending.last_offset, &pending.value);
            }
            false
        });
    }

    /// The controller hears at once that a broker has gone, or has to find out.
    fn gone(&mut self, id: i32, silently: bool) {
        if !silently {
            self.controller.left(id);
        }
    }

    fn cut_power(&mut self, at: usize) {
        let id = self.nodes[at].id();
        // Unflushed, it is lost only where another replica is in sync with everything that was acknowledged, and nobody
        // may count on this one any more.
        if self.manner.flushes || self.controller.others_in_sync(id) {
            self.nodes[at].kill(true);
            self.gone(id, self.manner.flushes && self.chance(2));
        }
    }

    fn fault(&mut self) {
        let at = self.any_node();
        let id = self.nodes[at].id();
        match self.rng.below(17) {
            0 => {
                self.nodes[at].kill(false);
                self.gone(id, self.chance(2));
            }
            1 => self.cut_power(at),
            2 if self.manner.flushes && self.chance(3) => {
                (0..self.nodes.len()).for_each(|at| self.cut_power(at));
            }
            3 => {
                self.nodes[at].stop();
                self.gone(id, false);
            }
            4..=6 => self.nodes.iter_mut().for_each(Node::start),
            7 => {
                let other = NODES[self.any_node()];
                self.links.cut(id, other);
                if self.chance(2) {
                    self.links.cut(other, id);
                }
            }
            8 => self.links.cut_off(id, &NODES),
            9 => self.links.cut_controller(id),
            10 => self.links.slow(id, self.rng.below(800)),
            11 => self.links.flaky(id, 5 + self.rng.below(40)),
            12 => self.links.pause(id),
            13 => self.links.go_on(),
            14 => self.nodes[at].break_disk(),
            _ => self.links.heal(),
        }
    }

    fn bury_the_failed(&mut self) {
        for at in 0..self.nodes.len() {
            if self.nodes[at].has_failed() {
                self.nodes[at].kill(false);
                self.gone(self.nodes[at].id(), self.chance(2));
            }
        }
    }

    fn tick(&mut self) {
        for _ in 0..self.rng.below(4) {
            self.produce();
        }
        self.bury_the_failed();
        self.controller.tick(self.clock.now().mono_ms);
        for node in &mut self.nodes {
            node.follow(&self.controller);
        }
        self.answer();
        for node in &self.nodes {
            self.leaders.look(self.seed, node, PARTITIONS);
            self.committed.look(self.seed, node, PARTITIONS);
            self.consumer.read(self.seed, node, PARTITIONS);
        }
        in_sync_has_all::check(self.seed, &self.controller, &self.nodes, &self.committed);
        (self.acked.count(), self.controller.describe()).hash(&mut self.trace);
    }

    /// What happened, as a number.
    async fn run(mut self) -> u64 {
        for _ in 0..FAULTY_TICKS {
            if self.chance(8) {
                self.fault();
            }
            self.tick();
            tokio::time::sleep(Duration::from_millis(TICK_MS)).await;
        }
        self.links.heal();
        self.nodes.iter().for_each(Node::mend_disk);
        let mut quiet = 0;
        for _ in 0..RECOVERY_TICKS {
            self.tick();
            self.nodes.iter_mut().for_each(Node::start);
            tokio::time::sleep(Duration::from_millis(TICK_MS)).await;
            quiet = if self.controller.all_in_sync(&NODES) { quiet + 1 } else { 0 };
            if quiet > 20 {
                break;
            }
        }
        assert!(quiet > 20, "seed {}: not all in sync: {}", self.seed, self.controller.describe());
        let before = self.acked.count();
        for _ in 0..20 {
            self.tick();
            tokio::time::sleep(Duration::from_millis(TICK_MS)).await;
        }
        assert!(self.acked.count() > before, "seed {}: nothing is acknowledged any more", self.seed);
        logs_agree::check(self.seed, &self.nodes, PARTITIONS);
        self.acked.check(self.seed, &self.nodes);
        self.nodes.iter_mut().for_each(|node| node.kill(false));
        self.trace.finish()
    }
}

fn simulate(seed: u64) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async { World::new(seed).run().await })
}

#[test]
fn what_was_acknowledged_survives_any_one_broker() {
    support::each_seed(200, |seed| {
        simulate(seed);
    });
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..3 {
        assert_eq!(simulate(seed), simulate(seed), "seed {seed} does not replay");
    }
    assert_ne!(simulate(1), simulate(2), "seeds make a difference");
}
