//! Exactly once while brokers of a cluster are killed: applications of which each part, data, groups and transactions,
//! goes on elsewhere.

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

use compat_tests::cluster::{Cluster, Voters};
use compat_tests::{Suite, suite};

/// Between two kills: the client has found the other brokers and worked for a while.
const BETWEEN: Duration = Duration::from_secs(4);

fn survives_kills(program: &str, arguments: impl FnOnce(&str) -> Vec<String>) {
    if !Suite::Java.wanted() || !Suite::Cluster.wanted() {
        return;
    }
    let mut cluster = Cluster::start(Voters::One);
    let mut command = Command::new(suite::home().join(program));
    command.args(arguments(&cluster.bootstrap())).env("COMPAT_REPLICAS", "3").env("COMPAT_RECORDS", "3000");
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for node in [2, 3, 2, 3] {
        // Load passes; there is no other event to wait for.
        std::thread::sleep(BETWEEN);
        assert!(running.try_wait().unwrap().is_none(), "killed in the middle of it");
        cluster.node(node).kill();
        cluster.node(node).restart();
    }
    let ran = running.wait_with_output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    println!("{output}{}", String::from_utf8_lossy(&ran.stderr));
    suite::report(&output);
    assert!(ran.status.success(), "exactly once fails while brokers are killed: {command:?}");
}

#[test]
fn exactly_once_survives_kill_9_of_brokers_kafka_clients_4_4() {
    survives_kills("java/run", |at| vec!["4.4.0".to_owned(), at.to_owned(), "ExactlyOnce".to_owned()]);
}

#[test]
fn flink_copies_exactly_once_through_kill_9_of_brokers() {
    survives_kills("flink/run", |at| ["2.2.0", "5.0.0-2.2", at, "9000"].map(str::to_owned).to_vec());
}
