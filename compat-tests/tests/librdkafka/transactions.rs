//! Applications read, transform and write in transactions that carry their offsets; some are aborted, some producers
//! are fenced, and the broker is killed meanwhile.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rdkafka::TopicPartitionList;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer, DefaultConsumerContext};
use rdkafka::error::KafkaError;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};
use rdkafka::topic_partition_list::Offset;

use crate::app::{App, Seen, app, soon};

const PARTITIONS: i32 = 3;
const RECORDS: usize = 1500;
const KILLS: usize = 3;
/// Between two kills: the clients have found the broker again and worked for a while.
const BETWEEN: Duration = Duration::from_secs(3);
const CALL: Duration = Duration::from_secs(20);

type Transactional = ThreadedProducer<DefaultProducerContext>;

fn client(bootstrap: &str, settings: &[(&str, &str)]) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap);
    for (key, value) in settings {
        config.set(*key, *value);
    }
    config
}

/// A producer that has fenced all others of its id.
fn begin(bootstrap: &str, id: &str) -> Option<Transactional> {
    let settings = [("transactional.id", id), ("transaction.timeout.ms", "20000"), ("linger.ms", "1")];
    let producer: Transactional = client(bootstrap, &settings).create().unwrap();
    producer.init_transactions(CALL).ok().map(|()| producer)
}

/// Copies records until told to stop. After an abort or an error it goes on from what is committed, as a new process
/// would.
fn work(bootstrap: &str, number: usize, done: &AtomicBool) {
    let mut coins = u64::try_from(number).unwrap();
    while !done.load(Ordering::Relaxed) {
        let Some(producer) = begin(bootstrap, &format!("worker-{number}")) else { continue };
        let consumer: BaseConsumer = client(
            bootstrap,
            &[
                ("group.id", "workers"),
                ("auto.offset.reset", "earliest"),
                ("enable.auto.commit", "false"),
                ("isolation.level", "read_committed"),
                ("session.timeout.ms", "6000"),
                ("heartbeat.interval.ms", "300"),
            ],
        )
        .create()
        .unwrap();
        consumer.subscribe(&["in"]).unwrap();
        while !done.load(Ordering::Relaxed) {
            coins = coins.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let aborts = (coins >> 33).is_multiple_of(16);
            if copy(&producer, &consumer, aborts).is_err() || aborts {
                break;
            }
        }
    }
}

/// One transaction of some records.
fn copy(producer: &Transactional, consumer: &BaseConsumer, aborts: bool) -> Result<(), KafkaError> {
    let mut read = Vec::new();
    while let Some(message) = consumer.poll(Duration::from_millis(if read.is_empty() { 100 } else { 0 })) {
        read.push(Seen::of(&message?));
        if read.len() == 20 {
            break;
        }
    }
    if read.is_empty() {
        return Ok(());
    }
    producer.begin_transaction()?;
    let mut offsets = TopicPartitionList::new();
    for record in &read {
        let value = format!("done {}", record.text());
        let out = BaseRecord::<(), str>::to("out").partition(record.partition).payload(&value);
        producer.send(out).map_err(|(error, _)| error)?;
        let next = Offset::Offset(record.offset + 1);
        match offsets.find_partition("in", record.partition) {
            Some(mut place) => place.set_offset(next)?,
            None => offsets.add_partition_offset("in", record.partition, next)?,
        }
    }
    let group = consumer.group_metadata().expect("it is a member");
    let sent = producer.send_offsets_to_transaction(&offsets, &group, CALL);
    if aborts || sent.is_err() {
        producer.abort_transaction(CALL)?;
        return sent;
    }
    loop {
        match producer.commit_transaction(CALL) {
            Err(KafkaError::Transaction(error)) if error.is_retriable() => {}
            Err(KafkaError::Transaction(error)) if error.txn_requires_abort() => {
                return producer.abort_transaction(CALL);
            }
            committed => return committed,
        }
    }
}

/// A second producer of a worker's id fences that one, is fenced in its turn, and can then do nothing.
fn zombie(bootstrap: &str) {
    let end = Instant::now() + Duration::from_secs(60);
    let zombie = loop {
        if let Some(zombie) = begin(bootstrap, "worker-0") {
            break zombie;
        }
        assert!(Instant::now() < end, "no producer can begin");
    };
    loop {
        let record = BaseRecord::<(), str>::to("out").partition(0).payload("of a zombie");
        let tried = zombie
            .begin_transaction()
            .and_then(|()| zombie.send(record).map_err(|(error, _)| error))
            .and_then(|()| zombie.flush(CALL))
            .and_then(|()| zombie.abort_transaction(CALL));
        if tried.is_err() && zombie.client().fatal_error().is_some() {
            return;
        }
        assert!(Instant::now() < end, "the zombie is never fenced: {tried:?}");
    }
}

/// Every record once, and the records of each partition in their order.
fn check(app: &App) {
    let consumer = app.consumer("checker", &[("isolation.level", "read_committed")], DefaultConsumerContext);
    let mut all = TopicPartitionList::new();
    for partition in 0..PARTITIONS {
        all.add_partition_offset("out", partition, Offset::Beginning).unwrap();
    }
    consumer.assign(&all).unwrap();
    let (mut seen, mut last) = (HashSet::new(), HashMap::new());
    let (mut quiet, end) = (0, Instant::now() + Duration::from_secs(120));
    while seen.len() < RECORDS || quiet < 10 {
        assert!(Instant::now() < end, "only {} of {RECORDS} records came", seen.len());
        let Some(message) = consumer.poll(Duration::from_millis(100)) else {
            quiet += 1;
            continue;
        };
        // The broker may be away.
        let Ok(message) = message else { continue };
        quiet = 0;
        let record = Seen::of(&message);
        let number: usize = record.text().strip_prefix("done v").expect("a worker's record").parse().unwrap();
        assert!(seen.insert(number), "{number} comes twice");
        let before = last.insert(record.partition, number);
        assert!(before.is_none_or(|before| before < number), "{number} comes after {before:?}");
    }
    assert_eq!(seen.len(), RECORDS);
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_once_through_kill_9_and_fencing() {
    let Some(mut app) = app() else { return };
    app.create("in", PARTITIONS).await;
    app.create("out", PARTITIONS).await;
    app.fill(&app.producer(&[]), "in", RECORDS).await;
    let done = Arc::new(AtomicBool::new(false));
    let bootstrap = app.broker.bootstrap();
    let workers: Vec<_> = (0..2)
        .map(|number| {
            let (bootstrap, done) = (bootstrap.clone(), done.clone());
            std::thread::spawn(move || work(&bootstrap, number, &done))
        })
        .collect();
    for _ in 0..KILLS {
        // Load passes; there is no other event to wait for.
        std::thread::sleep(BETWEEN);
        app.broker.kill();
        app.broker.restart();
    }
    zombie(&bootstrap);
    check(&app);
    done.store(true, Ordering::Relaxed);
    let mut workers = workers;
    soon("the workers end", || {
        std::thread::sleep(Duration::from_millis(50));
        workers.retain(|worker| !worker.is_finished());
        workers.is_empty()
    });
}
