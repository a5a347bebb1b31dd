//! Kafka's checkpoint files: a version, a count, and one entry a line.
//!
//! ```text
//! 0
//! 2
//! orders 0 1234
//! orders 1 99
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::StorageError;
use crate::disk::Disk;
use crate::ids::TopicPartition;

/// Below these offsets everything is flushed.
pub const RECOVERY_POINT: &str = "recovery-point-offset-checkpoint";
/// The partitions' high watermarks.
pub const HIGH_WATERMARK: &str = "replication-offset-checkpoint";
/// First readable offsets, of logs where it is not the first segment's.
pub const LOG_START: &str = "log-start-offset-checkpoint";
/// How far compaction has come.
pub const CLEANER: &str = "cleaner-offset-checkpoint";

/// Offsets by partition.
pub type Offsets = BTreeMap<TopicPartition, i64>;

/// Reads a checkpoint of offsets, such as [`RECOVERY_POINT`]. A missing or empty file holds nothing.
pub fn read_offsets(disk: &dyn Disk, path: &Path) -> Result<Offsets, StorageError> {
    read(disk, path, |line| {
        let mut words = line.split_ascii_whitespace();
        let topic = words.next()?;
        let partition = words.next()?.parse().ok()?;
        let offset = words.next()?.parse().ok()?;
        words.next().is_none().then(|| (TopicPartition::new(topic, partition), offset))
    })
    .map(Offsets::from_iter)
}

/// Writes a checkpoint of offsets, atomically and durably.
pub fn write_offsets(disk: &dyn Disk, path: &Path, offsets: &Offsets) -> Result<(), StorageError> {
    write(disk, path, offsets.len(), |text| {
        for (at, offset) in offsets {
            let _ = writeln!(text, "{} {} {offset}", at.topic, at.partition);
        }
    })
}

pub(super) fn read<T>(
    disk: &dyn Disk,
    path: &Path,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, StorageError> {
    if disk.meta(path).map_err(StorageError::io("look at", path))?.is_none() {
        return Ok(Vec::new());
    }
    let bytes = disk.read(path).map_err(StorageError::io("read", path))?;
    let text = String::from_utf8_lossy(&bytes);
    let corrupt = |what: String| StorageError::Corrupt { path: path.into(), what };
    let mut lines = text.lines();
    let Some(version) = lines.next() else { return Ok(Vec::new()) };
    if version.trim() != "0" {
        return Err(corrupt(format!("version {version:?} is not known")));
    }
    let count: usize = lines
        .next()
        .and_then(|count| count.trim().parse().ok())
        .ok_or_else(|| corrupt("the number of entries is missing".into()))?;
    let entries = lines
        .filter(|line| !line.trim().is_empty())
        .map(|line| parse(line).ok_or_else(|| corrupt(format!("line {line:?} is not an entry"))))
        .collect::<Result<Vec<T>, _>>()?;
    if entries.len() != count {
        return Err(corrupt(format!("{count} entries announced, {} found", entries.len())));
    }
    Ok(entries)
}

pub(super) fn write(
    disk: &dyn Disk,
    path: &Path,
    count: usize,
    entries: impl FnOnce(&mut String),
) -> Result<(), StorageError> {
    let mut text = format!("0\n{count}\n");
    entries(&mut text);
    disk.replace(path, text.as_bytes()).map_err(StorageError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::disk::{MemoryDisk, OpenMode};

    #[test]
    fn offsets_are_kafkas_text() {
        let disk = MemoryDisk::new(Clock::simulated(0));
        let path = Path::new("/recovery-point-offset-checkpoint");
        assert!(read_offsets(&disk, path).unwrap().is_empty());
        let offsets =
            Offsets::from([(TopicPartition::new("b", 2), 7), (TopicPartition::new("a", 10), 1 << 40)]);
        write_offsets(&disk, path, &offsets).unwrap();
        assert_eq!(disk.read(path).unwrap(), b"0\n2\na 10 1099511627776\nb 2 7\n");
        assert_eq!(read_offsets(&disk, path).unwrap(), offsets);
    }

    #[test]
    fn damage_is_noticed() {
        let disk = MemoryDisk::new(Clock::simulated(0));
        let path = Path::new("/c");
        disk.open(path, OpenMode::Create).unwrap();
        assert!(read_offsets(&disk, path).unwrap().is_empty(), "Kafka starts with empty files");
        for bad in ["1\n0\n", "0\n", "0\n2\na 0 1\n", "0\n1\na 0\n", "0\n1\na 0 1 2\n", "0\nx\n"] {
            disk.replace(path, bad.as_bytes()).unwrap();
            assert!(matches!(read_offsets(&disk, path), Err(StorageError::Corrupt { .. })), "{bad:?}");
        }
    }
}
