//! The official tools of Kafka 4.4: what they print is compared with what they print for Apache Kafka (`expected/`).
//!
//! `./test --record` writes `expected/` anew, from the reference broker.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use compat_tests::{Broker, Suite, suite};

/// Runs scripts in one JVM; their transcripts are in `output` under the scripts' names.
fn run_tools(broker: &Broker, output: &Path, scripts: &[PathBuf]) {
    let mut command = Command::new(suite::home().join("console-tools/run"));
    command.arg(broker.bootstrap()).arg(broker.data()).arg(output).args(scripts);
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
    suite::report(&String::from_utf8_lossy(&ran.stdout));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// The first lines that differ, with the command that printed them.
fn difference(expected: &str, seen: &str) -> Option<String> {
    let mut report = String::new();
    let (mut expected, mut seen) = (blocks(expected).into_iter(), blocks(seen).into_iter());
    loop {
        match (expected.next(), seen.next()) {
            (None, None) => return (!report.is_empty()).then_some(report),
            (left, right) if left == right => {}
            (left, right) => report.push_str(&format!(
                "  expected: {}\n  seen:     {}\n",
                left.unwrap_or_default(),
                right.unwrap_or_default()
            )),
        }
    }
}

/// A command and its output, for each command of a transcript.
fn blocks(transcript: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in transcript.lines() {
        match all.last_mut() {
            Some(block) if !line.starts_with("$ ") => block.push_str(&format!("\n    {line}")),
            _ => all.push(line.to_owned()),
        }
    }
    all
}

#[test]
fn tools_print_what_they_print_for_kafka() {
    if !Suite::Tools.wanted() {
        return;
    }
    let broker = Broker::start();
    for (name, offset) in [("two", 2), ("all", -1), ("too-much", 99)] {
        let text = format!(
            r#"{{"version":1,"partitions":[{{"topic":"leaving","partition":0,"offset":{offset}}}]}}"#
        );
        std::fs::write(broker.directory().join(format!("delete-{name}.json")), text).unwrap();
    }
    let one = "moved,0,2\nmoved,1,1\n";
    let two = "movers,moved,0,1\nothers,moved,0,3\nothers,moved,1,0\n";
    for (name, text) in [("one-group", one), ("two-groups", two)] {
        std::fs::write(broker.directory().join(format!("offsets-{name}.csv")), text).unwrap();
    }
    let expected = suite::home().join("expected");
    let record = std::env::var_os("COMPAT_RECORD").is_some_and(|asked| asked == "1");
    assert!(!record || Broker::is_reference(), "only the reference is recorded: COMPAT_BROKER=reference");
    let output = if record { expected.clone() } else { broker.directory().join("output") };
    let scripts = files(&suite::home().join("console-tools/scripts"));
    run_tools(&broker, &output, &scripts);

    let mut failed = Vec::new();
    for script in &scripts {
        let name = script.file_name().unwrap();
        let seen = std::fs::read_to_string(output.join(name)).unwrap();
        let wanted = std::fs::read_to_string(expected.join(name)).unwrap_or_default();
        match difference(&wanted, &seen) {
            None => suite::report(&format!("tools {}: as for Kafka\n", name.display())),
            Some(report) => {
                println!("{}:\n{report}", name.display());
                failed.push(name);
            }
        }
    }
    assert!(failed.is_empty(), "the tools print something else in {failed:?}");
}

/// The decoder that shows the records of a topic, for Kafka's own topics.
fn decoder(partition: &OsStr) -> &'static str {
    match partition.to_str() {
        Some("__cluster_metadata-0") => "--cluster-metadata-decoder",
        Some(name) if name.starts_with("__consumer_offsets-") => "--offsets-decoder",
        Some(name) if name.starts_with("__transaction_state-") => "--transaction-log-decoder",
        _ => "--print-data-log",
    }
}

/// A script that dumps every file of a data directory that the dump tool knows.
fn dump_script(data: &Path) -> String {
    let mut script = String::new();
    for partition in files(data).iter().filter(|path| path.is_dir()) {
        for file in files(partition) {
            let empty = file.metadata().unwrap().len() == 0;
            let kind = file.extension().and_then(OsStr::to_str).unwrap_or_default();
            let decoder = decoder(partition.file_name().unwrap());
            let options: &[&str] = match kind {
                "log" => &["--deep-iteration", decoder],
                "checkpoint" => &["--cluster-metadata-decoder"],
                "index" | "timeindex" => &["--index-sanity-check", "--verify-index-only"],
                "snapshot" | "txnindex" => &[""],
                _ => continue,
            };
            // A log is read whole and decoded in one go, an index is checked in both ways.
            let options = if kind == "log" {
                vec![options.join(" ")]
            } else {
                options.iter().map(|one| (*one).into()).collect()
            };
            // Kafka's own metadata log leaves its time index padded with zeros, which its own check refuses.
            let padded = Broker::is_reference()
                && kind == "timeindex"
                && file.starts_with(data.join("__cluster_metadata-0"));
            for options in options.iter().filter(|_| !empty && !padded) {
                script.push_str(&format!("kafka-dump-log --files {} {options}\n", file.display()));
            }
        }
    }
    script
}

#[test]
fn dump_log_reads_every_file() {
    if !Suite::Tools.wanted() {
        return;
    }
    let mut broker = Broker::start();
    let script = broker.directory().join("fill.txt");
    let bootstrap = "--bootstrap-server {broker}";
    std::fs::write(
        &script,
        format!(
            "kafka-topics {bootstrap} --create --topic dumped --partitions 2 --config segment.bytes=1048576\n\
             kafka-producer-perf-test {bootstrap} --topic dumped --num-records 30000 --record-size 100 --throughput -1\n\
             kafka-console-producer {bootstrap} --topic dumped --compression-codec zstd\n| one\n| two\n\
             kafka-console-consumer {bootstrap} --topic dumped --group dumpers --from-beginning --max-messages 30002\n\
             kafka-producer-perf-test {bootstrap} --topic dumped --num-records 2000 --record-size 100 --throughput 4000 \
             --transactional-id dumper --transaction-duration-ms 100\n\
             kafka-topics {bootstrap} --create --topic short --config segment.bytes=1048576\n\
             kafka-topics {bootstrap} --delete --topic short\n"
        ),
    )
    .unwrap();
    run_tools(&broker, &broker.directory().join("output"), &[script]);
    broker.stop();

    let script = broker.directory().join("dump.txt");
    std::fs::write(&script, dump_script(&broker.data())).unwrap();
    run_tools(&broker, &broker.directory().join("output"), &[script]);
    let transcript = std::fs::read_to_string(broker.directory().join("output/dump.txt")).unwrap();
    let dumps = blocks(&transcript);
    let count = |kind: &str| dumps.iter().filter(|dump| dump.lines().next().unwrap().contains(kind)).count();
    for kind in [
        ".log ",
        ".index ",
        ".timeindex ",
        "--verify-index-only",
        "__cluster_metadata-0",
        "__consumer_offsets-",
        "__transaction_state-",
        ".snapshot ",
    ] {
        assert!(count(kind) > 0, "no file like {kind} was dumped:\n{transcript}");
    }
    let complaints =
        ["isvalid: false", "Exception", "exit ", "Found ", "mismatch", "nvalid", "Could not", "unknown"];
    for dump in &dumps {
        let complaint = dump.lines().skip(1).find(|line| complaints.iter().any(|sign| line.contains(sign)));
        assert!(complaint.is_none(), "the dump tool complains: {complaint:?}\n{dump}");
    }
    assert!(transcript.contains("TOPIC_RECORD"), "the metadata log's records are shown");
    assert!(transcript.contains("dumpers"), "the group's records are shown");
    assert!(transcript.contains(r#""transactionalId":"dumper""#), "the transaction's records are shown");
    suite::report(&format!("tools kafka-dump-log: {} files read\n", dumps.len()));
}
