//! A broker's partitions and fetchers on a disk of its own, and a server that answers followers.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use barnabas::clock::Clock;
use barnabas::config::{Config, Origin, Properties};
use barnabas::controller::ControllerError;
use barnabas::controller::{Delta, Image, Loader, Subscriber};
use barnabas::disk::{Disk, MemoryDisk};
use barnabas::ids::Uuid;
use barnabas::net::{Network, SimulatedNetwork, SocketOptions};
use barnabas::partition::{Doors, LogDir, Partition, Partitions, Schedule, Settings};
use barnabas::peer::Peers;
use barnabas::replication::{Asked, FetchSettings, Fetchers, IsrController, propose, watch_lag};
use barnabas::rng::Rng;
use barnabas::shutdown::{Trigger, channel};
use barnabas::spawn::Spawner;
use barnabas_protocol::batch::{Batches, Caps, Scratch};
use barnabas_protocol::messages::AlterPartitionRequest;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::controller::{CLUSTER, Controller, TOPIC, empty, position};
use super::links::Links;
use super::server::Server;

const LAG_MS: u64 = 1000;
/// Logs are looked after often: what a minute brings elsewhere is to happen here.
const CHORES: Schedule = Schedule {
    initial_delay: 0,
    retention: 1000,
    checkpoints: 700,
    high_watermarks: 500,
    producers: 10_000,
    flush: 300,
};

/// How the brokers of a world are set.
#[derive(Clone, Copy)]
pub struct Manner {
    /// What is acknowledged has been flushed by all that are in sync: all of them may lose power at once.
    pub flushes: bool,
    /// Old segments are deleted.
    pub deletes: bool,
}

pub fn port(id: i32) -> u16 {
    9000 + id as u16
}

struct Alive {
    /// The directory has failed.
    failed: mpsc::UnboundedReceiver<PathBuf>,
    partitions: Arc<Partitions>,
    fetchers: Arc<Fetchers>,
    loader: Loader,
    applied: usize,
    _stop: Trigger,
    tasks: Vec<JoinHandle<()>>,
}

/// See the module.
pub struct Node {
    id: i32,
    disk: MemoryDisk,
    network: Arc<SimulatedNetwork>,
    clock: Clock,
    rng: Rng,
    links: Arc<Links>,
    controller: Arc<Controller>,
    manner: Manner,
    /// The last process has closed its logs.
    clean: bool,
    alive: Option<Alive>,
    /// Tasks of the last process, which has its port until they are gone.
    ending: Vec<JoinHandle<()>>,
}

struct Follow {
    partitions: Arc<Partitions>,
    fetchers: Arc<Fetchers>,
}

impl Subscriber for Follow {
    fn changed(&self, _old: &Image, new: &Arc<Image>, delta: &Delta) {
        self.partitions.apply(new, delta);
        self.fetchers.apply(new, delta);
    }

    fn failed(&self, error: &ControllerError) {
        panic!("{error}");
    }
}

struct ToController(Arc<Controller>, i32);

impl IsrController for ToController {
    fn alter_partition(&self, request: AlterPartitionRequest) -> Asked {
        let answer = self.0.alter(&request).ok_or_else(|| "cut off".to_owned());
        Box::pin(async move { answer })
    }

    fn broker_epoch(&self) -> i64 {
        self.0.epoch_of(self.1)
    }
}

fn config(id: i32, manner: Manner) -> Config {
    let mut properties = Properties::default();
    let id = id.to_string();
    let settings = [
        ("node.id", id.as_str()),
        ("listeners", "PLAINTEXT://127.0.0.1:0"),
        ("log.dirs", "/data"),
        ("replica.lag.time.max.ms", "1000"),
        ("min.insync.replicas", "2"),
        // Short, so that segments are sealed and flushed.
        ("log.roll.ms", "3000"),
        ("log.flush.interval.messages", if manner.flushes { "1" } else { "9223372036854775807" }),
        ("log.retention.bytes", if manner.deletes { "3000" } else { "-1" }),
        ("log.segment.delete.delay.ms", "500"),
    ];
    for (key, value) in settings {
        properties.set(key, value, Origin::BuiltIn);
    }
    Config::load(&properties).expect("good settings").0
}

impl Node {
    pub fn new(
        id: i32,
        network: &Arc<SimulatedNetwork>,
        clock: &Clock,
        rng: &Rng,
        (links, controller): (&Arc<Links>, &Arc<Controller>),
        manner: Manner,
    ) -> Node {
        let disk = MemoryDisk::new(clock.clone());
        disk.create_dir(Path::new("/data")).expect("an empty disk");
        disk.sync_dir(Path::new("/")).expect("formatted");
        let mut node = Node {
            id,
            disk,
            network: network.clone(),
            clock: clock.clone(),
            rng: Rng::from_seed(rng.next_u64()),
            links: links.clone(),
            controller: controller.clone(),
            manner,
            clean: false,
            alive: None,
            ending: Vec::new(),
        };
        node.start();
        node
    }

    pub fn id(&self) -> i32 {
        self.id
    }

    pub fn partition(&self, index: i32) -> Option<Arc<Partition>> {
        self.alive.as_ref()?.partitions.partition(TOPIC, index).ok()
    }

    pub fn is_alive(&self) -> bool {
        self.alive.is_some()
    }

    /// Ends the process; with the power gone, too, what was not synced may be lost.
    pub fn kill(&mut self, power: bool) {
        let Some(alive) = self.alive.take() else { return };
        alive.fetchers.stop();
        alive.tasks.iter().for_each(JoinHandle::abort);
        self.ending = alive.tasks;
        self.disk.fail_after(None);
        if power {
            self.disk.crash(&self.rng);
        } else {
            self.disk.end_process();
        }
    }

    /// Ends the process in order.
    pub fn stop(&mut self) {
        let Some(alive) = &self.alive else { return };
        alive.fetchers.stop();
        alive.partitions.close(1);
        self.clean = alive.partitions.partitions().iter().all(|partition| partition.dir().is_online());
        self.kill(false);
    }

    /// Lets the disk fail soon, which ends the process.
    pub fn break_disk(&self) {
        if self.is_alive() {
            self.disk.fail_after(Some(self.rng.below(40)));
        }
    }

    /// The disk works again.
    pub fn mend_disk(&self) {
        self.disk.fail_after(None);
    }

    /// Has the disk failed?
    pub fn has_failed(&mut self) -> bool {
        self.alive.as_mut().is_some_and(|alive| alive.failed.try_recv().is_ok())
    }

    /// Starts it, if it does not run and reaches the controller.
    pub fn start(&mut self) {
        let ended = self.ending.iter().all(JoinHandle::is_finished);
        if self.alive.is_some() || !ended || !self.links.reaches_controller(self.id) {
            return;
        }
        let config = Arc::new(config(self.id, self.manner));
        let (failures, failed) = mpsc::unbounded_channel();
        let dir = LogDir::new(PathBuf::from("/data"), Uuid([self.id as u8; 16]), failures);
        let spawner = Spawner::simulated();
        let partitions = Arc::new(Partitions::new(
            Settings { node_id: self.id, config, recovery_threads_per_dir: 1 },
            Doors { disk: self.disk.shared(), clock: self.clock.clone(), rng: self.rng.clone(), spawner },
            vec![dir],
        ));
        let network = Network::Simulated(self.network.clone());
        let peers = Peers::new(network.clone(), spawner, self.clock.clone(), self.rng.clone(), "sim");
        let to_controller = Arc::new(ToController(self.controller.clone(), self.id));
        let settings = FetchSettings {
            node: self.id,
            listener: "PLAINTEXT".to_owned(),
            cluster_id: CLUSTER.to_owned(),
            fetchers: 1,
            wait_max_ms: 200,
            min_bytes: 1,
            partition_max_bytes: 4096,
            response_max_bytes: 8192,
            backoff_ms: 100,
            timeout_ms: 500,
        };
        let epoch = to_controller.clone();
        let broker_epoch = Arc::new(move || epoch.broker_epoch());
        let fetchers =
            Fetchers::new(settings, partitions.clone(), peers, self.clock.clone(), spawner, broker_epoch);
        self.controller.registered(self.id, self.clock.now().mono_ms);
        let (metadata, mut loader) = empty();
        let log = self.controller.since(0);
        for (offset, records) in log.iter().enumerate() {
            loader.take(position(offset), records).expect("good records");
        }
        let follow = Follow { partitions: partitions.clone(), fetchers: fetchers.clone() };
        let clean = std::mem::take(&mut self.clean);
        metadata.subscribe(Arc::new(follow), |image| partitions.load(image, &[clean]));
        let (stop, shutdown) = channel();
        let proposals = partitions.take_proposals().expect("nobody took them");
        let address = SocketAddr::from(([127, 0, 0, 1], port(self.id)));
        let listener = network.listen(address, SocketOptions::default()).expect("the port is free");
        let server = Server {
            id: self.id,
            partitions: partitions.clone(),
            links: self.links.clone(),
            clock: self.clock.clone(),
        };
        let tasks = vec![
            tokio::spawn(propose(self.id, proposals, to_controller, self.clock.clone(), shutdown.clone())),
            tokio::spawn(watch_lag(partitions.clone(), LAG_MS, self.clock.clone(), shutdown.clone())),
            tokio::spawn(partitions.clone().maintain(CHORES, shutdown)),
            tokio::spawn(server.accept(listener)),
        ];
        self.alive =
            Some(Alive { failed, partitions, fetchers, loader, applied: log.len(), _stop: stop, tasks });
    }

    /// Takes what the controller has decided, if it is reached.
    pub fn follow(&mut self, controller: &Controller) {
        let Some(alive) = &mut self.alive else { return };
        if !self.links.reaches_controller(self.id) {
            return;
        }
        controller.heard(self.id, self.clock.now().mono_ms);
        // Sometimes late.
        if self.rng.below(3) == 0 {
            return;
        }
        for records in controller.since(alive.applied) {
            alive.loader.take(position(alive.applied), &records).expect("good records");
            alive.applied += 1;
        }
    }

    fn bytes(&self, index: i32, mut from: i64, below: i64) -> Vec<u8> {
        let Some(partition) = self.partition(index) else { return Vec::new() };
        let mut bytes = Vec::new();
        while from < below {
            let slice = partition.log().read(from, 1 << 20, true, below).expect("it is there");
            let read = slice.chunk.load().expect("its files are there");
            let Some(last) = Batches::new(&read).filter_map(Result::ok).last() else { break };
            from = last.header().next_offset();
            bytes.extend_from_slice(&read);
        }
        bytes
    }

    /// First offset, epoch and checksum of each batch between two offsets.
    pub fn batches(&self, index: i32, from: i64, below: i64) -> Vec<(i64, i32, u32)> {
        let bytes = self.bytes(index, from, below);
        let batches = Batches::new(&bytes).map(|batch| *batch.expect("a good batch").header());
        batches.map(|header| (header.base_offset, header.leader_epoch, header.crc)).collect()
    }

    /// The value at an offset.
    pub fn value(&self, index: i32, offset: i64) -> Option<String> {
        let partition = self.partition(index)?;
        let slice = partition.log().read(offset, 1, true, offset + 1).ok()?;
        let records = records_of(&slice.chunk.load().ok()?);
        records.into_iter().find(|(at, _)| *at == offset).map(|(_, value)| value)
    }
}

/// Offsets and values.
pub fn records_of(bytes: &[u8]) -> Vec<(i64, String)> {
    let mut found = Vec::new();
    for batch in Batches::new(bytes) {
        let batch = batch.expect("a good batch");
        let mut scratch = Scratch::default();
        let records = batch.records(&mut scratch, Caps::default()).expect("records");
        for record in records {
            let record = record.expect("a record");
            let value = String::from_utf8_lossy(record.value.unwrap_or_default()).into_owned();
            found.push((batch.header().base_offset + i64::from(record.offset_delta), value));
        }
    }
    found
}
