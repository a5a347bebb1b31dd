//! Transactions on a disk that fails and loses what was not synced, at any of its calls: each is there as a whole or not
//! at all, what was acknowledged stays, and nothing stays open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use barnabas::broker::Doors;
use barnabas::clock::Clock;
use barnabas::disk::MemoryDisk;
use barnabas::net::{Network, SimulatedNetwork};
use barnabas::rng::Rng;
use barnabas::spawn::Spawner;
use barnabas_protocol::Uuid;
use barnabas_protocol::batch::{BatchBuilder, Batches, Caps, EndTxnMarker, Scratch};
use barnabas_protocol::messages::offset_fetch::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use barnabas_protocol::messages::txn_offset_commit::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use barnabas_protocol::messages::{
    EndTxnRequest, FetchRequest, FindCoordinatorRequest, InitProducerIdRequest, OffsetFetchRequest,
    TxnOffsetCommitRequest,
};

use crate::support::{self, Client, Running};

pub const PARTITIONS: i32 = 2;
const IDS: [&str; 2] = ["x", "y"];
pub const TOPIC: &str = "sim";
const CRASHES: u64 = 6;

/// How a transaction ended, as far as its client can know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Committed,
    Aborted,
    /// The answer to the commit was lost.
    Unknown,
}

/// A transaction as its client knows it.
#[derive(Debug)]
pub struct Known {
    pub id: &'static str,
    pub number: i64,
    pub outcome: Outcome,
    /// Partition and value of each record that was acknowledged.
    pub values: Vec<(i32, String)>,
    /// Its number was committed as the group's offset.
    pub offset: bool,
}

pub const SETTINGS: [(&str, &str); 5] = [
    // What is acknowledged is on the disk.
    ("log.flush.interval.messages", "1"),
    ("transaction.state.log.replication.factor", "1"),
    ("transaction.state.log.min.isr", "1"),
    ("offsets.topic.num.partitions", "2"),
    ("transaction.state.log.num.partitions", "2"),
];

struct World {
    rng: Rng,
    disk: MemoryDisk,
    clock: Clock,
    network: Arc<SimulatedNetwork>,
    known: Vec<Known>,
}

/// The broker is gone.
pub struct Gone;

impl World {
    fn start(&self) -> Option<Running> {
        let doors = Doors {
            disk: self.disk.shared(),
            network: Network::Simulated(self.network.clone()),
            clock: self.clock.clone(),
            rng: Rng::from_seed(self.rng.next_u64()),
            spawner: Spawner::simulated(),
        };
        support::start_to_fail(support::settings(Path::new("/data"), 0, &SETTINGS), &doors)
    }

    /// One transaction after the other until the disk fails.
    async fn work(&mut self, client: &mut Client, topic: Uuid) -> Result<(), Gone> {
        let mut producers: BTreeMap<&str, (i64, i16)> = BTreeMap::new();
        for _ in 0..30 {
            let id = IDS[usize::try_from(self.rng.below(2)).expect("small")];
            let fresh = self.rng.below(5) == 0;
            let producer = match producers.get(id).filter(|_| !fresh) {
                Some(producer) => *producer,
                None => init(client, id).await?,
            };
            let number = i64::try_from(self.known.len()).expect("small");
            // Until its commit is asked for nothing of it may ever be seen.
            let offset = false;
            self.known.push(Known { id, number, outcome: Outcome::Aborted, values: Vec::new(), offset });
            producers.remove(id);
            let next = self.transaction(client, topic, id, producer).await?;
            producers.extend(next.map(|next| (id, next)));
        }
        Ok(())
    }

    async fn transaction(
        &mut self,
        client: &mut Client,
        topic: Uuid,
        id: &'static str,
        producer: (i64, i16),
    ) -> Result<Option<(i64, i16)>, Gone> {
        let number = self.known.len() as i64 - 1;
        let mut sequences = [0; PARTITIONS as usize];
        for record in 0..self.rng.below(4) {
            let partition = self.rng.below(PARTITIONS as u64) as i32;
            let value = format!("{id} {number} {record}");
            let sequence = &mut sequences[partition as usize];
            let now_ms = self.clock.now().wall_ms;
            let mut batch = BatchBuilder::new().producer(producer.0, producer.1, *sequence).transactional();
            batch.append(now_ms, None, Some(value.as_bytes()));
            let mut request = support::produce_request(topic, partition, batch.finish().expect("a batch"));
            request.transactional_id = Some(id.to_owned());
            let response = client.try_ask(13, &request).await.ok_or(Gone)?;
            if response.responses[0].partition_responses[0].error_code != 0 {
                return Ok(None);
            }
            *sequence += 1;
            self.last().values.push((partition, value));
        }
        if self.rng.below(2) == 0 {
            if !commit_offset(client, topic, id, producer, number).await? {
                return Ok(None);
            }
            self.last().offset = true;
        }
        let committed = self.rng.below(4) > 0;
        if committed && self.last().values.is_empty() && !self.last().offset {
            return Ok(None);
        }
        let (producer_id, producer_epoch) = producer;
        let request =
            EndTxnRequest { transactional_id: id.to_owned(), producer_id, producer_epoch, committed };
        if committed {
            self.last().outcome = Outcome::Unknown;
        }
        let response = client.try_ask(5, &request).await.ok_or(Gone)?;
        if response.error_code != 0 {
            return Ok(None);
        }
        if committed {
            self.last().outcome = Outcome::Committed;
        }
        Ok(Some((response.producer_id, response.producer_epoch)))
    }

    fn last(&mut self) -> &mut Known {
        self.known.last_mut().expect("one was begun")
    }
}

/// Compares what readers see with what clients were promised, when nothing is open any more; what they see.
pub async fn check(seed: u64, all: &[Known], client: &mut Client, topic: Uuid) -> BTreeSet<(i32, String)> {
    let mut seen: BTreeSet<(i32, String)> = BTreeSet::new();
    for partition in 0..PARTITIONS {
        for value in read_committed(client, topic, partition, true).await.expect("the broker is there") {
            assert!(seen.insert((partition, value.clone())), "seed {seed}: {value} twice");
        }
    }
    let mut offsets: BTreeMap<&str, i64> = BTreeMap::new();
    for known in all {
        let visible = known.values.iter().filter(|value| seen.contains(*value)).count();
        let whole = visible == known.values.len();
        let fine = match known.outcome {
            Outcome::Committed => whole,
            Outcome::Aborted => visible == 0,
            Outcome::Unknown => whole || visible == 0,
        };
        assert!(fine, "seed {seed}: {visible} records of {known:?}");
        let counts = match known.outcome {
            Outcome::Committed => true,
            Outcome::Aborted => false,
            // Without records its offset alone tells.
            Outcome::Unknown if known.values.is_empty() => offset(client, known.id).await == known.number,
            Outcome::Unknown => visible > 0,
        };
        if known.offset && counts {
            offsets.insert(known.id, known.number);
        }
    }
    for (id, expected) in offsets {
        assert_eq!(offset(client, id).await, expected, "seed {seed}: the offset of {id}");
    }
    seen
}

pub async fn ready(client: &mut Client, key_type: i8, key: &str) -> Result<(), Gone> {
    let request = FindCoordinatorRequest {
        key_type,
        coordinator_keys: vec![key.to_owned()],
        ..FindCoordinatorRequest::default()
    };
    loop {
        let response = client.try_ask(4, &request).await.ok_or(Gone)?;
        if response.coordinators[0].error_code == 0 {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

pub async fn init(client: &mut Client, id: &str) -> Result<(i64, i16), Gone> {
    ready(client, 1, id).await?;
    let request = InitProducerIdRequest {
        transactional_id: Some(id.to_owned()),
        transaction_timeout_ms: 60_000,
        ..InitProducerIdRequest::default()
    };
    for _ in 0..1000 {
        let response = client.try_ask(5, &request).await.ok_or(Gone)?;
        if response.error_code == 0 {
            return Ok((response.producer_id, response.producer_epoch));
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    // A disk that has failed answers nothing sensible any more.
    Err(Gone)
}

async fn commit_offset(
    client: &mut Client,
    topic_id: Uuid,
    id: &str,
    producer: (i64, i16),
    offset: i64,
) -> Result<bool, Gone> {
    ready(client, 0, id).await?;
    let partition = TxnOffsetCommitRequestPartition {
        partition_index: 0,
        committed_offset: offset,
        ..TxnOffsetCommitRequestPartition::default()
    };
    let topic = TxnOffsetCommitRequestTopic { name: String::new(), topic_id, partitions: vec![partition] };
    let request = TxnOffsetCommitRequest {
        transactional_id: id.to_owned(),
        group_id: id.to_owned(),
        producer_id: producer.0,
        producer_epoch: producer.1,
        generation_id_or_member_epoch: -1,
        topics: vec![topic],
        ..TxnOffsetCommitRequest::default()
    };
    let response = client.try_ask(6, &request).await.ok_or(Gone)?;
    Ok(response.topics[0].partitions[0].error_code == 0)
}

/// The group's offset, once it is stable.
async fn offset(client: &mut Client, id: &str) -> i64 {
    let topic =
        OffsetFetchRequestTopics { name: TOPIC.to_owned(), partition_indexes: vec![0], ..Default::default() };
    let group = OffsetFetchRequestGroup {
        group_id: id.to_owned(),
        topics: Some(vec![topic]),
        ..OffsetFetchRequestGroup::default()
    };
    let request =
        OffsetFetchRequest { groups: vec![group], require_stable: true, ..OffsetFetchRequest::default() };
    for _ in 0..1000 {
        let response = client.ask(8, &request).await;
        let group = &response.groups[0];
        if group.error_code == 0 && group.topics[0].partitions[0].error_code == 0 {
            return group.topics[0].partitions[0].committed_offset;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the offset of {id} never becomes stable");
}

/// What a reader of committed records gets, as Kafka's consumer filters it; `None` if the broker goes away meanwhile.
/// `ended`: no transaction may be open.
pub async fn read_committed(
    client: &mut Client,
    topic: Uuid,
    partition: i32,
    ended: bool,
) -> Option<Vec<String>> {
    let (mut values, mut next) = (Vec::new(), 0);
    let mut aborting: BTreeSet<i64> = BTreeSet::new();
    loop {
        let request = FetchRequest { isolation_level: 1, ..support::fetch_request(topic, partition, next) };
        let response = client.try_ask(17, &request).await?;
        let answer = &response.responses.first()?.partitions[0];
        if answer.error_code != 0 {
            return None;
        }
        let all = answer.last_stable_offset == answer.high_watermark;
        assert!(all || !ended, "{} is not stable of {}", answer.last_stable_offset, answer.high_watermark);
        let records = answer.records.clone().unwrap_or_default();
        if records.is_empty() {
            assert_eq!(next, answer.last_stable_offset);
            return Some(values);
        }
        let mut aborted: Vec<(i64, i64)> = answer
            .aborted_transactions
            .iter()
            .flatten()
            .map(|aborted| (aborted.first_offset, aborted.producer_id))
            .collect();
        aborted.sort_unstable_by(|a, b| b.cmp(a));
        let mut scratch = Scratch::default();
        for batch in Batches::new(&records) {
            let batch = batch.expect("whole batches");
            let header = *batch.header();
            while aborted.last().is_some_and(|(first, _)| *first <= header.last_offset()) {
                aborting.extend(aborted.pop().map(|(_, producer)| producer));
            }
            for record in batch.records(&mut scratch, Caps::default()).expect("records") {
                let record = record.expect("a record");
                if header.attributes.control() {
                    if EndTxnMarker::of(&record).is_some_and(|marker| !marker.commit) {
                        aborting.remove(&header.producer_id);
                    }
                } else if !(header.attributes.transactional() && aborting.contains(&header.producer_id)) {
                    values.push(String::from_utf8_lossy(record.value.unwrap_or_default()).into_owned());
                }
            }
            next = header.next_offset();
        }
    }
}

async fn life(seed: u64) {
    let clock = Clock::simulated(1_767_225_600_000);
    let mut world = World {
        rng: Rng::from_seed(seed),
        disk: MemoryDisk::new(clock.clone()),
        clock,
        network: SimulatedNetwork::new(),
        known: Vec::new(),
    };
    let broker = world.start().expect("the disk is sound");
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, TOPIC, PARTITIONS).await;
    for id in IDS {
        assert!(init(&mut client, id).await.is_ok() && ready(&mut client, 0, id).await.is_ok());
    }
    broker.stop().await;
    for _ in 0..CRASHES {
        if let Some(broker) = world.start() {
            world.disk.fail_after(Some(world.rng.below(150)));
            let mut client = broker.connect().await;
            let _gone = world.work(&mut client, topic).await;
            // Whatever is still running meets a dead disk.
            world.disk.fail_after(Some(0));
            drop(client);
            broker.stop().await;
        }
        world.disk.crash(&world.rng);
        world.disk.fail_after(None);
    }
    let broker = world.start().expect("the disk is sound again");
    let mut client = broker.connect().await;
    for id in IDS {
        // What the last life left open is aborted.
        assert!(init(&mut client, id).await.is_ok(), "seed {seed}: {id} cannot begin again");
    }
    check(seed, &world.known, &mut client, topic).await;
    broker.stop().await;
}

#[test]
fn each_transaction_is_there_as_a_whole_or_not_at_all() {
    support::each_seed(200, |seed| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(life(seed));
    });
}
