//! What the offset and time index have in common: entries of a fixed size, the sealed ones in a file that is mapped
//! when first asked for, the newer ones in memory until they are written out.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::disk::{Disk, Map, OpenMode};

/// The entries of an index file that never change, mapped when first looked at.
#[derive(Debug)]
pub(super) struct Sealed<const ENTRY: usize> {
    path: PathBuf,
    entries: usize,
    map: OnceLock<Map>,
}

impl<const ENTRY: usize> Sealed<ENTRY> {
    /// The first `entries` entries of the file at `path`.
    pub(super) fn new(path: PathBuf, entries: usize) -> Sealed<ENTRY> {
        Sealed { path, entries, map: OnceLock::new() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn len(&self) -> usize {
        self.entries
    }

    /// The entries. Fewer than there should be if the file is short.
    pub(super) fn entries(&self, disk: &dyn Disk) -> io::Result<&[[u8; ENTRY]]> {
        if self.entries == 0 {
            return Ok(&[]);
        }
        let map = match self.map.get() {
            Some(map) => map,
            None => {
                let map = disk.map(&self.path)?;
                self.map.get_or_init(|| map)
            }
        };
        let (whole, _) = map.as_chunks::<ENTRY>();
        Ok(whole.get(..self.entries).unwrap_or(whole))
    }
}

impl<const ENTRY: usize> Sealed<ENTRY> {
    /// The last entry. Opening a log asks every index for it: a file that is not mapped yet is only read.
    pub(super) fn last(&self, disk: &dyn Disk) -> io::Result<Option<[u8; ENTRY]>> {
        let Some(before) = self.entries.checked_sub(1) else { return Ok(None) };
        if self.map.get().is_some() {
            return Ok(self.entries(disk)?.last().copied());
        }
        let mut entry = [0; ENTRY];
        let file = disk.open(&self.path, OpenMode::Read)?;
        let read = file.read_at(before.saturating_mul(ENTRY) as u64, &mut entry)?;
        Ok(Some(entry).filter(|_| read == ENTRY))
    }
}

/// Adds `bytes` at a position of an index file, making it if it is missing.
pub(super) fn write(
    disk: &dyn Disk,
    path: &Path,
    position: usize,
    bytes: &[u8],
    sync: bool,
) -> io::Result<()> {
    let file = disk.open(path, OpenMode::Create)?;
    if !bytes.is_empty() {
        file.write_at(position as u64, bytes)?;
    }
    if sync { file.sync_data() } else { Ok(()) }
}

/// Makes an index file that holds just `bytes`. The old file, if there is one, stays as it is for those who have it
/// mapped.
pub(super) fn replace(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("tmp");
    disk.open(&temporary, OpenMode::Truncate)?.write_at(0, bytes)?;
    disk.rename(&temporary, path)
}
