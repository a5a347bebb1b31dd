//! Applications that work while nodes fall.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use compat_tests::suite;
use rdkafka::ClientContext;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message;
use rdkafka::producer::{BaseRecord, DeliveryResult, Producer, ProducerContext, ThreadedProducer};

use crate::group::Group;
use crate::ledger::{Ledger, Sent};
use crate::reader::{Reader, everything};
use crate::transactions::{self, Transactions};

pub const TOPIC: &str = "acknowledged";
pub const PARTITIONS: i32 = 6;
/// How long anything may take that goes on after a failover.
pub const PATIENCE: Duration = Duration::from_secs(90);
const PRODUCERS: usize = 3;
const KEYS: usize = 16;
/// One record of each producer goes at this pace.
const PACE: Duration = Duration::from_millis(1);

/// See the module.
pub struct Load {
    pub ledger: Arc<Ledger>,
    bootstrap: String,
    stop: Arc<AtomicBool>,
    producers: Vec<JoinHandle<()>>,
    reader: JoinHandle<Reader>,
    group: Group,
    transactions: JoinHandle<Transactions>,
}

pub fn client(bootstrap: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap).set("reconnect.backoff.max.ms", "500");
    config
}

impl Load {
    pub fn start(bootstrap: &str) -> Load {
        create_topics(bootstrap);
        let (ledger, stop) = (Arc::new(Ledger::new()), Arc::new(AtomicBool::new(false)));
        let producers = (0..PRODUCERS).map(|number| {
            let (ledger, stop, bootstrap) = (ledger.clone(), stop.clone(), bootstrap.to_owned());
            std::thread::spawn(move || produce(number, &bootstrap, &ledger, &stop))
        });
        let producers = producers.collect();
        let (at, stopped) = (bootstrap.to_owned(), stop.clone());
        let reader = std::thread::spawn(move || Reader::follow(&at, &stopped));
        let (at, stopped) = (bootstrap.to_owned(), stop.clone());
        let transactions = std::thread::spawn(move || transactions::run(&at, &stopped));
        let group = Group::start(bootstrap);
        Load { ledger, bootstrap: bootstrap.to_owned(), stop, producers, reader, group, transactions }
    }

    /// Ends the load and compares what is there with what was promised.
    pub fn check(self) {
        self.stop.store(true, Ordering::Relaxed);
        for producer in self.producers {
            producer.join().unwrap();
        }
        let (reader, transactions) = (self.reader.join().unwrap(), self.transactions.join().unwrap());
        assert_eq!(self.ledger.failures(), Vec::<String>::new(), "what the producers were refused");
        let found = everything(&self.bootstrap, TOPIC);
        let found = found.into_iter().map(|(place, value)| (place, Sent::of(&value))).collect();
        self.ledger.check(&found);
        reader.check(&found);
        let read = self.group.check(&found);
        transactions.check(&self.bootstrap);
        suite::report(&format!(
            "cluster: {} records are there, each once; {read} were read in a group; {transactions}\n",
            self.ledger.len()
        ));
    }
}

fn create_topics(bootstrap: &str) {
    let admin: AdminClient<DefaultClientContext> = client(bootstrap).create().unwrap();
    let topics =
        [TOPIC, transactions::TOPIC].map(|name| NewTopic::new(name, PARTITIONS, TopicReplication::Fixed(3)));
    let made = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(admin.create_topics(&topics, &AdminOptions::new()))
        .unwrap();
    assert!(made.iter().all(Result::is_ok), "{made:?}");
}

struct Deliveries {
    ledger: Arc<Ledger>,
}

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = Box<Sent>;

    fn delivery(&self, result: &DeliveryResult<'_>, sent: Box<Sent>) {
        match result {
            Ok(message) => self.ledger.acknowledge(*sent, message.partition(), message.offset()),
            Err((error, _)) => self.ledger.fail(format!("{sent:?}: {error}")),
        }
    }
}

/// Sends each key's records in order until told to stop; then waits for the last acknowledgement.
fn produce(number: usize, bootstrap: &str, ledger: &Arc<Ledger>, stop: &AtomicBool) {
    let producer: ThreadedProducer<Deliveries> = client(bootstrap)
        .set("enable.idempotence", "true")
        .set("acks", "all")
        .set("linger.ms", "5")
        .set("retry.backoff.max.ms", "200")
        .set("queue.buffering.max.messages", "2000")
        .create_with_context(Deliveries { ledger: ledger.clone() })
        .unwrap();
    for record in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let key = usize::try_from(record).unwrap() % KEYS;
        let sent = Sent { producer: number, key, number: record / KEYS as u64 };
        let (key, value) = (sent.key(), sent.value());
        let mut record = BaseRecord::with_opaque_to(TOPIC, Box::new(sent)).key(&key).payload(&value);
        let end = Instant::now() + PATIENCE;
        loop {
            match producer.send(record) {
                Ok(()) => break,
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), again)) => {
                    assert!(Instant::now() < end, "producer {number}: nothing is acknowledged any more");
                    record = again;
                }
                Err((error, _)) => panic!("producer {number}: {error}"),
            }
            std::thread::sleep(PACE);
        }
        std::thread::sleep(PACE);
    }
    producer.flush(PATIENCE).unwrap();
}
