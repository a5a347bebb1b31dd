//! Producers in a file: `<offset>.snapshot`, schema ProducerSnapshot version 1. Kafka keeps one batch of each.

use std::path::Path;

use super::{BatchRef, Entry, Producers};
use crate::disk::{Disk, OpenMode};
use crate::storage::StorageError;

const VERSION: i16 = 1;
/// Version and checksum, before what the checksum covers.
const HEAD_BYTES: usize = 6;
const ENTRY_BYTES: usize = 46;

/// The name of the snapshot at an offset.
pub(crate) fn file_name(offset: i64) -> String {
    format!("{offset:020}.snapshot")
}

/// The offset in a snapshot's name.
pub(crate) fn parse_file_name(name: &str) -> Option<i64> {
    let digits = name.strip_suffix(".snapshot")?;
    (digits.len() == 20).then(|| digits.parse().ok())?
}

/// Writes a snapshot. With `sync` it survives a power cut; without, its checksum tells if it did.
pub(crate) fn write(
    disk: &dyn Disk,
    path: &Path,
    producers: &Producers,
    sync: bool,
) -> Result<(), StorageError> {
    let bytes = encode(producers);
    let file = disk.open(path, OpenMode::Truncate).map_err(StorageError::io("open", path))?;
    file.write_at(0, &bytes).map_err(StorageError::io("write", path))?;
    if sync {
        file.sync_all().map_err(StorageError::io("sync", path))?;
    }
    Ok(())
}

/// A snapshot's bytes.
pub(crate) fn encode(producers: &Producers) -> Vec<u8> {
    let entries = producers.entries();
    let mut out = Vec::with_capacity(HEAD_BYTES + 4 + entries.len() * ENTRY_BYTES);
    out.extend_from_slice(&VERSION.to_be_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&u32::try_from(entries.len()).unwrap_or(u32::MAX).to_be_bytes());
    for (id, entry) in entries {
        let none = BatchRef { last_sequence: -1, last_offset: -1, offset_delta: 0, timestamp: -1 };
        let last = entry.last().unwrap_or(&none);
        out.extend_from_slice(&id.to_be_bytes());
        out.extend_from_slice(&entry.epoch.to_be_bytes());
        out.extend_from_slice(&last.last_sequence.to_be_bytes());
        out.extend_from_slice(&last.last_offset.to_be_bytes());
        out.extend_from_slice(&last.offset_delta.to_be_bytes());
        out.extend_from_slice(&entry.last_timestamp.to_be_bytes());
        out.extend_from_slice(&entry.coordinator_epoch.to_be_bytes());
        out.extend_from_slice(&entry.open_since.unwrap_or(-1).to_be_bytes());
    }
    let crc = crc32c::crc32c(out.get(HEAD_BYTES..).unwrap_or_default());
    for (place, byte) in out.iter_mut().skip(2).zip(crc.to_be_bytes()) {
        *place = byte;
    }
    out
}

/// Reads a snapshot; `None` if it is damaged.
pub(crate) fn decode(bytes: &[u8]) -> Option<Producers> {
    let mut at = Fields(bytes);
    let version = i16::from_be_bytes(at.take()?);
    let crc = u32::from_be_bytes(at.take()?);
    if version != VERSION || crc32c::crc32c(at.0) != crc {
        return None;
    }
    let count = usize::try_from(u32::from_be_bytes(at.take()?)).ok()?;
    if count.checked_mul(ENTRY_BYTES)? != at.0.len() {
        return None;
    }
    let entries = (0..count).map(|_| entry(&mut at)).collect::<Option<Vec<_>>>()?;
    Some(Producers::from_entries(entries))
}

fn entry(at: &mut Fields<'_>) -> Option<(i64, Entry)> {
    let id = i64::from_be_bytes(at.take()?);
    let mut entry = Entry::new(i16::from_be_bytes(at.take()?));
    let last_sequence = i32::from_be_bytes(at.take()?);
    let last_offset = i64::from_be_bytes(at.take()?);
    let offset_delta = i32::from_be_bytes(at.take()?);
    let timestamp = i64::from_be_bytes(at.take()?);
    if last_offset >= 0 {
        entry.add(BatchRef { last_sequence, last_offset, offset_delta, timestamp });
    }
    entry.last_timestamp = timestamp;
    entry.coordinator_epoch = i32::from_be_bytes(at.take()?);
    entry.open_since = Some(i64::from_be_bytes(at.take()?)).filter(|offset| *offset >= 0);
    Some((id, entry))
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }
}
