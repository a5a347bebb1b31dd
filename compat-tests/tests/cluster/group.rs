//! A group of consumers that commits what it has read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::message::Message;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use crate::ledger::Sent;
use crate::load::{PARTITIONS, PATIENCE, TOPIC, client};
use crate::reader::may_pass;

const POLL: Duration = Duration::from_millis(100);
const COMMIT_EVERY: Duration = Duration::from_millis(200);

#[derive(Default)]
struct Progress {
    read: BTreeSet<(i32, i64)>,
    /// The largest offset of each partition whose commit was acknowledged.
    committed: BTreeMap<i32, i64>,
}

/// Two members: one of the classic protocol's groups.
pub struct Group {
    progress: Arc<Mutex<Progress>>,
    stop: Arc<AtomicBool>,
    members: Vec<JoinHandle<()>>,
    bootstrap: String,
}

fn member(bootstrap: &str) -> BaseConsumer {
    let mut config = client(bootstrap);
    config
        .set("group.id", "readers")
        .set("auto.offset.reset", "earliest")
        .set("enable.auto.commit", "false")
        .set("session.timeout.ms", "10000")
        .set("heartbeat.interval.ms", "500");
    config.create().unwrap()
}

impl Group {
    pub fn start(bootstrap: &str) -> Group {
        let (progress, stop) = (Arc::<Mutex<Progress>>::default(), Arc::new(AtomicBool::new(false)));
        let members = (0..2).map(|_| {
            let (at, progress, stop) = (bootstrap.to_owned(), progress.clone(), stop.clone());
            std::thread::spawn(move || work(&member(&at), &progress, &stop))
        });
        let members = members.collect();
        Group { progress, stop, members, bootstrap: bootstrap.to_owned() }
    }

    /// Waits until everything was read; nothing was skipped, and what was committed is remembered.
    pub fn check(self, found: &BTreeMap<(i32, i64), Sent>) -> usize {
        let end = Instant::now() + PATIENCE;
        loop {
            let (read, alive) =
                (self.progress.lock().unwrap().read.len(), self.members.iter().all(|m| !m.is_finished()));
            assert!(alive, "a member of the group has failed");
            if read >= found.len() {
                break;
            }
            assert!(Instant::now() < end, "the group has read {read} of {} records", found.len());
            std::thread::sleep(POLL);
        }
        self.stop.store(true, Ordering::Relaxed);
        for member in self.members {
            member.join().unwrap();
        }
        let progress = self.progress.lock().unwrap();
        assert!(progress.read.iter().eq(found.keys()), "the group has read what is not there");
        let mut all = TopicPartitionList::new();
        for partition in 0..PARTITIONS {
            all.add_partition(TOPIC, partition);
        }
        let known = member(&self.bootstrap).committed_offsets(all, PATIENCE).unwrap();
        for (partition, acknowledged) in &progress.committed {
            let known = known.find_partition(TOPIC, *partition).unwrap().offset();
            let Offset::Offset(known) = known else { panic!("{partition}: {known:?}, not {acknowledged}") };
            assert!(known >= *acknowledged, "partition {partition}: {known}, committed was {acknowledged}");
        }
        progress.read.len()
    }
}

fn work(consumer: &BaseConsumer, progress: &Mutex<Progress>, stop: &AtomicBool) {
    consumer.subscribe(&[TOPIC]).unwrap();
    let (mut positions, mut due) = (BTreeMap::new(), Instant::now() + COMMIT_EVERY);
    while !stop.load(Ordering::Relaxed) {
        match consumer.poll(POLL) {
            Some(Ok(message)) => {
                let place = (message.partition(), message.offset());
                positions.insert(place.0, place.1 + 1);
                progress.lock().unwrap().read.insert(place);
            }
            Some(Err(error)) => may_pass(&error),
            None => {}
        }
        if Instant::now() < due || positions.is_empty() {
            continue;
        }
        due = Instant::now() + COMMIT_EVERY;
        let mut offsets = TopicPartitionList::new();
        for (partition, next) in std::mem::take(&mut positions) {
            offsets.add_partition_offset(TOPIC, partition, Offset::Offset(next)).unwrap();
        }
        // Refused while the coordinator moves or the group is sorted anew: the next commit has more.
        if consumer.commit(&offsets, CommitMode::Sync).is_ok() {
            let mut progress = progress.lock().unwrap();
            for offset in offsets.elements() {
                let Offset::Offset(next) = offset.offset() else { continue };
                if offset.error().is_ok() {
                    let committed = progress.committed.entry(offset.partition()).or_default();
                    *committed = next;
                }
            }
        }
    }
}
