//! Exactly once while the broker is killed: applications on Kafka's Java client read, transform and write in
//! transactions, others commit, abort and are fenced at random, Kafka Streams counts and Flink copies with checkpoints; a
//! reader of what is committed finds what was promised, each record once and in order.

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

fn survives_kills(program: impl FnOnce(&str) -> Command) {
    if !Suite::Crash.wanted() {
        return;
    }
    let mut broker = Broker::start();
    let mut command = program(&broker.bootstrap());
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..KILLS {
        // Load passes; there is no other event to wait for.
        std::thread::sleep(BETWEEN);
        assert!(running.try_wait().unwrap().is_none(), "killed in the middle of it");
        broker.kill();
        broker.restart();
    }
    let ran = running.wait_with_output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    println!("{output}{}", String::from_utf8_lossy(&ran.stderr));
    suite::report(&output);
    assert!(ran.status.success(), "exactly once fails with {KILLS} kills: {command:?}");
}

fn client(version: &str, bootstrap: &str) -> Command {
    let mut command = Command::new(suite::home().join("java/run"));
    command.args([version, bootstrap, "ExactlyOnce"]).env("COMPAT_RECORDS", "3000");
    command
}

#[test]
fn exactly_once_survives_kill_9_kafka_clients_4_4() {
    survives_kills(|bootstrap| client("4.4.0", bootstrap));
}

#[test]
fn exactly_once_survives_kill_9_kafka_clients_2_1() {
    survives_kills(|bootstrap| client("2.1.1", bootstrap));
}

/// Longer than the kills take.
fn random(version: &str, bootstrap: &str) -> Command {
    let mut command = Command::new(suite::home().join("java/run"));
    command.args([version, bootstrap, "RandomTransactions"]).env("COMPAT_SECONDS", "30");
    command
}

#[test]
fn readers_see_what_producers_were_promised_through_kill_9_kafka_clients_4_4() {
    survives_kills(|bootstrap| random("4.4.0", bootstrap));
}

#[test]
fn readers_see_what_producers_were_promised_through_kill_9_kafka_clients_2_1() {
    survives_kills(|bootstrap| random("2.1.1", bootstrap));
}

#[test]
fn kafka_streams_count_exactly_once_through_kill_9() {
    survives_kills(|bootstrap| {
        let mut command = Command::new(suite::home().join("streams/run"));
        command.args([bootstrap, "3000"]);
        command
    });
}

#[test]
fn flink_copies_exactly_once_through_kill_9() {
    survives_kills(|bootstrap| {
        let mut command = Command::new(suite::home().join("flink/run"));
        command.args(["2.2.0", "5.0.0-2.2", bootstrap, "9000"]);
        command
    });
}

#[test]
fn flink_1_copies_exactly_once_through_kill_9() {
    survives_kills(|bootstrap| {
        let mut command = Command::new(suite::home().join("flink/run"));
        command.args(["1.20.0", "3.4.0-1.20", bootstrap, "9000"]);
        command
    });
}
