//! Programs on releases of Kafka's Java client, old and new (`java/src`).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::process::Command;

use compat_tests::{Broker, Suite, suite};

fn programs_run_on(client: &str) {
    if !Suite::Java.wanted() {
        return;
    }
    let broker = Broker::start();
    let ran =
        Command::new(suite::home().join("java/run")).args([client, &broker.bootstrap()]).output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    println!("{output}{}", String::from_utf8_lossy(&ran.stderr));
    suite::report(&output);
    assert!(ran.status.success(), "programs fail on kafka-clients {client}");
}

#[test]
fn kafka_clients_2_1() {
    programs_run_on("2.1.1");
}

#[test]
fn kafka_clients_2_8() {
    programs_run_on("2.8.2");
}

#[test]
fn kafka_clients_3_9() {
    programs_run_on("3.9.1");
}

#[test]
fn kafka_clients_4_4() {
    programs_run_on("4.4.0");
}
