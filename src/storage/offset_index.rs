//! The offset index: where in a segment to start looking for an offset.
//!
//! An entry is 8 bytes: the last offset of a batch minus the segment's base (u32) and the batch's position (u32).
//! One writer, any number of readers that never wait for it.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::index_file::{self, Sealed};
use crate::disk::Disk;

pub(super) const ENTRY_BYTES: usize = 8;

/// Entries of the first block; each block is twice as large as the one before.
const FIRST_BLOCK: usize = 64;
/// 64 × (2^21 - 1) entries: more than `segment.index.bytes` can ask for.
const BLOCKS: usize = 21;

/// One segment's offset index.
#[derive(Debug)]
pub(super) struct OffsetIndex {
    sealed: Sealed<ENTRY_BYTES>,
    /// Entries after the sealed ones, an entry as one number: relative offset above, position below.
    blocks: [OnceLock<Box<[AtomicU64]>>; BLOCKS],
    grown: AtomicUsize,
    /// Entries in the file.
    written: Mutex<usize>,
}

impl OffsetIndex {
    /// An index whose file holds `sealed` entries, which may be none and the file missing.
    pub(super) fn new(path: PathBuf, sealed: usize) -> OffsetIndex {
        OffsetIndex {
            sealed: Sealed::new(path, sealed),
            blocks: [const { OnceLock::new() }; BLOCKS],
            grown: AtomicUsize::new(0),
            written: Mutex::new(sealed),
        }
    }

    /// Makes the file anew with just these entries.
    pub(super) fn rewrite(disk: &dyn Disk, path: PathBuf, entries: &[(u32, u32)]) -> io::Result<OffsetIndex> {
        let bytes: Vec<u8> =
            entries.iter().flat_map(|&(offset, position)| encode(offset, position)).collect();
        index_file::replace(disk, &path, &bytes)?;
        Ok(OffsetIndex::new(path, entries.len()))
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.sealed.len() + self.grown.load(Ordering::Acquire)
    }

    /// Adds an entry. For the one writer.
    pub(super) fn append(&self, relative_offset: u32, position: u32) {
        let at = self.grown.load(Ordering::Relaxed);
        let (block, within) = place(at);
        let Some(block_cell) = self.blocks.get(block) else { return };
        let entries =
            block_cell.get_or_init(|| (0..FIRST_BLOCK << block).map(|_| AtomicU64::new(0)).collect());
        if let Some(entry) = entries.get(within) {
            entry.store(u64::from(relative_offset) << 32 | u64::from(position), Ordering::Relaxed);
            self.grown.store(at + 1, Ordering::Release);
        }
    }

    /// The position of the last entry at or below a relative offset; 0 before the first.
    pub(super) fn lookup(&self, disk: &dyn Disk, relative_offset: u32) -> io::Result<u32> {
        let grown = self.grown.load(Ordering::Acquire);
        if let Some((first, _)) = self.grown_entry(0, grown)
            && first <= relative_offset
        {
            // The last grown entry that is not above.
            let (mut low, mut high) = (0, grown);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                match self.grown_entry(middle, grown) {
                    Some((offset, _)) if offset <= relative_offset => low = middle,
                    _ => high = middle,
                }
            }
            return Ok(self.grown_entry(low, grown).map_or(0, |(_, position)| position));
        }
        let sealed = self.sealed.entries(disk)?;
        let above = sealed.partition_point(|entry| decode(*entry).0 <= relative_offset);
        Ok(above.checked_sub(1).and_then(|at| sealed.get(at)).map_or(0, |entry| decode(*entry).1))
    }

    /// An offset, relative to the base, above every batch that ends at or below `position`: that of the first entry
    /// at or beyond it. `None` if no entry is that late.
    pub(super) fn above(&self, disk: &dyn Disk, position: u64) -> io::Result<Option<u32>> {
        let sealed = self.sealed.entries(disk)?;
        let at = sealed.partition_point(|entry| u64::from(decode(*entry).1) < position);
        if let Some(entry) = sealed.get(at) {
            return Ok(Some(decode(*entry).0));
        }
        let grown = self.grown.load(Ordering::Acquire);
        let (mut low, mut high) = (0, grown);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.grown_entry(middle, grown) {
                Some((_, there)) if u64::from(there) < position => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(self.grown_entry(low, grown).map(|(offset, _)| offset))
    }

    /// All entries, oldest first.
    pub(super) fn entries(&self, disk: &dyn Disk) -> io::Result<Vec<(u32, u32)>> {
        let grown = self.grown.load(Ordering::Acquire);
        let sealed = self.sealed.entries(disk)?.iter().map(|entry| decode(*entry));
        Ok(sealed.chain((0..grown).filter_map(|at| self.grown_entry(at, grown))).collect())
    }

    /// All entries as the file has them.
    pub(super) fn bytes(&self, disk: &dyn Disk) -> io::Result<Vec<u8>> {
        Ok(self.entries(disk)?.into_iter().flat_map(|(offset, position)| encode(offset, position)).collect())
    }

    /// Maps the file, so that its name is needed no longer.
    pub(super) fn pin(&self, disk: &dyn Disk) -> io::Result<()> {
        self.sealed.entries(disk).map(|_| ())
    }

    /// The last entry.
    pub(super) fn last(&self, disk: &dyn Disk) -> io::Result<Option<(u32, u32)>> {
        let grown = self.grown.load(Ordering::Acquire);
        if let Some(last) = grown.checked_sub(1) {
            return Ok(self.grown_entry(last, grown));
        }
        Ok(self.sealed.last(disk)?.map(decode))
    }

    /// Writes entries that are only in memory to the file, making it if it is missing.
    pub(super) fn write_out(&self, disk: &dyn Disk, sync: bool) -> io::Result<()> {
        let mut written = self.written.lock();
        let grown = self.grown.load(Ordering::Acquire);
        let from = written.saturating_sub(self.sealed.len());
        let bytes: Vec<u8> = (from..grown)
            .filter_map(|at| self.grown_entry(at, grown))
            .flat_map(|(offset, position)| encode(offset, position))
            .collect();
        index_file::write(disk, self.sealed.path(), *written * ENTRY_BYTES, &bytes, sync)?;
        *written += bytes.len() / ENTRY_BYTES;
        Ok(())
    }

    fn grown_entry(&self, at: usize, grown: usize) -> Option<(u32, u32)> {
        if at >= grown {
            return None;
        }
        let (block, within) = place(at);
        let entry = self.blocks.get(block)?.get()?.get(within)?.load(Ordering::Relaxed);
        Some(split(entry))
    }
}

/// Block and place in it of the n-th grown entry.
fn place(at: usize) -> (usize, usize) {
    let block = (at / FIRST_BLOCK + 1).ilog2() as usize;
    (block, at - FIRST_BLOCK * ((1 << block) - 1))
}

fn split(entry: u64) -> (u32, u32) {
    let [a, b, c, d, rest @ ..] = entry.to_be_bytes();
    (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes(rest))
}

fn encode(relative_offset: u32, position: u32) -> [u8; ENTRY_BYTES] {
    (u64::from(relative_offset) << 32 | u64::from(position)).to_be_bytes()
}

/// An entry: relative offset and position.
pub(super) fn decode(entry: [u8; ENTRY_BYTES]) -> (u32, u32) {
    split(u64::from_be_bytes(entry))
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
        let path = Path::new("/00000000000000000000.index");
        // With more and more of the entries sealed in the file.
        let mut index = OffsetIndex::new(path.into(), 0);
        for round in 0..4_u32 {
            for n in round * 500..(round + 1) * 500 {
                index.append(n * 10 + 9, n * 100);
            }
            let count = (round + 1) * 500;
            for offset in [0, 8, 9, 10, 19, 640, 641, 1289, 4989, 4999, count * 10 - 1, u32::MAX] {
                let expected = (0..count).rev().find(|n| n * 10 + 9 <= offset).map_or(0, |n| n * 100);
                assert_eq!(index.lookup(&disk, offset).unwrap(), expected, "{offset} of {count}");
            }
            assert_eq!(index.len(), count as usize);
            index.write_out(&disk, true).unwrap();
            index.write_out(&disk, true).unwrap();
            assert_eq!(disk.read(path).unwrap().len(), index.len() * ENTRY_BYTES);
            assert_eq!(index.last(&disk).unwrap(), Some((count * 10 - 1, (count - 1) * 100)));
            let entries = index.entries(&disk).unwrap();
            index = OffsetIndex::new(path.into(), index.len());
            assert_eq!(index.entries(&disk).unwrap(), entries);
        }
        let cut = OffsetIndex::rewrite(&disk, path.into(), &[(9, 0), (19, 100)]).unwrap();
        assert_eq!(cut.lookup(&disk, 1000).unwrap(), 100);
        assert_eq!(disk.read(path).unwrap().len(), 16);
    }

    #[test]
    fn blocks_follow_each_other() {
        let mut expected = (0, 0);
        for at in 0..100_000 {
            assert_eq!(place(at), expected, "{at}");
            expected.1 += 1;
            if expected.1 == FIRST_BLOCK << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }
}
