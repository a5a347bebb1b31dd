//! Clients that work at once, over a network that loses, repeats and delays requests and loses answers, on a broker that
//! crashes at any call of its disk, and with transactions that time out. Each transaction is there as a whole or not at
//! all, an old epoch never writes, readers never see what is aborted, and nothing stays open.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use barnabas::broker::Doors;
use barnabas::clock::Clock;
use barnabas::disk::MemoryDisk;
use barnabas::net::{Network, SimulatedNetwork};
use barnabas::rng::Rng;
use barnabas::spawn::Spawner;
use barnabas_protocol::Uuid;
use barnabas_protocol::batch::BatchBuilder;
use barnabas_protocol::messages::txn_offset_commit::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use barnabas_protocol::messages::{EndTxnRequest, InitProducerIdRequest, Request, TxnOffsetCommitRequest};
use tokio::time::sleep;

use crate::support::{self, Client, Running};
use crate::transactions::{Known, Outcome, PARTITIONS, SETTINGS, TOPIC, check, init, read_committed, ready};

const IDS: [&str; 3] = ["x", "y", "z"];
const CRASHES: u64 = 3;
const TIMEOUT_MS: u64 = 4_000;
/// How often a client asks again, and how long it waits before.
const TRIES: usize = 150;
const PAUSE: Duration = Duration::from_millis(100);

/// What clients of one world share.
struct World {
    seed: u64,
    network: Network,
    clock: Clock,
    topic: Uuid,
    /// Where the broker listens, while it runs.
    address: Mutex<Option<SocketAddr>>,
    known: Mutex<Vec<Known>>,
    seen: Mutex<BTreeSet<(i32, String)>>,
    over: AtomicBool,
}

impl World {
    async fn dial(&self) -> Option<Client> {
        let address = *self.address.lock().expect("no panic");
        support::dial(&self.network, address?).await
    }

    fn over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Known)) {
        let mut known = self.known.lock().expect("no panic");
        change(known.iter_mut().rev().find(|known| known.id == id).expect("one was begun"));
    }
}

/// A client's way to the broker.
struct Wire {
    world: Arc<World>,
    rng: Rng,
    client: Option<Client>,
}

impl Wire {
    /// One try: no answer may come, although the request was worked on or will be. `copies` may arrive much later.
    async fn attempt<R>(&mut self, version: i16, request: &R, copies: bool) -> Option<R::Response>
    where
        R: Request + Clone + Send + Sync + 'static,
        R::Response: Send,
    {
        let fate = self.rng.below(16);
        if fate == 0 {
            return None;
        }
        if fate <= 2 && copies {
            let (world, request) = (self.world.clone(), request.clone());
            let late = Duration::from_millis(self.rng.below(2 * TIMEOUT_MS));
            tokio::spawn(async move {
                sleep(late).await;
                if let Some(mut client) = world.dial().await {
                    let _nobody_waits = client.try_ask(version, &request).await;
                }
            });
            if fate == 2 {
                return None;
            }
        }
        if self.client.is_none() {
            self.client = self.world.dial().await;
        }
        let answer = self.client.as_mut()?.try_ask(version, request).await;
        if answer.is_none() || fate == 3 {
            // The answer is lost with its connection.
            self.client = None;
            return None;
        }
        answer
    }

    /// Asks again until there is an answer that stays; `None` if there never is.
    async fn ask<R>(
        &mut self,
        version: i16,
        request: &R,
        copies: bool,
        code: impl Fn(&R::Response) -> i16,
    ) -> Option<R::Response>
    where
        R: Request + Clone + Send + Sync + 'static,
        R::Response: Send,
    {
        for _ in 0..TRIES {
            let answer = self.attempt(version, request, copies).await;
            if let Some(answer) = answer.filter(|answer| stays(code(answer))) {
                return Some(answer);
            }
            sleep(PAUSE).await;
        }
        None
    }

    async fn init(&mut self, id: &str) -> Option<(i64, i16)> {
        let request = InitProducerIdRequest {
            transactional_id: Some(id.to_owned()),
            transaction_timeout_ms: TIMEOUT_MS as i32,
            ..InitProducerIdRequest::default()
        };
        // A copy that comes late would fence the producer: without knowing it, it could not tell its outcomes.
        let response = self.ask(5, &request, false, |response| response.error_code).await?;
        (response.error_code == 0).then_some((response.producer_id, response.producer_epoch))
    }

    async fn produce(
        &mut self,
        id: &str,
        producer: (i64, i16),
        partition: i32,
        sequence: i32,
        value: &str,
    ) -> bool {
        let now_ms = self.world.clock.now().wall_ms;
        let mut batch = BatchBuilder::new().producer(producer.0, producer.1, sequence).transactional();
        batch.append(now_ms, None, Some(value.as_bytes()));
        let records = batch.finish().expect("a batch");
        let mut request = support::produce_request(self.world.topic, partition, records);
        request.transactional_id = Some(id.to_owned());
        let code = |response: &barnabas_protocol::messages::ProduceResponse| {
            response.responses[0].partition_responses[0].error_code
        };
        self.ask(13, &request, true, code).await.is_some_and(|response| code(&response) == 0)
    }

    async fn commit_offset(&mut self, id: &str, producer: (i64, i16), offset: i64) -> bool {
        let partition = TxnOffsetCommitRequestPartition {
            partition_index: 0,
            committed_offset: offset,
            ..TxnOffsetCommitRequestPartition::default()
        };
        let topic_id = self.world.topic;
        let topic =
            TxnOffsetCommitRequestTopic { name: TOPIC.to_owned(), topic_id, partitions: vec![partition] };
        let request = TxnOffsetCommitRequest {
            transactional_id: id.to_owned(),
            group_id: id.to_owned(),
            producer_id: producer.0,
            producer_epoch: producer.1,
            generation_id_or_member_epoch: -1,
            topics: vec![topic],
            ..TxnOffsetCommitRequest::default()
        };
        let code = |response: &barnabas_protocol::messages::TxnOffsetCommitResponse| {
            response.topics[0].partitions[0].error_code
        };
        self.ask(6, &request, true, code).await.is_some_and(|response| code(&response) == 0)
    }

    /// A transaction of its own number; the producer of the next, if this one can go on.
    async fn transaction(
        &mut self,
        id: &'static str,
        number: i64,
        producer: (i64, i16),
    ) -> Option<(i64, i16)> {
        let world = self.world.clone();
        // Until its commit is asked for nothing of it may ever be seen.
        let begun = Known { id, number, outcome: Outcome::Aborted, values: Vec::new(), offset: false };
        world.known.lock().expect("no panic").push(begun);
        let mut sequences = [0; PARTITIONS as usize];
        let (mut fine, mut empty) = (true, true);
        for record in 0..self.rng.below(4) {
            let partition = self.rng.below(PARTITIONS as u64) as i32;
            let value = format!("{id} {number} {record}");
            world.change(id, |known| known.values.push((partition, value.clone())));
            let sequence = &mut sequences[partition as usize];
            fine = fine && self.produce(id, producer, partition, *sequence, &value).await;
            *sequence += 1;
            empty = false;
        }
        if fine && self.rng.below(2) == 0 {
            fine = self.commit_offset(id, producer, number).await;
            world.change(id, |known| known.offset = true);
            empty = false;
        }
        if self.rng.below(10) == 0 {
            // The coordinator aborts it meanwhile.
            sleep(Duration::from_millis(TIMEOUT_MS + 500)).await;
        }
        let committed = fine && self.rng.below(4) > 0;
        if committed && empty {
            return Some(producer);
        }
        if committed {
            world.change(id, |known| known.outcome = Outcome::Unknown);
        }
        let (producer_id, producer_epoch) = producer;
        let request =
            EndTxnRequest { transactional_id: id.to_owned(), producer_id, producer_epoch, committed };
        let response = self.ask(5, &request, true, |response| response.error_code).await?;
        if committed {
            // Nobody else is this producer: a commit that was worked on is acknowledged when it is repeated.
            let outcome = if response.error_code == 0 { Outcome::Committed } else { Outcome::Aborted };
            world.change(id, |known| known.outcome = outcome);
        }
        (response.error_code == 0).then_some((response.producer_id, response.producer_epoch))
    }
}

/// Is an answer worth nothing but another try, while the broker starts, stops or ends a transaction?
fn stays(code: i16) -> bool {
    // Out of order, of an older epoch, not possible in the state, unknown, fenced, to be aborted.
    matches!(code, 0 | 45 | 47 | 48 | 49 | 90 | 120)
}

/// One transaction after the other; now and then a new producer.
async fn work(mut wire: Wire, id: &'static str) {
    let mut producer = None;
    let mut number = 0;
    while !wire.world.over() {
        if wire.rng.below(8) == 0 {
            producer = None;
        }
        let known = match producer {
            Some(known) => known,
            None => match wire.init(id).await {
                Some(known) => known,
                None => continue,
            },
        };
        producer = wire.transaction(id, number, known).await;
        number += 1;
        sleep(Duration::from_millis(wire.rng.below(200))).await;
    }
}

/// Whatever a reader of committed records sees at any time.
async fn read(world: Arc<World>) {
    while !world.over() {
        if let Some(mut client) = world.dial().await {
            for partition in 0..PARTITIONS {
                let Some(values) = read_committed(&mut client, world.topic, partition, false).await else {
                    break;
                };
                let mut seen = world.seen.lock().expect("no panic");
                seen.extend(values.into_iter().map(|value| (partition, value)));
            }
        }
        sleep(Duration::from_millis(300)).await;
    }
}

fn start(disk: &MemoryDisk, world: &World, rng: &Rng) -> Running {
    let doors = Doors {
        disk: disk.shared(),
        network: world.network.clone(),
        clock: world.clock.clone(),
        rng: Rng::from_seed(rng.next_u64()),
        spawner: Spawner::simulated(),
    };
    let config = support::settings(Path::new("/data"), 0, &SETTINGS);
    let broker = support::start_to_fail(config, &doors).expect("the disk is sound");
    *world.address.lock().expect("no panic") = Some(broker.address);
    broker
}

async fn life(seed: u64) {
    let clock = Clock::simulated(1_767_225_600_000);
    let (rng, disk) = (Rng::from_seed(seed), MemoryDisk::new(clock.clone()));
    let mut world = World {
        seed,
        network: Network::Simulated(SimulatedNetwork::new()),
        clock,
        topic: Uuid::ZERO,
        address: Mutex::default(),
        known: Mutex::default(),
        seen: Mutex::default(),
        over: AtomicBool::new(false),
    };
    let mut broker = start(&disk, &world, &rng);
    let mut client = broker.connect().await;
    world.topic = support::create_topic(&mut client, TOPIC, PARTITIONS).await;
    for id in IDS {
        assert!(init(&mut client, id).await.is_ok() && ready(&mut client, 0, id).await.is_ok());
    }
    drop(client);
    let world = Arc::new(world);
    let mut tasks = vec![tokio::spawn(read(world.clone()))];
    for id in IDS {
        let wire = Wire { world: world.clone(), rng: Rng::from_seed(rng.next_u64()), client: None };
        tasks.push(tokio::spawn(work(wire, id)));
    }
    let some = |most: u64| Duration::from_millis(rng.below(most));
    for _ in 0..CRASHES {
        sleep(some(5_000)).await;
        disk.fail_after(Some(rng.below(60)));
        sleep(some(500)).await;
        // Whatever is still running meets a dead disk.
        disk.fail_after(Some(0));
        *world.address.lock().expect("no panic") = None;
        broker.stop().await;
        disk.crash(&rng);
        disk.fail_after(None);
        sleep(some(TIMEOUT_MS)).await;
        broker = start(&disk, &world, &rng);
    }
    sleep(some(5_000)).await;
    world.over.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.expect("no client panics");
    }
    let mut client = broker.connect().await;
    for id in IDS {
        // What is open is aborted.
        assert!(init(&mut client, id).await.is_ok(), "seed {}: {id} cannot begin again", world.seed);
    }
    let known = std::mem::take(&mut *world.known.lock().expect("no panic"));
    let end = check(seed, &known, &mut client, world.topic).await;
    let early: Vec<_> = world.seen.lock().expect("no panic").difference(&end).cloned().collect();
    assert!(early.is_empty(), "seed {seed}: seen and then gone: {early:?}");
    broker.stop().await;
}

#[test]
fn lost_and_repeated_requests_change_no_outcome() {
    support::each_seed(200, |seed| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(life(seed));
    });
}
