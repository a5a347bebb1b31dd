//! Exactly once while the broker is killed: applications on Kafka's Java client read, transform and write in
//! transactions; a reader of what is committed finds each record once, in order.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::process::{Command, Stdio};
use std::time::Duration;

use compat_tests::{Broker, Suite, suite};

const KILLS: usize = 4;
/// Between two kills: the client has found the broker again and worked for a while.
const BETWEEN: Duration = Duration::from_secs(4);

fn survives_kills(client: &str) {
    if !Suite::Crash.wanted() {
        return;
    }
    let mut broker = Broker::start();
    let mut program = Command::new(suite::home().join("java/run"))
        .args([client, &broker.bootstrap(), "ExactlyOnce"])
        .env("COMPAT_RECORDS", "3000")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for _ in 0..KILLS {
        // Load passes; there is no other event to wait for.
        std::thread::sleep(BETWEEN);
        assert!(program.try_wait().unwrap().is_none(), "killed in the middle of it");
        broker.kill();
        broker.restart();
    }
    let ran = program.wait_with_output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    println!("{output}{}", String::from_utf8_lossy(&ran.stderr));
    suite::report(&output);
    assert!(ran.status.success(), "exactly once fails on kafka-clients {client} with {KILLS} kills");
}

#[test]
fn exactly_once_survives_kill_9_kafka_clients_4_4() {
    survives_kills("4.4.0");
}

#[test]
fn exactly_once_survives_kill_9_kafka_clients_2_1() {
    survives_kills("2.1.1");
}
