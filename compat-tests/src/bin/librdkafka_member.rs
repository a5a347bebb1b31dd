//! A member of a consumer group on librdkafka, a process of its own so that it can be stopped and killed.
//!
//!     librdkafka_member BOOTSTRAP KEY=VALUE...
//!
//! Says `given` when partitions are handed to it, `share N` when it has another number of them, `seen PARTITION OFFSET`
//! for each record, and commits behind it. Leaves in order when its input ends.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a member that cannot work fails its test")]

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rdkafka::ClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message;

struct Told;

impl ClientContext for Told {}

impl ConsumerContext for Told {
    fn post_rebalance(&self, _consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Assign(_) = rebalance {
            println!("given");
        }
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", words.next().expect("BOOTSTRAP"));
    config.set("enable.auto.commit", "false").set("auto.offset.reset", "earliest");
    for setting in words {
        let (key, value) = setting.split_once('=').expect("KEY=VALUE");
        config.set(key, value);
    }
    let consumer: BaseConsumer<Told> = config.create_with_context(Told).unwrap();
    consumer.subscribe(&["shared"]).unwrap();
    let leaving = Arc::new(AtomicBool::new(false));
    let asked = leaving.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        asked.store(true, Ordering::Relaxed);
    });
    let (mut share, mut uncommitted) = (0, false);
    while !leaving.load(Ordering::Relaxed) {
        // Faults of a broker or a session are mended by librdkafka itself; what was lost comes to somebody again.
        if let Some(Ok(message)) = consumer.poll(Duration::from_millis(50)) {
            println!("seen {} {}", message.partition(), message.offset());
            uncommitted = true;
        }
        // Refused while a rebalance goes on: who keeps its partitions through it has to say it again.
        if uncommitted {
            let committed = consumer.commit_consumer_state(CommitMode::Sync);
            let nothing = KafkaError::ConsumerCommit(RDKafkaErrorCode::NoOffset);
            uncommitted = committed.is_err_and(|error| error != nothing);
        }
        let now = consumer.assignment().map(|list| list.count()).unwrap_or_default();
        if now != share {
            share = now;
            println!("share {share}");
        }
    }
}
