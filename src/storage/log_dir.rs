//! A log directory: what lies beside and around the partitions' directories.

mod marker;
mod meta;
mod name;

pub use marker::{
    CleanShutdown, note_topic_id, read_topic_id, sync_topic_id, take_clean_marker, write_clean_marker,
    write_topic_id,
};
pub use meta::{META_PROPERTIES, MetaProperties, read_meta, write_meta};
pub use name::{DirKind, DirName};

use std::io;
use std::path::Path;

use super::StorageError;
use crate::disk::{Disk, DiskLock};

/// Keeps other processes, Kafka's included, out of a log directory while the guard lives. `None` if one is in it.
pub fn lock(disk: &dyn Disk, dir: &Path) -> Result<Option<Box<dyn DiskLock>>, StorageError> {
    let path = dir.join(".lock");
    match disk.lock(&path) {
        Ok(lock) => Ok(Some(lock)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(StorageError::io("lock", &path)(error)),
    }
}
