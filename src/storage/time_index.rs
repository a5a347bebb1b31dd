//! The time index: where in a segment to start looking for a timestamp.
//!
//! An entry is 12 bytes: the largest timestamp so far (i64, ms) and the last offset of its batch minus the
//! segment's base (u32). Timestamps only grow. Look-ups by time are rare, so that a lock does.

use std::io;
use std::path::PathBuf;

use parking_lot::{Mutex, RwLock};

use super::index_file::{self, Sealed};
use crate::disk::Disk;

pub(super) const ENTRY_BYTES: usize = 12;

/// A timestamp (ms) and the relative offset of the batch that has it.
pub(super) type TimeEntry = (i64, u32);

/// One segment's time index.
#[derive(Debug)]
pub(super) struct TimeIndex {
    sealed: Sealed<ENTRY_BYTES>,
    grown: RwLock<Vec<TimeEntry>>,
    /// Entries in the file.
    written: Mutex<usize>,
}

impl TimeIndex {
    /// An index whose file holds `sealed` entries, which may be none and the file missing.
    pub(super) fn new(path: PathBuf, sealed: usize) -> TimeIndex {
        TimeIndex { sealed: Sealed::new(path, sealed), grown: RwLock::default(), written: Mutex::new(sealed) }
    }

    /// Makes the file anew with just these entries.
    pub(super) fn rewrite(disk: &dyn Disk, path: PathBuf, entries: &[TimeEntry]) -> io::Result<TimeIndex> {
        index_file::replace(disk, &path, &encode_all(entries))?;
        Ok(TimeIndex::new(path, entries.len()))
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.sealed.len() + self.grown.read().len()
    }

    /// Adds an entry; the caller has made sure that its timestamp is larger than the last one's.
    pub(super) fn append(&self, entry: TimeEntry) {
        self.grown.write().push(entry);
    }

    /// The last entry.
    pub(super) fn last(&self, disk: &dyn Disk) -> io::Result<Option<TimeEntry>> {
        if let Some(last) = self.grown.read().last() {
            return Ok(Some(*last));
        }
        Ok(self.sealed.last(disk)?.map(decode))
    }

    /// The relative offset of the last entry at or below a timestamp; 0 before the first.
    pub(super) fn lookup(&self, disk: &dyn Disk, timestamp: i64) -> io::Result<u32> {
        let grown = self.grown.read();
        let above = grown.partition_point(|(time, _)| *time <= timestamp);
        if let Some((_, offset)) = above.checked_sub(1).and_then(|at| grown.get(at)) {
            return Ok(*offset);
        }
        drop(grown);
        let sealed = self.sealed.entries(disk)?;
        let above = sealed.partition_point(|entry| decode(*entry).0 <= timestamp);
        Ok(above.checked_sub(1).and_then(|at| sealed.get(at)).map_or(0, |entry| decode(*entry).1))
    }

    /// All entries, oldest first.
    pub(super) fn entries(&self, disk: &dyn Disk) -> io::Result<Vec<TimeEntry>> {
        let sealed = self.sealed.entries(disk)?.iter().map(|entry| decode(*entry));
        Ok(sealed.chain(self.grown.read().iter().copied()).collect())
    }

    /// All entries as the file has them.
    pub(super) fn bytes(&self, disk: &dyn Disk) -> io::Result<Vec<u8>> {
        Ok(encode_all(&self.entries(disk)?))
    }

    /// Maps the file, so that its name is needed no longer.
    pub(super) fn pin(&self, disk: &dyn Disk) -> io::Result<()> {
        self.sealed.entries(disk).map(|_| ())
    }

    /// Writes entries that are only in memory to the file, making it if it is missing.
    pub(super) fn write_out(&self, disk: &dyn Disk, sync: bool) -> io::Result<()> {
        let mut written = self.written.lock();
        let from = written.saturating_sub(self.sealed.len());
        let bytes = encode_all(self.grown.read().get(from..).unwrap_or_default());
        index_file::write(disk, self.sealed.path(), *written * ENTRY_BYTES, &bytes, sync)?;
        *written += bytes.len() / ENTRY_BYTES;
        Ok(())
    }
}

fn encode_all(entries: &[TimeEntry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(entries.len() * ENTRY_BYTES);
    for (timestamp, offset) in entries {
        bytes.extend_from_slice(&timestamp.to_be_bytes());
        bytes.extend_from_slice(&offset.to_be_bytes());
    }
    bytes
}

/// An entry.
pub(super) fn decode(entry: [u8; ENTRY_BYTES]) -> TimeEntry {
    let [a, b, c, d, e, f, g, h, offset @ ..] = entry;
    (i64::from_be_bytes([a, b, c, d, e, f, g, h]), u32::from_be_bytes(offset))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::clock::Clock;
    use crate::disk::MemoryDisk;

    #[test]
    fn lookups_give_the_entry_at_or_below() {
        let disk = MemoryDisk::new(Clock::simulated(0));
        let path = Path::new("/00000000000000000000.timeindex");
        let index = TimeIndex::new(path.into(), 0);
        index.append((100, 5));
        index.append((200, 15));
        index.write_out(&disk, false).unwrap();
        let index = TimeIndex::new(path.into(), 2);
        index.append((300, 25));
        for (timestamp, offset) in
            [(-1, 0), (99, 0), (100, 5), (199, 5), (200, 15), (299, 15), (300, 25), (999, 25)]
        {
            assert_eq!(index.lookup(&disk, timestamp).unwrap(), offset, "{timestamp}");
        }
        assert_eq!(index.last(&disk).unwrap(), Some((300, 25)));
        index.write_out(&disk, true).unwrap();
        assert_eq!(disk.read(path).unwrap().len(), 36);
        assert_eq!(index.entries(&disk).unwrap(), [(100, 5), (200, 15), (300, 25)]);
        let cut = TimeIndex::rewrite(&disk, path.into(), &[(100, 5)]).unwrap();
        assert_eq!((cut.len(), cut.last(&disk).unwrap()), (1, Some((100, 5))));
    }
}
