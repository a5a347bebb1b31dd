//! What lies in a log's directory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::disk::Disk;
use crate::storage::StorageError;
use crate::storage::compaction::finish_interrupted;
use crate::storage::producers;
use crate::storage::segment::{INDEX, LOG, Segment, TIME_INDEX, TXN_INDEX, index_entries, parse_file_name};

/// A segment by its files.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) base: i64,
    pub(super) bytes: u64,
    has_log: bool,
    index_bytes: Option<u64>,
    time_index_bytes: Option<u64>,
}

impl Listed {
    /// Entries of both indexes; `None` if one is missing or damaged.
    pub(super) fn index_entries(&self) -> Option<(usize, usize)> {
        index_entries(self.index_bytes?, self.time_index_bytes?)
    }
}

/// What lies in a log's directory.
#[derive(Debug)]
pub(super) struct Inventory {
    dir: Arc<Path>,
    /// By base.
    pub(super) segments: Vec<Listed>,
    snapshots: Vec<i64>,
}

impl Inventory {
    /// Looks, makes the directory if it is new, and removes what deletions left behind.
    pub(super) fn take(disk: &dyn Disk, dir: &Arc<Path>) -> Result<Inventory, StorageError> {
        let fail = || StorageError::io("look through", dir);
        if disk.meta(dir).map_err(fail())?.is_none() {
            // Its name is synced with the first flush: a log that a crash takes away as a whole is made again.
            disk.create_dir(dir).map_err(StorageError::io("make", dir))?;
        }
        let mut segments: BTreeMap<i64, Listed> = BTreeMap::new();
        let mut snapshots = Vec::new();
        let mut entries = disk.list(dir).map_err(fail())?;
        if finish_interrupted(disk, dir, &entries)? {
            disk.sync_dir(dir).map_err(fail())?;
            entries = disk.list(dir).map_err(fail())?;
        }
        for entry in entries {
            let name = entry.name.as_str();
            let path = dir.join(name);
            if [".deleted", ".cleaned", ".tmp"].iter().any(|suffix| name.ends_with(suffix)) {
                disk.remove_file(&path).map_err(StorageError::io("remove", &path))?;
            } else if let Some(offset) = producers::parse_file_name(name) {
                snapshots.push(offset);
            } else if let Some((base, extension)) = parse_file_name(name) {
                let listed = segments.entry(base).or_insert_with(|| Listed { base, ..Listed::default() });
                match extension {
                    LOG => (listed.has_log, listed.bytes) = (true, entry.meta.len),
                    INDEX => listed.index_bytes = Some(entry.meta.len),
                    TIME_INDEX => listed.time_index_bytes = Some(entry.meta.len),
                    _ => {}
                }
            }
        }
        let (segments, orphans): (Vec<Listed>, Vec<Listed>) =
            segments.into_values().partition(|listed| listed.has_log);
        for orphan in orphans {
            for extension in [INDEX, TIME_INDEX, TXN_INDEX] {
                remove(disk, &dir.join(crate::storage::segment::file_name(orphan.base, extension)))?;
            }
        }
        Ok(Inventory { dir: Arc::clone(dir), segments, snapshots })
    }

    /// Removes all snapshots: the log begins anew.
    pub(super) fn remove_snapshots(&self, disk: &dyn Disk) -> Result<(), StorageError> {
        self.snapshots
            .iter()
            .try_for_each(|offset| remove(disk, &self.dir.join(producers::file_name(*offset))))
    }

    /// Removes snapshots that no segment needs: all but those at a segment's base and the newest; all beyond the
    /// log's end.
    pub(super) fn remove_stray_snapshots(
        &self,
        disk: &dyn Disk,
        segments: &[Arc<Segment>],
        end: i64,
    ) -> Result<(), StorageError> {
        let newest = self.snapshots.iter().filter(|offset| **offset <= end).max();
        for offset in &self.snapshots {
            let at_base = segments.iter().any(|segment| segment.base == *offset);
            if *offset > end || !(at_base || Some(offset) == newest) {
                remove(disk, &self.dir.join(producers::file_name(*offset)))?;
            }
        }
        Ok(())
    }
}

fn remove(disk: &dyn Disk, path: &Path) -> Result<(), StorageError> {
    match disk.remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StorageError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
