//! Readers of what is committed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message;
use rdkafka::{Offset, TopicPartitionList};

use crate::ledger::Sent;
use crate::load::{PARTITIONS, PATIENCE, TOPIC, client};

const POLL: Duration = Duration::from_millis(100);

/// What a consumer saw while nodes fell.
pub struct Reader {
    seen: BTreeMap<(i32, i64), Sent>,
    next: BTreeMap<i32, i64>,
}

impl Reader {
    /// Reads until told to stop.
    pub fn follow(bootstrap: &str, stop: &AtomicBool) -> Reader {
        // A position that is in no leader's log is an error: a consumer never goes back.
        let consumer = from_the_start(client(bootstrap).set("auto.offset.reset", "error"), TOPIC);
        let mut reader = Reader { seen: BTreeMap::new(), next: BTreeMap::new() };
        while !stop.load(Ordering::Relaxed) {
            match consumer.poll(POLL) {
                Some(Ok(message)) => {
                    let (partition, offset) = (message.partition(), message.offset());
                    let next = reader.next.insert(partition, offset + 1);
                    assert!(next.is_none_or(|next| next == offset), "{next:?} is awaited, {offset} comes");
                    reader.seen.insert((partition, offset), Sent::of(message.payload().unwrap()));
                }
                Some(Err(error)) => may_pass(&error),
                None => {}
            }
        }
        reader
    }

    /// What it saw is what is there.
    pub fn check(&self, found: &BTreeMap<(i32, i64), Sent>) {
        assert!(!self.seen.is_empty(), "the reader saw nothing");
        for (place, sent) in &self.seen {
            assert_eq!(found.get(place), Some(sent), "what was read at {place:?} has changed");
        }
    }
}

/// Fails for what a consumer does not get over by itself.
pub fn may_pass(error: &KafkaError) {
    let code = error.rdkafka_error_code();
    let over =
        [RDKafkaErrorCode::OffsetOutOfRange, RDKafkaErrorCode::AutoOffsetReset, RDKafkaErrorCode::Fatal];
    assert!(!code.is_some_and(|code| over.contains(&code)), "a consumer cannot go on: {error}");
}

fn from_the_start(config: &mut ClientConfig, topic: &str) -> BaseConsumer {
    let consumer: BaseConsumer = config
        .set("group.id", "none")
        .set("enable.auto.commit", "false")
        .set("isolation.level", "read_committed")
        .create()
        .unwrap();
    let mut all = TopicPartitionList::new();
    for partition in 0..PARTITIONS {
        all.add_partition_offset(topic, partition, Offset::Beginning).unwrap();
    }
    consumer.assign(&all).unwrap();
    consumer
}

/// Every committed record of a topic, by its place.
pub fn everything(bootstrap: &str, topic: &str) -> BTreeMap<(i32, i64), Vec<u8>> {
    let consumer = from_the_start(client(bootstrap).set("enable.partition.eof", "true"), topic);
    let (mut found, mut ended) = (BTreeMap::new(), std::collections::BTreeSet::new());
    let end = Instant::now() + PATIENCE;
    while ended.len() < usize::try_from(PARTITIONS).unwrap() {
        assert!(Instant::now() < end, "not everything of {topic} can be read: {ended:?} end");
        match consumer.poll(POLL) {
            Some(Ok(message)) => {
                let place = (message.partition(), message.offset());
                let before = found.insert(place, message.payload().unwrap().to_vec());
                assert_eq!(before, None, "{place:?} comes twice");
            }
            Some(Err(KafkaError::PartitionEOF(partition))) => {
                ended.insert(partition);
            }
            Some(Err(error)) => may_pass(&error),
            None => {}
        }
    }
    found
}
