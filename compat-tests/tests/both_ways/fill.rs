//! Everything that a log can hold: codecs, keys and headers, many segments, transactions, a compacted topic, groups.

use std::path::Path;
use std::time::{Duration, Instant};

use barnabas_protocol::batch::{BatchBuilder, Codec};
use barnabas_protocol::messages::add_partitions_to_txn::AddPartitionsToTxnTopic;
use barnabas_protocol::messages::create_topics::{CreatableTopic, CreatableTopicConfig};
use barnabas_protocol::messages::incremental_alter_configs::{AlterConfigsResource, AlterableConfig};
use barnabas_protocol::messages::list_offsets::{ListOffsetsPartition, ListOffsetsTopic};
use barnabas_protocol::messages::offset_commit::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use barnabas_protocol::messages::produce::{PartitionProduceData, TopicProduceData};
use barnabas_protocol::messages::{
    AddPartitionsToTxnRequest, CreateTopicsRequest, EndTxnRequest, FindCoordinatorRequest,
    IncrementalAlterConfigsRequest, InitProducerIdRequest, ListOffsetsRequest, OffsetCommitRequest,
    ProduceRequest,
};
use compat_tests::Wire;

pub const CODECS: &str = "codecs";
pub const LARGE: &str = "large";
pub const COMPACTED: &str = "compacted";
pub const TXN: &str = "txn";
pub const OPEN: &str = "open";
pub const TOPICS: [&str; 5] = [CODECS, LARGE, COMPACTED, TXN, OPEN];
pub const GROUPS: [&str; 2] = ["group-a", "group-b"];
const TRANSACTIONAL_ID: &str = "both-ways";
/// Its transaction is open whenever the directory changes hands.
const OPEN_ID: &str = "left-open";
pub const TRANSACTIONAL_IDS: [&str; 2] = [TRANSACTIONAL_ID, OPEN_ID];
/// What a broker may say before it is ready: no leader, loading, not the coordinator, concurrent transactions.
const NOT_YET: [i16; 7] = [3, 5, 6, 14, 15, 16, 51];
/// 2026-01-01: the same in every run, so that segments begin at the same records.
const TIME_MS: i64 = 1_767_225_600_000;

/// Tries again until the broker is ready for it.
pub fn ready<T>(what: &str, mut attempt: impl FnMut() -> Result<T, String>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        match attempt() {
            Ok(value) => return value,
            Err(why) => assert!(Instant::now() < end, "{what}: {why}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An answer's error code: fine, not yet, or a failure.
pub fn settled(what: &str, code: i16) -> Result<(), String> {
    if NOT_YET.contains(&code) {
        return Err(format!("error {code}"));
    }
    assert_eq!(code, 0, "{what}");
    Ok(())
}

pub struct Filler {
    round: i64,
    /// An idempotent producer and its next sequence in [`CODECS`].
    producer: (i64, i16, i32),
    /// The producer of [`OPEN_ID`].
    opener: (i64, i16),
}

impl Filler {
    /// Makes the topics and fills them; done once the compacted one is compacted.
    pub fn fill(wire: &mut Wire, data: &Path) -> Filler {
        create(wire, CODECS, &[]);
        create(wire, LARGE, &[("segment.bytes", "1048576")]);
        create(wire, TXN, &[]);
        create(wire, OPEN, &[]);
        let lazy = [
            ("cleanup.policy", "compact"),
            ("segment.ms", "1000"),
            ("min.cleanable.dirty.ratio", "1.0"),
            ("index.interval.bytes", "50"),
        ];
        create(wire, COMPACTED, &lazy);
        let (id, epoch) = producer(wire, None);
        coordinator(wire, OPEN_ID, 1);
        let opener = producer(wire, Some(OPEN_ID));
        let mut filler = Filler { round: 0, producer: (id, epoch, 0), opener };
        compacted(wire);
        for _ in 0..rounds() {
            filler.more(wire);
        }
        compact(wire, data);
        filler
    }

    /// Writes more; every round is different.
    pub fn more(&mut self, wire: &mut Wire) {
        let now_ms = TIME_MS + self.round * 100_000;
        for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
            let (id, epoch, sequence) = self.producer;
            let mut batch = BatchBuilder::new().codec(codec, None).producer(id, epoch, sequence);
            for n in 0..20 {
                let (key, value) = (format!("key {n}"), format!("{codec:?} {} {n}", self.round).repeat(5));
                let headers = [("name", Some(b"value".as_slice())), ("null", None)];
                let headers = if n % 3 == 0 { &headers[..] } else { &[] };
                let key = (n % 4 != 0).then_some(key.as_bytes());
                let value = (n % 5 != 0).then_some(value.as_bytes());
                batch.append_with(now_ms + n, key, value, headers);
            }
            self.producer.2 += 20;
            produce(wire, CODECS, batch, None);
        }
        for n in 0..8 {
            let mut batch = BatchBuilder::new();
            let noise: Vec<u8> = (0..300_000_u64).map(|at| ((at * at) >> 3) as u8 ^ (n as u8)).collect();
            batch.append(now_ms + n, None, Some(&noise));
            produce(wire, LARGE, batch, None);
        }
        for commit in [true, false, true] {
            transaction(wire, TXN, now_ms, commit, self.round);
        }
        for group in GROUPS {
            commit(wire, group, self.round);
        }
        self.leave_open(wire, now_ms);
        self.round += 1;
    }

    /// Ends the transaction that was left open, by whichever broker, and begins the next.
    fn leave_open(&self, wire: &mut Wire, now_ms: i64) {
        coordinator(wire, OPEN_ID, 1);
        if self.round > 0 {
            end(wire, OPEN, OPEN_ID, self.opener, self.round % 3 > 0);
        }
        add(wire, OPEN, OPEN_ID, self.opener);
        let (id, epoch) = self.opener;
        let mut batch = BatchBuilder::new().producer(id, epoch, self.round as i32).transactional();
        batch.append(now_ms, None, Some(format!("left open in round {}", self.round).as_bytes()));
        produce(wire, OPEN, batch, Some(OPEN_ID));
    }
}

/// How much a product writes before the other takes over: `BARNABAS_ROUNDS`, of 2.5 MB each.
fn rounds() -> usize {
    std::env::var("BARNABAS_ROUNDS").map_or(2, |rounds| rounds.parse().unwrap())
}

fn create(wire: &mut Wire, name: &str, configs: &[(&str, &str)]) {
    let config = |(name, value): &(&str, &str)| CreatableTopicConfig {
        name: (*name).into(),
        value: Some((*value).into()),
    };
    let configs = configs.iter().chain(&[("retention.ms", "-1")]).map(config).collect();
    let (name, num_partitions, replication_factor) = (name.to_owned(), 1, 1);
    let topic = CreatableTopic { name, num_partitions, replication_factor, configs, ..Default::default() };
    let request = CreateTopicsRequest { topics: vec![topic], timeout_ms: 10_000, ..Default::default() };
    let made = wire.call(7, &request).unwrap();
    assert_eq!(made.topics[0].error_code, 0, "{made:?}");
}

fn produce(wire: &mut Wire, topic: &str, batch: BatchBuilder, transactional_id: Option<&str>) {
    let records: bytes::Bytes = batch.finish().unwrap().into();
    ready("an append", || {
        let partition_data = vec![PartitionProduceData { index: 0, records: Some(records.clone()) }];
        let topic = TopicProduceData { name: topic.to_owned(), partition_data, ..Default::default() };
        let transactional_id = transactional_id.map(str::to_owned);
        let request =
            ProduceRequest { acks: -1, timeout_ms: 10_000, topic_data: vec![topic], transactional_id };
        let answer = wire.call(9, &request).map_err(|e| e.to_string())?;
        settled("produce", answer.responses[0].partition_responses[0].error_code)
    });
}

fn producer(wire: &mut Wire, transactional_id: Option<&str>) -> (i64, i16) {
    ready("a producer id", || {
        let request = InitProducerIdRequest {
            transactional_id: transactional_id.map(str::to_owned),
            transaction_timeout_ms: 600_000,
            producer_id: -1,
            producer_epoch: -1,
        };
        let granted = wire.call(4, &request).map_err(|e| e.to_string())?;
        settled("InitProducerId", granted.error_code)?;
        Ok((granted.producer_id, granted.producer_epoch))
    })
}

fn coordinator(wire: &mut Wire, key: &str, key_type: i8) {
    ready("a coordinator", || {
        let request = FindCoordinatorRequest { key: key.to_owned(), key_type, ..Default::default() };
        let found = wire.call(2, &request).map_err(|e| e.to_string())?;
        settled("FindCoordinator", found.error_code)
    });
}

/// One transaction of two batches.
fn transaction(wire: &mut Wire, topic: &str, now_ms: i64, commit: bool, round: i64) {
    coordinator(wire, TRANSACTIONAL_ID, 1);
    let (id, epoch) = producer(wire, Some(TRANSACTIONAL_ID));
    add(wire, topic, TRANSACTIONAL_ID, (id, epoch));
    for n in 0..2 {
        let mut batch = BatchBuilder::new().producer(id, epoch, n).transactional();
        let (key, value) = (format!("t{n}"), format!("{commit} {round}"));
        batch.append(now_ms, Some(key.as_bytes()), Some(value.as_bytes()));
        produce(wire, topic, batch, Some(TRANSACTIONAL_ID));
    }
    end(wire, topic, TRANSACTIONAL_ID, (id, epoch), commit);
}

/// A partition joins a transaction.
fn add(wire: &mut Wire, topic: &str, transactional_id: &str, (id, epoch): (i64, i16)) {
    ready("a partition in a transaction", || {
        let request = AddPartitionsToTxnRequest {
            v3_and_below_transactional_id: transactional_id.to_owned(),
            v3_and_below_producer_id: id,
            v3_and_below_producer_epoch: epoch,
            v3_and_below_topics: vec![AddPartitionsToTxnTopic {
                name: topic.to_owned(),
                partitions: vec![0],
            }],
            ..Default::default()
        };
        let answer = wire.call(3, &request).map_err(|e| e.to_string())?;
        let partition = &answer.results_by_topic_v3_and_below[0].results_by_partition[0];
        settled("AddPartitionsToTxn", partition.partition_error_code)
    });
}

/// Ends a transaction and waits for its marker.
fn end(wire: &mut Wire, topic: &str, transactional_id: &str, (id, epoch): (i64, i16), commit: bool) {
    ready("the end of a transaction", || {
        let request = EndTxnRequest {
            transactional_id: transactional_id.to_owned(),
            producer_id: id,
            producer_epoch: epoch,
            committed: commit,
        };
        let answer = wire.call(3, &request).map_err(|e| e.to_string())?;
        settled("EndTxn", answer.error_code)
    });
    // The marker comes a little later.
    ready("a marker", || {
        let mut end = |isolation_level| {
            let partition = ListOffsetsPartition { partition_index: 0, timestamp: -1, ..Default::default() };
            let topics = vec![ListOffsetsTopic { name: topic.to_owned(), partitions: vec![partition] }];
            let request =
                ListOffsetsRequest { replica_id: -1, isolation_level, topics, ..Default::default() };
            wire.call(7, &request)
                .map(|answer| answer.topics[0].partitions[0].offset)
                .map_err(|e| e.to_string())
        };
        let (stable, all) = (end(1)?, end(0)?);
        if stable == all { Ok(()) } else { Err(format!("{stable} of {all}")) }
    });
}

/// Keys that come again, tombstones, codecs, transactions; a new segment every few batches, by the records' times.
fn compacted(wire: &mut Wire) {
    for round in 0..12_i64 {
        let now_ms = TIME_MS + round / 3 * 10_000;
        let codec = [Codec::None, Codec::Gzip, Codec::Lz4][round as usize % 3];
        let mut batch = BatchBuilder::new().codec(codec, None);
        for n in 0..10 {
            let (key, value) = (format!("k{}", (n * n + round) % 17), format!("v{round}.{n}"));
            let value = ((n + round) % 7 != 0).then_some(value.as_bytes());
            batch.append(now_ms + n, Some(key.as_bytes()), value);
        }
        produce(wire, COMPACTED, batch, None);
        if round % 4 == 1 {
            transaction(wire, COMPACTED, now_ms, round == 1, round);
        }
    }
}

/// Lets the compacted topic be compacted, once, and waits for it.
fn compact(wire: &mut Wire, data: &Path) {
    // By its time it is alone in the last segment.
    let mut last = BatchBuilder::new();
    last.append(TIME_MS + 1_000_000, Some(b"last"), Some(b"last"));
    produce(wire, COMPACTED, last, None);
    let config = AlterableConfig {
        name: "min.cleanable.dirty.ratio".to_owned(),
        config_operation: 0,
        value: Some("0.01".to_owned()),
    };
    let (resource_type, resource_name) = (2, COMPACTED.to_owned());
    let resource = AlterConfigsResource { resource_type, resource_name, configs: vec![config] };
    let request = IncrementalAlterConfigsRequest { resources: vec![resource], validate_only: false };
    assert_eq!(wire.call(1, &request).unwrap().responses[0].error_code, 0);
    ready("compaction", || {
        let checkpoint = std::fs::read_to_string(data.join("cleaner-offset-checkpoint")).unwrap_or_default();
        match checkpoint.lines().any(|line| line.starts_with(COMPACTED)) {
            true => Ok(()),
            false => Err(checkpoint),
        }
    });
}

fn commit(wire: &mut Wire, group: &str, offset: i64) {
    coordinator(wire, group, 0);
    ready("a commit", || {
        let partition = OffsetCommitRequestPartition {
            committed_offset: offset,
            committed_metadata: Some(format!("at {offset}")),
            ..Default::default()
        };
        let (name, partitions) = (CODECS.to_owned(), vec![partition]);
        let topics = vec![OffsetCommitRequestTopic { name, partitions, ..Default::default() }];
        let request = OffsetCommitRequest { group_id: group.to_owned(), topics, ..Default::default() };
        let answer = wire.call(7, &request).map_err(|e| e.to_string())?;
        settled("OffsetCommit", answer.topics[0].partitions[0].error_code)
    });
}
