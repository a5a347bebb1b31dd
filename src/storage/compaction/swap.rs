//! The exchange of segments for their copy, and its completion after a crash.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Cleaned;
use super::output::{CLEANED, SWAP, suffixed};
use crate::disk::{Disk, Entry, OpenMode};
use crate::storage::log::Segments;
use crate::storage::maintenance::{Removal, rename_deleted};
use crate::storage::scan::{HeaderScan, ScanError};
use crate::storage::segment::{LOG, parse_file_name};
use crate::storage::{Appender, StorageError};

impl Appender {
    /// Puts a copy in the place of its segments. `None` if they are no longer the log's: the copy is thrown away.
    pub fn replace(&mut self, cleaned: &Cleaned) -> Result<Option<Removal>, StorageError> {
        self.log.usable()?;
        let log = Arc::clone(&self.log);
        let disk = log.disk.as_ref();
        let segments = log.segments.load_full();
        let Some(at) = place_of(&cleaned.old, &segments) else {
            self.or_poison("remove a copy in", discard(disk, cleaned))?;
            return Ok(None);
        };
        let new = &cleaned.segment;
        let rename = |from: &str, to: &str, extensions: &mut dyn Iterator<Item = &&'static str>| {
            for extension in extensions {
                let path = |suffix: &str| match suffix {
                    "" => new.path(extension),
                    suffix => suffixed(new, extension, suffix),
                };
                disk.rename(&path(from), &path(to))?;
            }
            Ok(())
        };
        // The log last, its copy is complete once it has this name; then the log first, so that what is left of the
        // copy after a crash belongs to it.
        self.or_poison("exchange segments of", rename(CLEANED, SWAP, &mut cleaned.extensions.iter()))?;
        let gone = rename_deleted(disk, &log, &cleaned.old, Some(new.base));
        let files = self.or_poison("exchange segments of", gone)?;
        self.or_poison("exchange segments of", rename(SWAP, "", &mut cleaned.extensions.iter().rev()))?;
        log.new_names.store(true, Ordering::Release);
        let mut list: Segments = segments.to_vec();
        list.splice(at..at.saturating_add(cleaned.old.len()), [Arc::clone(new)]);
        // Batches are elsewhere in the new segment.
        log.boundaries.clear();
        log.segments.store(Arc::new(list));
        Ok(Some(Removal::new(&log, files)))
    }
}

/// Where the group is in the log, if it is there as a whole.
fn place_of(old: &Segments, segments: &Segments) -> Option<usize> {
    let first = old.first()?;
    let at = segments.iter().position(|segment| Arc::ptr_eq(segment, first))?;
    let same = segments.get(at..)?.iter().zip(old).filter(|(a, b)| Arc::ptr_eq(a, b)).count();
    (same == old.len() && at + same < segments.len()).then_some(at)
}

fn discard(disk: &dyn Disk, cleaned: &Cleaned) -> io::Result<()> {
    cleaned
        .extensions
        .iter()
        .try_for_each(|extension| disk.remove_file(&suffixed(&cleaned.segment, extension, CLEANED)))
}

/// Finishes or undoes what a crash interrupted in a log's directory; true if files have changed.
pub(in crate::storage) fn finish_interrupted(
    disk: &dyn Disk,
    dir: &Path,
    entries: &[Entry],
) -> Result<bool, StorageError> {
    let suffix = |name: &'static str| {
        entries.iter().filter_map(move |entry| {
            let stem = entry.name.strip_suffix(name)?.strip_suffix('.')?;
            let (base, extension) = parse_file_name(stem)?;
            Some((base, extension, stem, entry.name.as_str()))
        })
    };
    // A copy that is not complete, or whose files do not all have their new names yet.
    let incomplete = suffix(CLEANED).map(|(base, ..)| base).min().unwrap_or(i64::MAX);
    let mut touched = false;
    let mut replaced = BTreeSet::new();
    for (base, extension, _, name) in suffix(SWAP) {
        let path = dir.join(name);
        if base >= incomplete {
            disk.remove_file(&path).map_err(StorageError::io("remove", &path))?;
            touched = true;
        } else if extension == LOG {
            let end = end_of(disk, &path, base)?;
            let segments =
                entries.iter().filter_map(|entry| Some((parse_file_name(&entry.name)?.0, &entry.name)));
            let within = segments.filter(|(other, _)| *other == base || (base..end).contains(other));
            replaced.extend(within.map(|(_, name)| name.clone()));
        }
    }
    for name in replaced {
        let path = dir.join(&name);
        disk.remove_file(&path).map_err(StorageError::io("remove", &path))?;
    }
    let mut swaps: Vec<_> = suffix(SWAP).filter(|(base, ..)| *base < incomplete).collect();
    // The logs first: see `replace`.
    swaps.sort_by_key(|(base, extension, ..)| (*extension != LOG, *base));
    for (_, _, stem, name) in swaps {
        let path = dir.join(name);
        disk.rename(&path, &dir.join(stem)).map_err(StorageError::io("rename", &path))?;
        touched = true;
    }
    Ok(touched)
}

/// The offset after the last batch of a copy.
fn end_of(disk: &dyn Disk, path: &Path, base: i64) -> Result<i64, StorageError> {
    let file = disk.open(path, OpenMode::Read).map_err(StorageError::io("open", path))?;
    let bytes = file.size().map_err(StorageError::io("look at", path))?;
    let mut scan = HeaderScan::new(file, 0, bytes);
    let mut end = base;
    loop {
        match scan.next() {
            Ok(Some(found)) => end = found.header.next_offset(),
            Ok(None) => return Ok(end),
            Err(ScanError::Io(error)) => return Err(StorageError::io("read", path)(error)),
            // It was synced before it got its name.
            Err(error @ ScanError::Bad { .. }) => {
                return Err(StorageError::Corrupt { path: path.into(), what: error.to_string() });
            }
        }
    }
}
