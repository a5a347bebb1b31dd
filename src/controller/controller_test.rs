//! The controller on a disk in memory: what was answered is there after a crash.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use barnabas_protocol::messages::CreateTopicsRequest;
use barnabas_protocol::messages::create_topics::CreatableTopic;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::state::story::{FewRules, node};
use super::*;
use crate::clock::Clock;
use crate::disk::MemoryDisk;
use crate::rng::Rng;
use crate::spawn::Spawner;

/// One node and its disk.
pub(super) struct World {
    pub(super) disk: MemoryDisk,
    pub(super) clock: Clock,
    pub(super) rng: Rng,
    pub(super) snapshot_bytes: u64,
}

impl World {
    pub(super) fn new(seed: u64) -> World {
        let clock = Clock::simulated(1_700_000_000_000);
        let world = World {
            disk: MemoryDisk::new(clock.clone()),
            clock,
            rng: Rng::from_seed(seed),
            snapshot_bytes: u64::MAX,
        };
        format::format(&*world.disk.shared(), Path::new("/data"), None, world.clock.now()).unwrap();
        world.disk.shared().sync_dir(Path::new("/")).unwrap();
        world
    }

    pub(super) fn opening(&self, clean: bool) -> Opening {
        Opening {
            disk: self.disk.shared(),
            dir: PathBuf::from("/data"),
            node: 1,
            cluster_id: "cluster".to_owned(),
            clean,
            log_dirs: vec![PathBuf::from("/data")],
            fresh: false,
            segment_bytes: 1 << 20,
            hash_seed: 1,
        }
    }

    pub(super) fn open(&self, clean: bool) -> Result<Controller, ControllerError> {
        let node = Node { stopped_cleanly: clean, incarnation: self.rng.uuid(), ..node() };
        let settings = Settings {
            node_id: 1,
            num_partitions: 3,
            default_replication_factor: 1,
            snapshot_bytes: self.snapshot_bytes,
            ..settings()
        };
        let doors = Doors { clock: self.clock.clone(), rng: self.rng.clone(), spawner: Spawner::simulated() };
        Controller::open(&self.opening(clean), &node, settings, Arc::new(FewRules), doors)
    }
}

fn settings() -> Settings {
    Settings {
        node_id: 1,
        num_partitions: 1,
        default_replication_factor: 1,
        min_insync_replicas: 1,
        unclean_leader_election: false,
        snapshot_bytes: u64::MAX,
        session_timeout_ms: 9000,
        disconnect_grace_ms: Some(500),
        rebalance_interval_ms: None,
    }
}

pub(super) fn topic(name: &str) -> CreateTopicsRequest {
    let topic = CreatableTopic {
        name: name.to_owned(),
        num_partitions: 2,
        replication_factor: 1,
        ..Default::default()
    };
    CreateTopicsRequest { topics: vec![topic], ..Default::default() }
}

/// Flushes happen inline here, so an answer is there at once or never.
pub(super) fn now<T>(mut receiver: oneshot::Receiver<T>) -> Option<T> {
    receiver.try_recv().ok()
}

#[tokio::test]
async fn what_was_answered_is_there_after_a_crash() {
    for seed in 0..20 {
        let world = World::new(seed);
        let controller = world.open(true).unwrap();
        let created = now(controller.create_topics(&topic("t"))).unwrap();
        assert_eq!(created.topics[0].error_code, 0);
        let before = controller.image().topic("t").unwrap().clone();
        let epoch = controller.quorum().unwrap().epoch;
        world.disk.crash(&world.rng);
        let controller = world.open(false).unwrap();
        let image = controller.image();
        let after = image.topic("t").unwrap();
        assert_eq!((after.id, after.partition_count()), (before.id, 2));
        assert_eq!(after.partition(0).unwrap().leader_epoch, 1, "after a crash the leader epoch moves on");
        assert_eq!(controller.quorum().unwrap().epoch, epoch + 1);
    }
}

#[tokio::test]
async fn an_orderly_stop_changes_nothing_but_the_registration() {
    let world = World::new(1);
    let controller = world.open(true).unwrap();
    now(controller.create_topics(&topic("t"))).unwrap();
    let before = controller.image();
    controller.close().unwrap();
    let controller = world.open(true).unwrap();
    let after = controller.image();
    assert_eq!(after.topic("t"), before.topic("t"));
    assert!(after.broker(1).unwrap().epoch > before.broker(1).unwrap().epoch);
}

#[tokio::test]
async fn a_format_that_was_cut_short_can_be_repeated() {
    let world = World::new(3);
    format::format(&*world.disk.shared(), Path::new("/data"), None, world.clock.now()).unwrap();
    assert_eq!(world.open(true).unwrap().image().feature("metadata.version"), 33);
}

#[tokio::test]
async fn snapshots_replace_the_log_they_cover() {
    let mut world = World::new(2);
    world.snapshot_bytes = 2000;
    let controller = world.open(true).unwrap();
    for n in 0..60 {
        now(controller.create_topics(&topic(&format!("t{n}")))).unwrap();
    }
    let names: Vec<String> = world
        .disk
        .shared()
        .list(&Path::new("/data").join(DIRECTORY))
        .unwrap()
        .into_iter()
        .map(|entry| entry.name)
        .filter(|name| name.ends_with(".checkpoint"))
        .collect();
    assert_eq!(names.len(), 2, "the fresh one and the newest: {names:?}");
    let before = controller.image();
    world.disk.crash(&world.rng);
    let controller = world.open(true).unwrap();
    let after = controller.image();
    assert_eq!(after.topics().collect::<Vec<_>>(), before.topics().collect::<Vec<_>>());
    assert_eq!(after.topic_count(), 60);
}

#[derive(Default)]
struct Witness {
    seen: Mutex<Vec<(usize, usize, bool)>>,
    failures: Mutex<Vec<String>>,
}

impl Subscriber for Witness {
    fn changed(&self, old: &Image, new: &Arc<Image>, delta: &Delta) {
        let grew = new.topic_count() >= old.topic_count();
        self.seen.lock().push((delta.changed.len(), delta.removed.len(), grew));
    }

    fn failed(&self, error: &ControllerError) {
        self.failures.lock().push(error.to_string());
    }
}

#[tokio::test]
async fn a_subscriber_sees_everything_once_and_in_order() {
    let world = World::new(4);
    let controller = world.open(true).unwrap();
    now(controller.create_topics(&topic("a"))).unwrap();
    let witness = Arc::new(Witness::default());
    controller.metadata().subscribe(witness.clone(), |_| ());
    now(controller.create_topics(&topic("b"))).unwrap();
    now(controller.create_topics(&topic("b"))).unwrap();
    now(controller.delete_topics(&[Doomed::Name("a".to_owned())])).unwrap();
    assert_eq!(*witness.seen.lock(), [(1, 0, true), (1, 0, true), (0, 1, false)]);
}

#[tokio::test]
async fn a_failing_disk_ends_it_without_a_false_answer() {
    let world = World::new(5);
    let controller = world.open(true).unwrap();
    let witness = Arc::new(Witness::default());
    controller.metadata().subscribe(witness.clone(), |_| ());
    world.disk.fail_after(Some(0));
    assert!(now(controller.create_topics(&topic("t"))).is_none());
    world.disk.fail_after(None);
    assert!(now(controller.create_topics(&topic("u"))).is_none(), "nothing is decided any more");
    assert_eq!(witness.failures.lock().len(), 1);
    assert!(controller.image().topic("t").is_none());
}

#[tokio::test]
async fn producer_ids_are_never_given_twice() {
    let world = World::new(6);
    let controller = world.open(true).unwrap();
    let first = now(controller.next_producer_id()).unwrap().unwrap();
    let second = now(controller.next_producer_id()).unwrap().unwrap();
    assert_eq!((first, second), (0, 1));
    world.disk.crash(&world.rng);
    let controller = world.open(false).unwrap();
    assert_eq!(now(controller.next_producer_id()).unwrap().unwrap(), 1000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_ask_at_once() {
    let world = World::new(7);
    let mut controller = world.open(true).unwrap();
    controller.close().unwrap();
    // The same on threads: flushes run beside the decisions and are shared by them.
    let settings = settings();
    let doors = Doors { clock: world.clock.clone(), rng: world.rng.clone(), spawner: Spawner::threads() };
    controller =
        Controller::open(&world.opening(true), &node(), settings, Arc::new(FewRules), doors).unwrap();
    let answers: Vec<_> = (0..100).map(|n| controller.create_topics(&topic(&format!("t{n}")))).collect();
    for answer in answers {
        assert_eq!(answer.await.unwrap().topics[0].error_code, 0);
    }
    assert_eq!(controller.image().topic_count(), 100);
}

#[tokio::test]
async fn partitions_that_the_log_never_heard_of_stop_the_start() {
    use crate::storage::log_dir::write_topic_id;

    let world = World::new(1);
    let controller = world.open(true).unwrap();
    now(controller.create_topics(&topic("t"))).unwrap();
    let id = controller.image().topic("t").unwrap().id;
    now(controller.delete_topics(&[Doomed::Name("t".to_owned())])).unwrap();
    controller.close().unwrap();
    let disk = world.disk.shared();
    for (name, id) in [("t-0", id), ("new-0", crate::ids::Uuid([7; 16]))] {
        let dir = Path::new("/data").join(name);
        disk.create_dir(&dir).unwrap();
        write_topic_id(&*disk, &dir, id).unwrap();
    }
    let refused = world.open(true).err().unwrap().to_string();
    assert!(
        refused.contains("it knows nothing of 1 partitions") && refused.contains("/data/new-0"),
        "{refused}"
    );
    disk.remove_dir_all(Path::new("/data/new-0")).unwrap();
    world.open(true).unwrap().close().unwrap();
    disk.remove_dir_all(Path::new("/data/__cluster_metadata-0")).unwrap();
    let refused = world.open(true).err().unwrap().to_string();
    assert!(refused.contains("/data/t-0"), "{refused}");
    disk.remove_dir_all(Path::new("/data/t-0")).unwrap();
    let refused = world.open(true).err().unwrap().to_string();
    assert!(refused.contains("it is gone, though the directory is in use"), "{refused}");
}
