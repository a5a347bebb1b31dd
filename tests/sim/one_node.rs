//! One broker, a few clients, crashes: what was acknowledged and synced is there, and a seed replays to the byte.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

use barnabas::broker::Doors;
use barnabas::clock::Clock;
use barnabas::disk::{Disk, MemoryDisk, OpenMode};
use barnabas::net::{Network, SimulatedNetwork};
use barnabas::rng::Rng;
use barnabas::spawn::Spawner;
use barnabas_protocol::Uuid;
use barnabas_protocol::batch::{Batches, Caps, Scratch};

use crate::support::{self, Client, Running};

/// 2026-01-01.
const START_MS: i64 = 1_767_225_600_000;
const PARTITIONS: i32 = 3;

struct World {
    seed: u64,
    rng: Rng,
    disk: MemoryDisk,
    clock: Clock,
    network: std::sync::Arc<SimulatedNetwork>,
    trace: DefaultHasher,
    settings: &'static [(&'static str, &'static str)],
}

impl World {
    fn new(seed: u64) -> World {
        let clock = Clock::simulated(START_MS);
        World {
            seed,
            rng: Rng::from_seed(seed),
            disk: MemoryDisk::new(clock.clone()),
            clock,
            network: SimulatedNetwork::new(),
            trace: DefaultHasher::new(),
            settings: &[],
        }
    }

    fn start(&self) -> Running {
        let doors = Doors {
            disk: self.disk.shared(),
            network: Network::Simulated(self.network.clone()),
            clock: self.clock.clone(),
            rng: Rng::from_seed(self.rng.next_u64()),
            spawner: Spawner::simulated(),
        };
        support::start_with(support::settings(Path::new("/data"), 0, self.settings), &doors)
    }

    fn note(&mut self, what: impl Hash) {
        self.clock.now().mono_ms.hash(&mut self.trace);
        what.hash(&mut self.trace);
    }
}

/// Produces one value; its offset.
async fn produce(client: &mut Client, topic_id: Uuid, index: i32, value: &[u8], now_ms: i64) -> i64 {
    let request = support::produce_request(topic_id, index, support::batch(now_ms, &[value]));
    let response = client.ask(13, &request).await;
    let partition = &response.responses[0].partition_responses[0];
    assert_eq!(partition.error_code, 0, "{response:?}");
    partition.base_offset
}

/// Every value of a partition, by offset.
pub async fn read_all(client: &mut Client, topic_id: Uuid, partition: i32) -> Vec<(i64, Vec<u8>)> {
    let mut values = Vec::new();
    loop {
        let next = values.last().map_or(0, |(offset, _)| offset + 1);
        let request = support::fetch_request(topic_id, partition, next);
        let response = client.ask(17, &request).await;
        let answer = &response.responses[0].partitions[0];
        assert_eq!(answer.error_code, 0, "{response:?}");
        let records = answer.records.clone().unwrap_or_default();
        if records.is_empty() {
            assert_eq!(answer.high_watermark, next, "a fetch below the end gives something");
            return values;
        }
        let mut scratch = Scratch::default();
        for batch in Batches::new(&records) {
            let batch = batch.expect("whole batches");
            batch.check_crc().expect("intact batches");
            let base = batch.header().base_offset;
            for record in batch.records(&mut scratch, Caps::default()).expect("records") {
                let record = record.expect("a record");
                let offset = record.offset(base);
                if offset >= next {
                    values.push((offset, record.value.unwrap_or_default().to_vec()));
                }
            }
        }
    }
}

/// A random life with an orderly stop in the middle; the trace of all that was seen.
async fn life(seed: u64) -> u64 {
    let mut world = World::new(seed);
    let mut broker = world.start();
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "sim", PARTITIONS).await;
    let mut model: Vec<Vec<Vec<u8>>> = vec![Vec::new(); PARTITIONS as usize];
    for step in 0..60_u64 {
        let index = usize::try_from(world.rng.below(PARTITIONS as u64)).expect("small");
        match world.rng.below(10) {
            0 => {
                let seen = read_all(&mut client, topic, index as i32).await;
                let expected: Vec<(i64, Vec<u8>)> = (0..).zip(model[index].iter().cloned()).collect();
                assert_eq!(seen, expected, "seed {}", world.seed);
                world.note(&seen);
            }
            1 => tokio::time::sleep(std::time::Duration::from_millis(world.rng.below(90_000))).await,
            2 if step % 7 == 0 => {
                broker.stop().await;
                broker = world.start();
                client = broker.connect().await;
            }
            _ => {
                let value = format!("{step}-{}", world.rng.below(1_000_000_000)).into_bytes();
                let now_ms = world.clock.now().wall_ms;
                let offset = produce(&mut client, topic, index as i32, &value, now_ms).await;
                assert_eq!(offset, model[index].len() as i64, "seed {}", world.seed);
                model[index].push(value);
                world.note(offset);
            }
        }
    }
    for (index, values) in model.iter().enumerate() {
        let seen = read_all(&mut client, topic, index as i32).await;
        assert_eq!(seen.len(), values.len(), "seed {}", world.seed);
        world.note(&seen);
    }
    broker.stop().await;
    world.note("stopped");
    world.trace.finish()
}

fn run(seed: u64) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(life(seed))
}

#[test]
fn what_was_acknowledged_is_read_back() {
    support::each_seed(50, |seed| {
        run(seed);
    });
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..5 {
        assert_eq!(run(seed), run(seed), "seed {seed} does not replay");
    }
    assert_ne!(run(1), run(2), "seeds make a difference");
}

#[tokio::test(start_paused = true)]
async fn a_log_that_lost_flushed_records_counts_nothing_as_flushed_that_comes_in_their_place() {
    let world = World { settings: &[("log.flush.interval.messages", "1")], ..World::new(1) };
    let broker = world.start();
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "sim", 1).await;
    for value in [b"a", b"b", b"c"] {
        produce(&mut client, topic, 0, value, world.clock.now().wall_ms).await;
    }
    let recovery_point = || {
        let checkpoint = world.disk.read(Path::new("/data/recovery-point-offset-checkpoint"));
        String::from_utf8_lossy(&checkpoint.expect("it is written")).into_owned()
    };
    tokio::time::sleep(std::time::Duration::from_secs(90)).await;
    assert_eq!(recovery_point(), "0\n1\nsim 0 3\n");
    world.disk.fail_after(Some(0));
    broker.stop().await;
    world.disk.fail_after(None);
    world.disk.crash(&world.rng);
    let log = Path::new("/data/sim-0/00000000000000000000.log");
    let size = world.disk.read(log).expect("it is there").len() as u64;
    let file = world.disk.open(log, OpenMode::Write).expect("it is there");
    file.write_at(size - 1, b"!").expect("the disk is sound");
    file.sync_data().expect("the disk is sound");
    let broker = world.start();
    assert_eq!(recovery_point(), "0\n1\nsim 0 2\n");
    broker.stop().await;
}
