//! An application that writes to several partitions at once.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rdkafka::error::KafkaError;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer, ThreadedProducer};

use crate::load::{PARTITIONS, PATIENCE, client};
use crate::reader::everything;

pub const TOPIC: &str = "whole-or-not";
/// Every so many transactions one is given up.
const ABORTED: u64 = 5;
const PACE: Duration = Duration::from_millis(5);
const TIMEOUT: Duration = Duration::from_secs(10);

/// How each transaction ended: committed or not.
#[derive(Debug, Default)]
pub struct Transactions(BTreeMap<u64, bool>);

impl fmt::Display for Transactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let committed = self.0.values().filter(|committed| **committed).count();
        write!(
            f,
            "{committed} transactions are whole, nothing is left of {} others",
            self.0.len() - committed
        )
    }
}

impl Transactions {
    /// A committed one is in every partition, once; of others there is nothing.
    pub fn check(&self, bootstrap: &str) {
        let mut found: BTreeMap<u64, Vec<i32>> = BTreeMap::new();
        for ((partition, _), value) in everything(bootstrap, TOPIC) {
            let number = std::str::from_utf8(&value).unwrap().parse().unwrap();
            found.entry(number).or_default().push(partition);
        }
        let everywhere: Vec<i32> = (0..PARTITIONS).collect();
        for (number, committed) in &self.0 {
            let expected = committed.then_some(&everywhere);
            assert_eq!(found.get(number), expected, "transaction {number}, committed: {committed}");
        }
    }
}

type Client = ThreadedProducer<DefaultProducerContext>;

/// Works until told to stop.
pub fn run(bootstrap: &str, stop: &AtomicBool) -> Transactions {
    let producer: Client = client(bootstrap)
        .set("transactional.id", "writer")
        .set("transaction.timeout.ms", "30000")
        .set("linger.ms", "0")
        .create()
        .unwrap();
    until_done("a start", || producer.init_transactions(TIMEOUT));
    let mut ended = Transactions::default();
    for number in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let kept = one(&producer, number);
        if !kept {
            until_done("an abort", || producer.abort_transaction(TIMEOUT));
        }
        ended.0.insert(number, kept);
        std::thread::sleep(PACE);
    }
    ended
}

/// One transaction; false if it is to be aborted.
fn one(producer: &Client, number: u64) -> bool {
    producer.begin_transaction().unwrap();
    let value = number.to_string();
    for partition in 0..PARTITIONS {
        let record = BaseRecord::<(), _>::to(TOPIC).partition(partition).payload(&value);
        if let Err((error, _)) = producer.send(record) {
            assert!(!is_fatal(&error), "a record of transaction {number}: {error}");
            return false;
        }
    }
    !number.is_multiple_of(ABORTED) && until_done("a commit", || producer.commit_transaction(TIMEOUT))
}

/// Tries again while the client says so; false if the transaction must be aborted.
fn until_done(what: &str, mut attempt: impl FnMut() -> Result<(), KafkaError>) -> bool {
    let end = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Ok(()) => return true,
            Err(KafkaError::Transaction(error)) if error.txn_requires_abort() => return false,
            Err(KafkaError::Transaction(error)) if error.is_retriable() && Instant::now() < end => {}
            // Its records are not all acknowledged yet.
            Err(KafkaError::Flush(_)) if Instant::now() < end => {}
            Err(error) => panic!("{what}: {error}"),
        }
    }
}

fn is_fatal(error: &KafkaError) -> bool {
    error.rdkafka_error_code() == Some(rdkafka::error::RDKafkaErrorCode::Fatal)
}
