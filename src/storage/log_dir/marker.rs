//! Small files that say one thing: a clean stop, a topic's id.

use std::io;
use std::path::Path;

use crate::disk::{Disk, OpenMode};
use crate::ids::Uuid;
use crate::storage::StorageError;

const CLEAN_SHUTDOWN: &str = ".kafka_cleanshutdown";
const PARTITION_METADATA: &str = "partition.metadata";

/// What an orderly stop left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanShutdown {
    /// The broker epoch of that time; -1 if the file does not tell.
    pub broker_epoch: i64,
}

/// Reads and removes `.kafka_cleanshutdown`, so that a crash from here on is noticed. `None`: there was a crash, or
/// the directory is new.
pub fn take_clean_marker(disk: &dyn Disk, dir: &Path) -> Result<Option<CleanShutdown>, StorageError> {
    let path = dir.join(CLEAN_SHUTDOWN);
    let Some(text) = read_text(disk, &path)? else { return Ok(None) };
    disk.remove_file(&path).map_err(StorageError::io("remove", &path))?;
    disk.sync_dir(dir).map_err(StorageError::io("sync", dir))?;
    let broker_epoch = text
        .split_once("\"brokerEpoch\":")
        .and_then(|(_, rest)| rest.trim_start().split([',', '}', ' ']).next())
        .and_then(|number| number.parse().ok());
    Ok(Some(CleanShutdown { broker_epoch: broker_epoch.unwrap_or(-1) }))
}

/// Writes `.kafka_cleanshutdown`: every log in the directory is flushed and closed.
pub fn write_clean_marker(disk: &dyn Disk, dir: &Path, marker: CleanShutdown) -> Result<(), StorageError> {
    let path = dir.join(CLEAN_SHUTDOWN);
    let text = format!("{{\"version\":0,\"brokerEpoch\":{}}}", marker.broker_epoch);
    disk.replace(&path, text.as_bytes()).map_err(StorageError::io("write", &path))
}

/// The topic id in a partition's `partition.metadata`; `None` if it has no such file.
pub fn read_topic_id(disk: &dyn Disk, partition_dir: &Path) -> Result<Option<Uuid>, StorageError> {
    let path = partition_dir.join(PARTITION_METADATA);
    let Some(text) = read_text(disk, &path)? else { return Ok(None) };
    let mut lines = text.lines();
    let version = lines.next().and_then(|line| line.strip_prefix("version:")).map(str::trim);
    let id =
        lines.next().and_then(|line| line.strip_prefix("topic_id:")).map(str::trim).and_then(Uuid::parse);
    match (version, id) {
        (Some("0"), Some(id)) => Ok(Some(id)),
        _ => Err(StorageError::Corrupt { path, what: "it does not hold a version and a topic id".into() }),
    }
}

/// Writes a partition's `partition.metadata`; it is durable when this returns.
pub fn write_topic_id(disk: &dyn Disk, partition_dir: &Path, id: Uuid) -> Result<(), StorageError> {
    let path = partition_dir.join(PARTITION_METADATA);
    disk.replace(&path, topic_id_text(id).as_bytes()).map_err(StorageError::io("write", &path))
}

/// Writes `partition.metadata` of a partition that is new: it becomes durable with [`sync_topic_id`]. A topic of a
/// thousand partitions would take thousands of syncs otherwise.
pub fn note_topic_id(disk: &dyn Disk, partition_dir: &Path, id: Uuid) -> Result<(), StorageError> {
    let path = partition_dir.join(PARTITION_METADATA);
    let written =
        disk.open(&path, OpenMode::Truncate).and_then(|file| file.write_at(0, topic_id_text(id).as_bytes()));
    written.map_err(StorageError::io("write", &path))
}

/// Makes a partition's `partition.metadata` durable, if it has one.
pub fn sync_topic_id(disk: &dyn Disk, partition_dir: &Path) -> io::Result<()> {
    match disk.open(&partition_dir.join(PARTITION_METADATA), OpenMode::Read) {
        Ok(file) => file.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn topic_id_text(id: Uuid) -> String {
    format!("version: 0\ntopic_id: {id}")
}

fn read_text(disk: &dyn Disk, path: &Path) -> Result<Option<String>, StorageError> {
    if disk.meta(path).map_err(StorageError::io("look at", path))?.is_none() {
        return Ok(None);
    }
    let bytes = disk.read(path).map_err(StorageError::io("read", path))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::disk::MemoryDisk;

    #[test]
    fn the_clean_marker_counts_once() {
        let disk = MemoryDisk::new(Clock::simulated(0));
        let dir = Path::new("/");
        assert_eq!(take_clean_marker(&disk, dir).unwrap(), None);
        write_clean_marker(&disk, dir, CleanShutdown { broker_epoch: 12 }).unwrap();
        assert_eq!(disk.read(&dir.join(CLEAN_SHUTDOWN)).unwrap(), br#"{"version":0,"brokerEpoch":12}"#);
        assert_eq!(take_clean_marker(&disk, dir).unwrap(), Some(CleanShutdown { broker_epoch: 12 }));
        assert_eq!(take_clean_marker(&disk, dir).unwrap(), None);
    }

    #[test]
    fn the_topic_id_is_kept_as_kafka_does() {
        let disk = MemoryDisk::new(Clock::simulated(0));
        let dir = Path::new("/");
        assert_eq!(read_topic_id(&disk, dir).unwrap(), None);
        let id = Uuid::parse("CgyYWzNNQj2is3rvqNlRvw").unwrap();
        write_topic_id(&disk, dir, id).unwrap();
        let text = disk.read(&dir.join(PARTITION_METADATA)).unwrap();
        assert_eq!(text, b"version: 0\ntopic_id: CgyYWzNNQj2is3rvqNlRvw");
        assert_eq!(read_topic_id(&disk, dir).unwrap(), Some(id));
        disk.replace(&dir.join(PARTITION_METADATA), b"version: 0\n").unwrap();
        assert!(read_topic_id(&disk, dir).is_err());
    }
}
