//! `kill -9` under load, again and again: what was acknowledged is there, once, and duplicates are known as such.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use barnabas_protocol::batch::{BatchBuilder, Batches};
use barnabas_protocol::messages::create_topics::{CreatableTopic, CreatableTopicConfig};
use barnabas_protocol::messages::fetch::{FetchPartition, FetchTopic};
use barnabas_protocol::messages::offset_commit::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use barnabas_protocol::messages::offset_fetch::OffsetFetchRequestTopic;
use barnabas_protocol::messages::produce::{
    PartitionProduceData, PartitionProduceResponse, TopicProduceData,
};
use barnabas_protocol::messages::{
    CreateTopicsRequest, FetchRequest, FindCoordinatorRequest, InitProducerIdRequest, OffsetCommitRequest,
    OffsetFetchRequest, ProduceRequest,
};
use bytes::Bytes;
use compat_tests::{Broker, Suite, Wire, suite};

const TOPIC: &str = "crash";
const GROUP: &str = "crash-group";
const PARTITIONS: i32 = 2;
const ROUNDS: i32 = 4;
const BATCHES_A_ROUND: usize = 300;
const RECORDS_A_BATCH: i32 = 10;
const DUPLICATE_SEQUENCE_NUMBER: i16 = 46;
/// What a broker may say before it leads everything again.
const NOT_YET: [i16; 3] = [3, 5, 6];
/// Bytes of a stored batch before its checksum: offset, length, leader epoch and magic, of which the broker sets two.
const BEFORE_CHECKSUM: usize = 17;

/// An idempotent producer of one partition, with everything it was promised.
struct Producer {
    partition: i32,
    id: i64,
    epoch: i16,
    /// When it began, in ms: a broker forgets producers whose records are a day old.
    since: i64,
    /// The batch that goes next: its number and sequence.
    next: i32,
    /// Batch number → where the broker said it is.
    acknowledged: BTreeMap<i32, i64>,
}

impl Producer {
    fn batch(&self, number: i32) -> Vec<u8> {
        let mut batch = BatchBuilder::new().producer(self.id, self.epoch, number * RECORDS_A_BATCH);
        for record in 0..RECORDS_A_BATCH {
            let value = format!("partition {} batch {number} record {record}", self.partition);
            batch.append(self.since + i64::from(number), None, Some(value.as_bytes()));
        }
        batch.finish().unwrap()
    }

    fn request(&self, number: i32) -> ProduceRequest {
        let records = Some(Bytes::from(self.batch(number)));
        let partition_data = vec![PartitionProduceData { index: self.partition, records }];
        let topic = TopicProduceData { name: TOPIC.to_owned(), partition_data, ..Default::default() };
        ProduceRequest { acks: -1, timeout_ms: 10_000, topic_data: vec![topic], ..Default::default() }
    }

    fn send(&self, wire: &mut Wire, number: i32) -> io::Result<PartitionProduceResponse> {
        let mut answer = wire.call(9, &self.request(number))?;
        Ok(answer.responses[0].partition_responses.remove(0))
    }

    /// Sends again while the broker is not ready.
    fn send_when_ready(&self, wire: &mut Wire, number: i32) -> PartitionProduceResponse {
        ready("an append", || {
            let answer = self.send(wire, number).map_err(|e| e.to_string())?;
            if NOT_YET.contains(&answer.error_code) { Err(format!("{answer:?}")) } else { Ok(answer) }
        })
    }

    /// Sends until the connection breaks, and tells after each batch how many it was.
    fn work(&mut self, bootstrap: &str, enough: impl Fn(usize)) {
        let Ok(mut wire) = Wire::connect(bootstrap) else { return };
        let mut sent = 0;
        while let Ok(answer) = self.send(&mut wire, self.next) {
            assert_eq!(answer.error_code, 0, "batch {} of partition {}", self.next, self.partition);
            self.acknowledged.insert(self.next, answer.base_offset);
            self.next += 1;
            sent += 1;
            enough(sent);
        }
    }

    /// After a restart: the last batches are known, the one in flight is appended once if it was not.
    fn repeat(&mut self, wire: &mut Wire) {
        // The last five batches are known, of which one may have been in flight. Kafka itself remembers only the
        // newest when it rebuilds its producers.
        let known = if Broker::is_reference() { 0 } else { 4 };
        let last: Vec<(i32, i64)> =
            self.acknowledged.iter().rev().take(known).map(|(n, at)| (*n, *at)).collect();
        let end = next_offset(wire, self.partition);
        for (number, offset) in &last {
            let answer = self.send_when_ready(wire, *number);
            assert!(matches!(answer.error_code, 0 | DUPLICATE_SEQUENCE_NUMBER), "{answer:?}");
            assert_eq!(answer.base_offset, *offset, "where batch {number} already is");
        }
        assert_eq!(next_offset(wire, self.partition), end, "duplicates are not appended");
        let answer = self.send_when_ready(wire, self.next);
        assert_eq!(answer.error_code, 0, "the batch that was in flight: {answer:?}");
        self.acknowledged.insert(self.next, answer.base_offset);
        self.next += 1;
    }
}

fn setup(wire: &mut Wire) {
    let topic = CreatableTopic {
        name: TOPIC.to_owned(),
        num_partitions: PARTITIONS,
        replication_factor: 1,
        configs: vec![config("retention.ms", "-1")],
        ..Default::default()
    };
    let made = wire.call(5, &CreateTopicsRequest { topics: vec![topic], ..Default::default() }).unwrap();
    assert_eq!(made.topics[0].error_code, 0, "{made:?}");
}

fn config(name: &str, value: &str) -> CreatableTopicConfig {
    CreatableTopicConfig { name: name.to_owned(), value: Some(value.to_owned()) }
}

/// Tries again until the broker is ready for it.
fn ready<T>(what: &str, mut attempt: impl FnMut() -> Result<T, String>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        match attempt() {
            Ok(value) => return value,
            Err(why) => assert!(Instant::now() < end, "{what}: {why}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn coordinator(wire: &mut Wire) {
    ready("a coordinator", || {
        let request = FindCoordinatorRequest { key: GROUP.to_owned(), ..Default::default() };
        let found = wire.call(2, &request).map_err(|e| e.to_string())?;
        if found.error_code == 0 { Ok(()) } else { Err(format!("{found:?}")) }
    });
}

fn producer(wire: &mut Wire, partition: i32) -> Producer {
    let granted = ready("a producer id", || {
        let request = InitProducerIdRequest { transactional_id: None, ..Default::default() };
        let granted = wire.call(4, &request).map_err(|e| e.to_string())?;
        if granted.error_code == 0 { Ok(granted) } else { Err(format!("{granted:?}")) }
    });
    let (id, epoch) = (granted.producer_id, granted.producer_epoch);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let since = i64::try_from(now.as_millis()).unwrap();
    Producer { partition, id, epoch, since, next: 0, acknowledged: BTreeMap::new() }
}

fn commit(wire: &mut Wire, offset: i64) -> io::Result<i16> {
    let partition = OffsetCommitRequestPartition { committed_offset: offset, ..Default::default() };
    let topic = OffsetCommitRequestTopic {
        name: TOPIC.to_owned(),
        partitions: vec![partition],
        ..Default::default()
    };
    let request =
        OffsetCommitRequest { group_id: GROUP.to_owned(), topics: vec![topic], ..Default::default() };
    Ok(wire.call(7, &request)?.topics[0].partitions[0].error_code)
}

fn committed(wire: &mut Wire) -> i64 {
    ready("committed offsets", || {
        let topic = OffsetFetchRequestTopic { name: TOPIC.to_owned(), partition_indexes: vec![0] };
        let request = OffsetFetchRequest {
            group_id: GROUP.to_owned(),
            topics: Some(vec![topic]),
            ..Default::default()
        };
        let answer = wire.call(5, &request).map_err(|e| e.to_string())?;
        if answer.error_code == 0 {
            Ok(answer.topics[0].partitions[0].committed_offset)
        } else {
            Err(format!("{answer:?}"))
        }
    })
}

/// What a partition holds from an offset on, and its high watermark.
fn fetch(wire: &mut Wire, partition: i32, offset: i64) -> (Vec<u8>, i64) {
    ready("a fetch", || {
        let partition = FetchPartition {
            partition,
            fetch_offset: offset,
            partition_max_bytes: 1 << 20,
            ..Default::default()
        };
        let topic = FetchTopic { topic: TOPIC.to_owned(), partitions: vec![partition], ..Default::default() };
        let request =
            FetchRequest { max_wait_ms: 10, min_bytes: 1, topics: vec![topic], ..Default::default() };
        let mut answer = wire.call(12, &request).map_err(|e| e.to_string())?;
        let data = answer.responses.remove(0).partitions.remove(0);
        if data.error_code != 0 {
            return Err(format!("error {}", data.error_code));
        }
        Ok((data.records.unwrap_or_default().to_vec(), data.high_watermark))
    })
}

fn next_offset(wire: &mut Wire, partition: i32) -> i64 {
    fetch(wire, partition, 0).1
}

/// Every batch of a partition: first offset → the bytes that its producer sent, without gaps.
fn everything(wire: &mut Wire, partition: i32) -> BTreeMap<i64, Vec<u8>> {
    let (mut found, mut next) = (BTreeMap::new(), 0);
    loop {
        let (records, high_watermark) = fetch(wire, partition, next);
        for batch in Batches::new(&records) {
            let batch = batch.unwrap();
            batch.check_crc().unwrap();
            assert_eq!(batch.header().base_offset, next, "offsets without a gap");
            found.insert(next, batch.bytes()[BEFORE_CHECKSUM..].to_vec());
            next = batch.header().next_offset();
        }
        if next >= high_watermark {
            return found;
        }
    }
}

/// Whatever was acknowledged is where the broker said, as it was sent; nothing is there twice.
fn check(wire: &mut Wire, producer: &Producer) {
    let found = everything(wire, producer.partition);
    for (number, offset) in &producer.acknowledged {
        let sent = producer.batch(*number)[BEFORE_CHECKSUM..].to_vec();
        assert!(
            found.get(offset) == Some(&sent),
            "batch {number} of partition {} at {offset}",
            producer.partition
        );
    }
    assert_eq!(found.len(), producer.acknowledged.len(), "batches in partition {}", producer.partition);
}

/// Commits rising offsets until the connection breaks; the last one acknowledged and the last one sent.
fn commit_on(bootstrap: &str, from: i64) -> (i64, i64) {
    let (mut acknowledged, mut sent) = (from, from);
    let Ok(mut wire) = Wire::connect(bootstrap) else { return (acknowledged, sent) };
    loop {
        sent += 1;
        match commit(&mut wire, sent) {
            Ok(0) => acknowledged = sent,
            Ok(error) => panic!("commit of {sent}: error {error}"),
            Err(_) => return (acknowledged, sent),
        }
    }
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    if !Suite::Crash.wanted() {
        return;
    }
    let mut broker = Broker::start();
    let bootstrap = broker.bootstrap();
    let mut wire = Wire::connect(&bootstrap).unwrap();
    setup(&mut wire);
    coordinator(&mut wire);
    let mut producers: Vec<Producer> = (0..PARTITIONS).map(|number| producer(&mut wire, number)).collect();
    ready("a first commit", || match commit(&mut wire, 0) {
        Ok(0) => Ok(()),
        other => Err(format!("{other:?}")),
    });

    let mut offset = 0;
    for round in 1..=ROUNDS {
        let (signal, signalled) = std::sync::mpsc::channel();
        let (last_acknowledged, last_sent) = std::thread::scope(|scope| {
            let commits = scope.spawn(|| commit_on(&bootstrap, offset));
            for producer in &mut producers {
                let (signal, bootstrap) = (signal.clone(), &bootstrap);
                scope.spawn(move || {
                    producer.work(bootstrap, |count| {
                        if count == BATCHES_A_ROUND {
                            let _ = signal.send(());
                        }
                    });
                });
            }
            let loaded = (0..PARTITIONS).all(|_| signalled.recv_timeout(Duration::from_secs(120)).is_ok());
            // Killed in any case: the producers work until it is gone.
            broker.kill();
            assert!(loaded, "every producer has its batches acknowledged");
            commits.join().unwrap()
        });
        broker.restart();

        let mut wire = Wire::connect(&bootstrap).unwrap();
        for producer in &mut producers {
            producer.repeat(&mut wire);
            check(&mut wire, producer);
        }
        coordinator(&mut wire);
        offset = committed(&mut wire);
        assert!(
            (last_acknowledged..=last_sent).contains(&offset),
            "{last_acknowledged} ≤ {offset} ≤ {last_sent}"
        );
        let batches: usize = producers.iter().map(|producer| producer.acknowledged.len()).sum();
        suite::report(&format!(
            "crash: round {round}, {batches} batches and the commit of {offset} are there\n"
        ));
    }
}

#[test]
fn a_half_written_batch_is_cut() {
    if !Suite::Crash.wanted() {
        return;
    }
    let mut broker = Broker::start();
    let mut wire = Wire::connect(&broker.bootstrap()).unwrap();
    setup(&mut wire);
    let mut producer = producer(&mut wire, 0);
    for number in 0..20 {
        let answer = producer.send_when_ready(&mut wire, number);
        assert_eq!(answer.error_code, 0, "{answer:?}");
        producer.acknowledged.insert(number, answer.base_offset);
        producer.next = number + 1;
    }
    broker.kill();

    let mut half = producer.batch(20);
    half[..8].copy_from_slice(&200_i64.to_be_bytes());
    half.truncate(half.len() / 2);
    let log = broker.data().join("crash-0/00000000000000000000.log");
    File::options().append(true).open(&log).unwrap().write_all(&half).unwrap();
    let size = log.metadata().unwrap().len();
    broker.restart();

    let mut wire = Wire::connect(&broker.bootstrap()).unwrap();
    assert_eq!(next_offset(&mut wire, 0), 200, "the half batch is not there");
    assert!(log.metadata().unwrap().len() < size, "the file is cut");
    if !Broker::is_reference() {
        let said = broker.log();
        assert!(
            said.contains("crash-0") && said.contains(&half.len().to_string()),
            "the log says how much:\n{said}"
        );
    }
    producer.repeat(&mut wire);
    check(&mut wire, &producer);
}
