//! A segment's aborted transactions: `.txnindex`. The file is missing as long as there are none.
//!
//! An entry is 34 bytes: version (i16, 0), producer id, first offset, last offset, last stable offset (i64 each).

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use parking_lot::RwLock;

use super::AbortedTransaction;
use crate::disk::{Disk, OpenMode};

pub(super) const ENTRY_BYTES: usize = 34;

/// One segment's aborted transactions.
#[derive(Debug)]
pub(super) struct TxnIndex {
    path: PathBuf,
    /// Read from the file when first asked for.
    entries: OnceLock<RwLock<Vec<AbortedTransaction>>>,
}

impl TxnIndex {
    pub(super) fn new(path: PathBuf) -> TxnIndex {
        TxnIndex { path, entries: OnceLock::new() }
    }

    /// Adds one, in memory and in the file. For the one writer.
    pub(super) fn append(&self, disk: &dyn Disk, aborted: AbortedTransaction) -> io::Result<()> {
        let entries = self.entries(disk)?;
        let position = entries.read().len() * ENTRY_BYTES;
        disk.open(&self.path, OpenMode::Create)?.write_at(position as u64, &encode(&aborted))?;
        entries.write().push(aborted);
        Ok(())
    }

    /// Those that touch `[from, to)`, and whether later segments can hold more of them.
    pub(super) fn collect(
        &self,
        disk: &dyn Disk,
        from: i64,
        to: i64,
        found: &mut Vec<AbortedTransaction>,
    ) -> io::Result<bool> {
        let entries = self.entries(disk)?.read();
        // Their ends are in order.
        let first = entries.partition_point(|aborted| aborted.last_offset < from);
        for aborted in entries.iter().skip(first) {
            if aborted.first_offset < to {
                found.push(*aborted);
            }
            if aborted.last_stable_offset >= to {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Keeps those that end below `end`.
    pub(super) fn truncate(&self, disk: &dyn Disk, end: i64) -> io::Result<()> {
        let mut entries = self.entries(disk)?.write();
        if entries.iter().all(|aborted| aborted.last_offset < end) {
            return Ok(());
        }
        entries.retain(|aborted| aborted.last_offset < end);
        let file = disk.open(&self.path, OpenMode::Create)?;
        file.set_len((entries.len() * ENTRY_BYTES) as u64)
    }

    /// Reads the file, so that it is needed no longer.
    pub(super) fn pin(&self, disk: &dyn Disk) -> io::Result<()> {
        self.entries(disk).map(|_| ())
    }

    pub(super) fn sync(&self, disk: &dyn Disk) -> io::Result<()> {
        match disk.open(&self.path, OpenMode::Write) {
            Ok(file) => file.sync_data(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn entries(&self, disk: &dyn Disk) -> io::Result<&RwLock<Vec<AbortedTransaction>>> {
        if let Some(entries) = self.entries.get() {
            return Ok(entries);
        }
        let bytes = match disk.read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            other => other?,
        };
        let (whole, _) = bytes.as_chunks::<ENTRY_BYTES>();
        Ok(self.entries.get_or_init(|| RwLock::new(whole.iter().map(decode).collect())))
    }
}

/// What a file with these transactions holds.
pub(super) fn bytes(aborted: &[AbortedTransaction]) -> Vec<u8> {
    aborted.iter().flat_map(encode).collect()
}

fn encode(aborted: &AbortedTransaction) -> [u8; ENTRY_BYTES] {
    let mut out = [0; ENTRY_BYTES];
    let values = [aborted.producer_id, aborted.first_offset, aborted.last_offset, aborted.last_stable_offset];
    for (place, value) in out.iter_mut().skip(2).zip(values.iter().flat_map(|value| value.to_be_bytes())) {
        *place = value;
    }
    out
}

fn decode(entry: &[u8; ENTRY_BYTES]) -> AbortedTransaction {
    let [_, _, values @ ..] = entry;
    let (values, _) = values.as_chunks::<8>();
    let value = |at: usize| values.get(at).map_or(0, |bytes| i64::from_be_bytes(*bytes));
    AbortedTransaction {
        producer_id: value(0),
        first_offset: value(1),
        last_offset: value(2),
        last_stable_offset: value(3),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::clock::Clock;
    use crate::disk::MemoryDisk;

    #[test]
    fn aborted_transactions_are_found_by_range() {
        let disk = MemoryDisk::new(Clock::simulated(0));
        let path = Path::new("/00000000000000000000.txnindex");
        let index = TxnIndex::new(path.into());
        let aborted = |producer_id, first_offset, last_offset, last_stable_offset| AbortedTransaction {
            producer_id,
            first_offset,
            last_offset,
            last_stable_offset,
        };
        let all = [aborted(1, 0, 10, 5), aborted(2, 5, 20, 21), aborted(3, 30, 40, 41)];
        all.iter().for_each(|one| index.append(&disk, *one).unwrap());
        for index in [index, TxnIndex::new(path.into())] {
            let find = |from, to| {
                let mut found = Vec::new();
                let more = index.collect(&disk, from, to, &mut found).unwrap();
                (found.iter().map(|one| one.producer_id).collect::<Vec<_>>(), more)
            };
            assert_eq!(find(0, 100), (vec![1, 2, 3], true));
            assert_eq!(find(11, 21), (vec![2], false));
            assert_eq!(find(21, 30), (vec![], false));
            assert_eq!(find(50, 60), (vec![], true));
        }
        let index = TxnIndex::new(path.into());
        index.truncate(&disk, 40).unwrap();
        assert_eq!(disk.read(path).unwrap().len(), 2 * ENTRY_BYTES);
        index.append(&disk, aborted(4, 30, 35, 36)).unwrap();
        assert_eq!(disk.read(path).unwrap().len(), 3 * ENTRY_BYTES);
    }
}
