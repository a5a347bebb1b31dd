//! Copies of the metadata log beside the log itself: whatever happens to a copy, it ends as the leader's.

use super::controller_test::{World, now, topic};
use super::metadata_log::Copy;
use super::*;
use crate::disk::MemoryDisk;
use crate::rng::Rng;

/// A node that copies.
struct Copier {
    disk: MemoryDisk,
    copy: Copy,
    loader: Loader,
    metadata: Metadata,
}

impl Copier {
    fn opening(world: &World, disk: &MemoryDisk) -> Opening {
        Opening { disk: disk.shared(), node: 2, ..world.opening(false) }
    }

    fn new(world: &World) -> Copier {
        let disk = MemoryDisk::new(world.clock.clone());
        disk.shared().create_dir(std::path::Path::new("/data")).unwrap();
        Copier::on(world, disk)
    }

    fn on(world: &World, disk: MemoryDisk) -> Copier {
        let (copy, hard) = Copy::open(&Copier::opening(world, &disk), world.clock.now()).unwrap();
        let metadata = Metadata::new(hard.image.clone());
        Copier { disk, copy, loader: Loader::new(hard, metadata.clone()), metadata }
    }

    fn restarted(self, world: &World, rng: &Rng) -> Copier {
        drop(self.copy);
        self.disk.crash(rng);
        Copier::on(world, self.disk)
    }

    /// One question to the leader and its answer, without a network; true if there was anything new.
    fn ask(&mut self, leader: &Controller, world: &World, most: u64) -> Result<bool, ControllerError> {
        let log = leader.log();
        let (offset, epoch) = self.copy.end();
        let committed = *log.committed().borrow();
        let now = world.clock.now();
        match standing(log.log(), log.snapshots(), offset, epoch)? {
            Standing::Diverges(end) => self.copy.cut_back(end, now)?,
            Standing::NeedsSnapshot(id) => {
                let (bytes, size) = log.snapshots().bytes(id, 0, usize::MAX)?.unwrap();
                assert_eq!(bytes.len() as u64, size);
                self.copy.install(id, &bytes, now, &mut self.loader)?;
            }
            Standing::Follows if offset < committed => {
                let slice = log.log().read(offset, most, true, committed)?;
                self.copy.append(&mut slice.chunk.load().unwrap().to_vec(), now)?;
            }
            Standing::Follows => {
                self.copy.load(committed, &mut self.loader)?;
                return Ok(false);
            }
        }
        self.copy.load(committed, &mut self.loader)?;
        Ok(true)
    }

    fn catch_up(&mut self, leader: &Controller, world: &World) {
        while self.ask(leader, world, 4096).unwrap() {}
        let (ours, theirs) = (self.metadata.image(), leader.image());
        assert_eq!(ours.offset(), theirs.offset());
        assert_eq!(ours.topics().collect::<Vec<_>>(), theirs.topics().collect::<Vec<_>>());
        assert_eq!(ours.brokers().collect::<Vec<_>>(), theirs.brokers().collect::<Vec<_>>());
    }
}

fn create(controller: &Controller, name: &str) {
    assert_eq!(now(controller.create_topics(&topic(name))).unwrap().topics[0].error_code, 0);
}

#[tokio::test]
async fn a_copy_follows_through_crashes_on_both_sides_and_snapshots() {
    for seed in 0..25 {
        let mut world = World::new(seed);
        let rng = Rng::from_seed(seed);
        world.snapshot_bytes = if rng.below(2) == 0 { 3000 } else { u64::MAX };
        let mut leader = world.open(true).unwrap();
        let mut copier = Copier::new(&world);
        for step in 0..60 {
            match rng.below(10) {
                0 => copier = copier.restarted(&world, &rng),
                1 => {
                    drop(leader);
                    world.disk.crash(&world.rng);
                    leader = world.open(false).unwrap();
                }
                2..=4 => create(&leader, &format!("t{step}")),
                5 => {
                    copier.disk.fail_after(Some(rng.below(4)));
                    let _may_fail = copier.ask(&leader, &world, 4096);
                    copier.disk.fail_after(None);
                    copier = copier.restarted(&world, &rng);
                }
                6 => {
                    let image = copier.metadata.image();
                    copier.copy.snapshot_if_due(&image, 500, world.clock.now()).unwrap();
                }
                _ => drop(copier.ask(&leader, &world, 1 + rng.below(2000)).unwrap()),
            }
        }
        copier.catch_up(&leader, &world);
        // What is on its disk gives the same again.
        let mut copier = copier.restarted(&world, &rng);
        copier.catch_up(&leader, &world);
    }
}

#[tokio::test]
async fn what_was_not_committed_gives_way_to_the_leaders_log() {
    let (world, other) = (World::new(1), World::new(2));
    let leader = world.open(true).unwrap();
    create(&leader, "a");
    let mut copier = Copier::new(&world);
    copier.catch_up(&leader, &world);
    // The copy has a batch that a leader lost before it was committed.
    let stray = other.open(true).unwrap();
    create(&stray, "stray");
    let from = copier.copy.end().0;
    let log = stray.log().log();
    for name in ["s1", "s2", "s3"] {
        create(&stray, name);
    }
    let mut next = from;
    while log.end_offset() > next {
        let bytes = log.read(next, 1, true, log.end_offset()).unwrap().chunk.load().unwrap();
        let base = i64::from_be_bytes(bytes[..8].try_into().unwrap());
        if base == from {
            copier.copy.append(&mut bytes.to_vec(), world.clock.now()).unwrap();
            break;
        }
        next += 1;
    }
    drop(leader);
    let leader = world.open(false).unwrap();
    create(&leader, "b");
    copier.catch_up(&leader, &world);
    assert!(copier.metadata.image().topic("stray").is_none());
}

#[tokio::test]
async fn a_copy_does_not_give_up_what_was_committed() {
    let (world, other) = (World::new(1), World::new(2));
    let leader = world.open(true).unwrap();
    for name in ["a", "b", "c"] {
        create(&leader, name);
    }
    let mut copier = Copier::new(&world);
    copier.catch_up(&leader, &world);
    let shorter = other.open(true).unwrap();
    let refused = copier.ask(&shorter, &other, 4096);
    assert!(matches!(refused, Err(ControllerError::Corrupt { .. })), "{refused:?}");
}
