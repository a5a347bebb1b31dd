//! openraft's own suite for logs and state machines, on a disk in memory and on the machine's.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use openraft::StorageError;
use openraft::testing::log::{StoreBuilder, Suite};
use parking_lot::Mutex;

use super::log_store::LogStore;
use super::state_machine::StateMachine;
use super::types::Types;
use crate::clock::Clock;
use crate::controller::error::ControllerError;
use crate::controller::metadata::{Loader, Metadata};
use crate::controller::metadata_log::{LogEvents, Opening, Position};
use crate::controller::record::Record;
use crate::controller::state::Hard;
use crate::disk::{Disk, MemoryDisk, RealDisk};
use crate::spawn::Spawner;

/// A driver that never leads.
struct Standby(Mutex<Loader>);

impl LogEvents for Standby {
    fn leading(&self, _epoch: i32) -> Result<(), ControllerError> {
        Ok(())
    }

    fn following(&self, _epoch: i32, _leader: Option<i32>) {}

    fn own_committed(&self, _up_to: i64) {}

    fn committed(&self, at: Position, records: &[Record]) {
        self.0.lock().take(at, records).unwrap();
    }

    fn restored(&self, hard: Hard) {
        self.0.lock().restore(hard);
    }

    fn failed(&self, error: &ControllerError) {
        panic!("{error}");
    }
}

enum On {
    Memory,
    Real,
}

type Kept = (Arc<Standby>, Option<tempfile::TempDir>);

impl StoreBuilder<Types, LogStore, StateMachine, Kept> for On {
    async fn build(&self) -> Result<(Kept, LogStore, StateMachine), StorageError<Types>> {
        let clock = Clock::simulated(1_700_000_000_000);
        let (disk, dir, kept): (Arc<dyn Disk>, PathBuf, _) = match self {
            On::Memory => (MemoryDisk::new(clock.clone()).shared(), "/data".into(), None),
            On::Real => {
                let dir = tempfile::tempdir().unwrap();
                (Arc::new(RealDisk), dir.path().to_path_buf(), Some(dir))
            }
        };
        disk.create_dir(Path::new(&dir)).unwrap();
        let opening = Opening {
            disk,
            dir,
            node: 0,
            cluster_id: "cluster".to_owned(),
            clean: false,
            log_dirs: Vec::new(),
            fresh: true,
            segment_bytes: 1 << 20,
            hash_seed: 1,
        };
        let mut loader = None;
        let metadata = |hard: &Hard| {
            let metadata = Metadata::new(hard.image.clone());
            loader = Some(Loader::new(hard.clone(), metadata.clone()));
            metadata
        };
        let opened = super::open(&opening, None, metadata, &clock, Spawner::threads()).unwrap();
        let standby = Arc::new(Standby(Mutex::new(loader.unwrap())));
        let events: Weak<Standby> = Arc::downgrade(&standby);
        opened.machine.tell(events);
        Ok(((standby, kept), opened.store, opened.machine))
    }
}

#[tokio::test(start_paused = true)]
async fn openraft_accepts_our_log_in_memory() {
    Suite::test_all(On::Memory).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn openraft_accepts_our_log_on_the_machines_disk() {
    Suite::test_all(On::Real).await.unwrap();
}
