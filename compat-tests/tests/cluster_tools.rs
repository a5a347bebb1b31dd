//! The official tools of Kafka 4.4 on three nodes, of which some fall.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use compat_tests::cluster::{Cluster, Voters};
use compat_tests::{Suite, suite};

const PATIENCE: Duration = Duration::from_secs(60);
const MESSAGES: &str = "12000";

/// A tool that asks the first node, which stays.
fn tool(cluster: &Cluster, name: &str, option: &str, words: &str) -> Command {
    let mut command = Command::new(suite::home().join("kafka"));
    command.args(["tool", name, option, &cluster.bootstrap()]);
    command.args(words.split_whitespace()).stderr(Stdio::inherit());
    command
}

fn run(command: &mut Command) -> String {
    let ran = command.output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{command:?}: {output}");
    output
}

/// The partitions that `kafka-topics --describe` prints, without those of Kafka's own topics.
fn described(cluster: &Cluster, which: &str) -> Vec<String> {
    let output =
        run(&mut tool(cluster, "kafka-topics", "--bootstrap-server", &format!("--describe {which}")));
    let partitions = output.lines().filter(|line| line.contains("Partition: ") && !line.contains("__"));
    partitions.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn until(what: &str, mut holds: impl FnMut() -> Result<(), String>) {
    let start = Instant::now();
    while let Err(why) = holds() {
        assert!(start.elapsed() < PATIENCE, "{what}: {why}");
    }
}

/// Asks again until so many partitions are told of, in the words of the tool.
fn tells(cluster: &Cluster, which: &str, count: usize) -> Vec<String> {
    let mut told = Vec::new();
    until(which, || {
        told = described(cluster, which);
        if told.len() == count { Ok(()) } else { Err(format!("{count} partitions expected: {told:?}")) }
    });
    told
}

fn create(cluster: &Cluster, words: &str) {
    run(&mut tool(cluster, "kafka-topics", "--bootstrap-server", &format!("--create {words}")));
}

/// A tool that runs on; it is killed when dropped.
struct Background(Child);

impl Background {
    fn start(mut command: Command) -> Background {
        Background(command.stdout(Stdio::piped()).spawn().unwrap())
    }

    /// What it printed, once it has ended by itself.
    fn ended(mut self) -> String {
        let mut output = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        assert!(self.0.wait().unwrap().success(), "{output}");
        output
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The verification tool, which looks until it is stopped, finds no replica that lags.
fn replicas_are_alike(cluster: &Cluster) {
    let words = "--topics-include tooled --report-interval-ms 500";
    let mut tool = Background::start(tool(cluster, "kafka-replica-verification", "--broker-list", words));
    let mut lines = BufReader::new(tool.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.by_ref().take(20).any(|line| line.contains("max lag is 0 for")), "the replicas differ");
}

#[test]
fn the_tools_see_what_falls_and_work_through_it() {
    if !Suite::Tools.wanted() || !Suite::Cluster.wanted() {
        return;
    }
    let mut cluster = Cluster::start(Voters::One);
    create(&cluster, "--topic tooled --replica-assignment 1:2:3,2:3:1,3:1:2");
    create(&cluster, "--topic alone --replica-assignment 3");
    let settings = cluster.node(1).directory().join("producer.properties");
    std::fs::write(&settings, "retries=2147483647\n").unwrap();
    let words = format!(
        "--topic tooled --max-messages {MESSAGES} --throughput 1000 --command-config {}",
        settings.display()
    );
    let producer =
        Background::start(tool(&cluster, "kafka-verifiable-producer", "--bootstrap-server", &words));
    let words = format!("--topic tooled --group-id verifiers --max-messages {MESSAGES}");
    let consumer =
        Background::start(tool(&cluster, "kafka-verifiable-consumer", "--bootstrap-server", &words));
    assert!(described(&cluster, "--under-replicated-partitions").is_empty());

    cluster.node(3).kill();
    let lacking = tells(&cluster, "--under-replicated-partitions", 4);
    assert!(lacking.iter().all(|line| !line.contains("Leader: 3")), "{lacking:?}");
    assert!(
        tells(&cluster, "--unavailable-partitions", 1)[0].contains("Topic: alone Partition: 0 Leader: none")
    );
    cluster.node(2).kill();
    let lacking = tells(&cluster, "--under-min-isr-partitions", 4);
    assert!(lacking.iter().filter(|line| line.contains("Leader: 1 ")).count() == 3, "{lacking:?}");
    cluster.power_on();
    assert!(described(&cluster, "--under-replicated-partitions").is_empty());
    assert!(described(&cluster, "--unavailable-partitions").is_empty());

    let words = "--election-type preferred --all-topic-partitions";
    run(&mut tool(&cluster, "kafka-leader-election", "--bootstrap-server", words));
    let leaders = described(&cluster, "--topic tooled");
    for (partition, leader) in [(0, 1), (1, 2), (2, 3)] {
        let wanted = format!("Partition: {partition} Leader: {leader}");
        assert!(leaders.iter().any(|line| line.contains(&wanted)), "{wanted}: {leaders:?}");
    }
    let (produced, consumed) = (producer.ended(), consumer.ended());
    assert!(produced.contains(&format!("\"sent\":{MESSAGES}")), "{}", produced.lines().last().unwrap());
    assert!(produced.contains(&format!("\"acked\":{MESSAGES}")), "{}", produced.lines().last().unwrap());
    assert!(!produced.contains("producer_send_error"), "{produced}");
    assert!(consumed.contains("records_consumed"), "{consumed}");
    replicas_are_alike(&cluster);
}
