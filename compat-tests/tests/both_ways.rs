//! One data directory, now Kafka's, now ours: whatever one has written, the other serves to the byte.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "a test fails by panicking, and its numbers are small"
)]

#[path = "both_ways/ask.rs"]
mod ask;
#[path = "both_ways/fill.rs"]
mod fill;

use std::path::Path;
use std::process::Command;

use compat_tests::{Broker, Product, Suite, Wire, suite};

use crate::ask::{Snapshot, compacted_records};
use crate::fill::Filler;

/// The cleaner is quick, everything else as usual.
const SETTINGS: &[(&str, &str)] = &[
    ("log.cleaner.backoff.ms", "100"),
    ("log.initial.task.delay.ms", "0"),
    ("offsets.topic.num.partitions", "3"),
    ("transaction.state.log.num.partitions", "3"),
];

fn wire(broker: &Broker) -> Wire {
    Wire::connect(&broker.bootstrap()).unwrap()
}

/// The next broker on the directory serves what the one before served; then more is written.
fn hand_over(broker: &mut Broker, filler: &mut Filler, to: Product, kill: bool) {
    let before = Snapshot::take(&mut wire(broker));
    if kill {
        broker.kill();
    } else {
        broker.stop();
    }
    broker.restart_as(to);
    let mut wire = wire(broker);
    before.compare(&mut wire, &format!("{to:?} after {}", if kill { "kill -9" } else { "a stop" }));
    filler.more(&mut wire);
}

#[test]
fn kafka_and_barnabas_take_turns_on_a_directory() {
    if !Suite::BothWays.wanted() {
        return;
    }
    let mut kafka = Broker::start_as(Product::Kafka, SETTINGS);
    let mut filler = Filler::fill(&mut wire(&kafka), &kafka.data());
    let by_kafka = compacted_records(&mut wire(&kafka));
    hand_over(&mut kafka, &mut filler, Product::Barnabas, false);
    hand_over(&mut kafka, &mut filler, Product::Kafka, false);
    hand_over(&mut kafka, &mut filler, Product::Barnabas, true);
    hand_over(&mut kafka, &mut filler, Product::Kafka, true);
    kafka.stop();

    let mut ours = Broker::start_as(Product::Barnabas, SETTINGS);
    let mut filler = Filler::fill(&mut wire(&ours), &ours.data());
    let by_barnabas = compacted_records(&mut wire(&ours));
    assert_eq!(by_barnabas.len(), by_kafka.len(), "batches after compaction");
    for (ours, kafkas) in by_barnabas.iter().zip(&by_kafka) {
        assert_eq!(ours, kafkas, "both compact alike");
    }
    dump(&ours.data(), &["--deep-iteration", "--print-data-log"], "log");
    dump(&ours.data(), &["--index-sanity-check"], "index");
    hand_over(&mut ours, &mut filler, Product::Kafka, false);
    hand_over(&mut ours, &mut filler, Product::Barnabas, false);
    ours.stop();
}

/// Kafka's own reader of logs finds nothing wrong with the files of the topics.
fn dump(data: &Path, how: &[&str], extension: &str) {
    let mut files = Vec::new();
    for topic in fill::TOPICS {
        for entry in std::fs::read_dir(data.join(format!("{topic}-0"))).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().ends_with(extension) {
                files.push(path.display().to_string());
            }
        }
    }
    let files = files.join(",");
    let output = Command::new(suite::home().join("kafka"))
        .args(["tool", "kafka-dump-log", "--files", &files])
        .args(how)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let bad = |line: &&str| {
        let line = line.to_lowercase();
        line.contains("mismatch")
            || line.contains("isvalid: false")
            || line.contains("found timestamp")
            || line.contains("not sequential")
            || line.contains("invalid")
    };
    assert_eq!(said.lines().find(bad), None);
}
