//! Brokers on real disks that fill up, fail or belong to somebody else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "../support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use barnabas_protocol::Uuid;
use barnabas_protocol::batch::Batches;
use barnabas_protocol::messages::DescribeLogDirsRequest;
use support::{Client, Running};

/// A process that is being started holds this one's locks for a moment, so that a directory would seem to be in use.
static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// KAFKA_STORAGE_ERROR.
const STORAGE_ERROR: i16 = 56;

/// A file system of a few megabytes.
struct Volume(PathBuf);

impl Volume {
    /// None, with a word about it, if this machine does not let us mount.
    fn new(at: PathBuf, megabytes: u32) -> Option<Volume> {
        std::fs::create_dir_all(&at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"])
            .arg(&at)
            .stderr(Stdio::null())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Volume(at));
        }
        eprintln!("skipped: mounting a tmpfs takes root");
        None
    }

    fn resize(&self, megabytes: u32) {
        let size = format!("remount,size={megabytes}m");
        assert!(Command::new("mount").args(["-o", &size]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        let _best_effort = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn two_dirs(first: &Path, second: &Path) -> Running {
    let dirs = format!("{},{}", first.display(), second.display());
    support::start(first, &[("log.dirs", dirs.as_str())])
}

/// Error code and partitions of each log directory.
async fn log_dirs(client: &mut Client) -> Vec<(String, i16, Vec<i32>)> {
    let request = DescribeLogDirsRequest { topics: None };
    let response = client.ask(4, &request).await;
    let mut dirs: Vec<_> = response
        .results
        .into_iter()
        .map(|dir| {
            let partitions = dir.topics.iter().flat_map(|topic| &topic.partitions);
            (dir.log_dir, dir.error_code, partitions.map(|partition| partition.partition_index).collect())
        })
        .collect();
    dirs.sort();
    dirs
}

async fn produce(client: &mut Client, topic: Uuid, index: i32, value: &[u8]) -> i16 {
    let request = support::produce_request(topic, index, support::batch(1_767_225_600_000, &[value]));
    client.ask(13, &request).await.responses[0].partition_responses[0].error_code
}

/// Number of records that can be read, or the error.
async fn count(client: &mut Client, topic: Uuid, index: i32) -> Result<i64, i16> {
    let mut next = 0;
    loop {
        let response = client.ask(17, &support::fetch_request(topic, index, next)).await;
        let answer = &response.responses[0].partitions[0];
        if answer.error_code != 0 {
            return Err(answer.error_code);
        }
        let records = answer.records.clone().unwrap_or_default();
        let Some(last) = Batches::new(&records).last() else { return Ok(next) };
        let last = last.unwrap();
        last.check_crc().unwrap();
        next = last.header().next_offset();
    }
}

/// A topic with a partition in each of two directories; the partition in the second one comes last.
async fn one_in_each(client: &mut Client, second: &Path) -> (Uuid, i32, i32) {
    let topic = support::create_topic(client, "t", 2).await;
    let dirs = log_dirs(client).await;
    assert!(dirs.iter().all(|(_, error, partitions)| *error == 0 && partitions.len() == 1), "{dirs:?}");
    let second = dirs.iter().find(|(dir, ..)| Path::new(dir) == second).unwrap().2[0];
    (topic, 1 - second, second)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_stops_its_partitions_and_no_others() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let home = tempfile::tempdir().unwrap();
    let (first, second) = (home.path().join("first"), home.path().join("second"));
    let Some(volume) = Volume::new(second.clone(), 6) else { return };
    let broker = two_dirs(&first, &second);
    let mut client = broker.connect().await;
    let (topic, safe, doomed) = one_in_each(&mut client, &second).await;
    let value = vec![b'x'; 100_000];
    let mut acknowledged = 0;
    let error = loop {
        match produce(&mut client, topic, doomed, &value).await {
            0 => acknowledged += 1,
            error => break error,
        }
        assert!(acknowledged < 100, "six megabytes are full by now");
    };
    assert_eq!(error, STORAGE_ERROR);
    assert!(acknowledged > 20);
    assert_eq!(produce(&mut client, topic, doomed, b"small").await, STORAGE_ERROR, "it stays offline");
    assert_eq!(count(&mut client, topic, doomed).await, Err(STORAGE_ERROR));
    assert_eq!(produce(&mut client, topic, safe, &value).await, 0);
    let dirs = log_dirs(&mut client).await;
    assert_eq!(dirs.iter().map(|(_, error, _)| *error).collect::<Vec<_>>(), [0, STORAGE_ERROR]);
    broker.stop().await;

    volume.resize(60);
    let broker = two_dirs(&first, &second);
    let mut client = broker.connect().await;
    assert_eq!(count(&mut client, topic, doomed).await, Ok(acknowledged), "nothing lost, nothing torn");
    assert_eq!(produce(&mut client, topic, doomed, &value).await, 0);
    assert_eq!(count(&mut client, topic, safe).await, Ok(1));
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_does_not_work_at_the_start_is_not_replaced_by_an_empty_one() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let home = tempfile::tempdir().unwrap();
    let (first, second) = (home.path().join("first"), home.path().join("second"));
    let broker = two_dirs(&first, &second);
    let mut client = broker.connect().await;
    let (topic, safe, doomed) = one_in_each(&mut client, &second).await;
    for index in [safe, doomed] {
        assert_eq!(produce(&mut client, topic, index, b"value").await, 0);
    }
    broker.stop().await;
    let away = home.path().join("away");
    std::fs::rename(&second, &away).unwrap();
    std::fs::write(&second, b"not a directory").unwrap();

    let broker = two_dirs(&first, &second);
    let mut client = broker.connect().await;
    assert_eq!(produce(&mut client, topic, doomed, b"value").await, STORAGE_ERROR);
    assert_eq!(count(&mut client, topic, doomed).await, Err(STORAGE_ERROR));
    assert_eq!(produce(&mut client, topic, safe, b"value").await, 0);
    let dirs = log_dirs(&mut client).await;
    assert_eq!(dirs.iter().map(|(_, error, _)| *error).collect::<Vec<_>>(), [0, STORAGE_ERROR]);
    broker.stop().await;

    std::fs::remove_file(&second).unwrap();
    std::fs::rename(&away, &second).unwrap();
    let broker = two_dirs(&first, &second);
    let mut client = broker.connect().await;
    assert_eq!(count(&mut client, topic, doomed).await, Ok(1));
    assert_eq!(produce(&mut client, topic, doomed, b"value").await, 0);
    assert_eq!(count(&mut client, topic, safe).await, Ok(2));
    broker.stop().await;
}

/// Starts the program itself; its output goes to a file.
fn program(home: &Path, dirs: &str, output: &Path) -> std::process::Child {
    let settings = home.join("server.properties");
    let text = format!("node.id=1\nlisteners=PLAINTEXT://127.0.0.1:0\nlog.dirs={dirs}\n");
    std::fs::write(&settings, text).unwrap();
    let file = std::fs::File::create(output).unwrap();
    Command::new(env!("CARGO_BIN_EXE_barnabas"))
        .arg("server")
        .arg(&settings)
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .spawn()
        .unwrap()
}

/// The program's exit code and what it said last.
async fn end(mut program: std::process::Child, output: &Path) -> (Option<i32>, String) {
    support::eventually(async || program.try_wait().unwrap().is_some()).await;
    let said = std::fs::read_to_string(output).unwrap();
    (program.wait().unwrap().code(), said.lines().last().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_in_use_stops_the_start() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let broker = support::start(&data, &[]);
    let output = home.path().join("output");
    let (code, said) = end(program(home.path(), &data.display().to_string(), &output), &output).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("is in use by another process"), "{said}");
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_that_is_the_only_one_ends_the_process() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let Some(volume) = Volume::new(data.clone(), 6) else { return };
    let broker = support::start(&data, &[]);
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "t", 1).await;
    assert_eq!(produce(&mut client, topic, 0, b"value").await, 0);
    broker.stop().await;
    let output = home.path().join("output");
    let child = program(home.path(), &data.display().to_string(), &output);
    let mut port: Option<u16> = None;
    support::eventually(async || {
        let said = std::fs::read_to_string(&output).unwrap();
        let line = said.lines().find_map(|line| line.strip_prefix("Listening on "));
        port = line.and_then(|line| line.rsplit_once(':')?.1.parse().ok());
        port.is_some()
    })
    .await;
    let mut client = support::connect(([127, 0, 0, 1], port.unwrap()).into()).await;
    let value = vec![b'x'; 100_000];
    let mut acknowledged = 1;
    while produce(&mut client, topic, 0, &value).await == 0 {
        acknowledged += 1;
        assert!(acknowledged < 100, "six megabytes are full by now");
    }
    let (code, said) = end(child, &output).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("has failed, and it holds the metadata log"), "{said}");

    volume.resize(60);
    let broker = support::start(&data, &[]);
    let mut client = broker.connect().await;
    assert_eq!(count(&mut client, topic, 0).await, Ok(acknowledged), "nothing lost, nothing torn");
    broker.stop().await;
}
