//! Looks whether a partition's files are sound, and changes none of them.

use std::collections::BTreeMap;
use std::io;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec::IntoIter;

use barnabas_protocol::batch::{BatchView, Caps, Fault, Header, Scratch};

use super::leader_epochs::{self, LeaderEpochs};
use super::producers::snapshot;
use super::scan::{FullScan, ScanError};
use super::segment::{INDEX, LOG, TIME_INDEX, TXN_INDEX, file_name, parse_file_name};
use super::time_index::TimeEntry;
use super::txn_index::TxnIndex;
use super::{StorageError, offset_index, time_index};
use crate::disk::{Disk, OpenMode};

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where.
    pub path: PathBuf,
    /// What.
    pub what: String,
}

/// What was looked at, and what is wrong with it.
#[derive(Debug, Default)]
pub struct Verified {
    /// Segments.
    pub segments: u64,
    /// Batches whose checksums and records were read.
    pub batches: u64,
    /// Their records.
    pub records: u64,
    /// Bytes of log files.
    pub bytes: u64,
    /// In the order of offsets.
    pub damage: Vec<Damage>,
}

impl Verified {
    /// Adds what was found elsewhere.
    pub fn add(&mut self, other: &Verified) {
        self.segments = self.segments.saturating_add(other.segments);
        self.batches = self.batches.saturating_add(other.batches);
        self.records = self.records.saturating_add(other.records);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.damage.extend_from_slice(&other.damage);
    }

    /// Notes that something is not as it should be.
    pub fn damaged(&mut self, path: &Path, what: impl Into<String>) {
        self.damage.push(Damage { path: path.into(), what: what.into() });
    }
}

/// Reads all files of a partition's directory that no broker has open: every byte of its log, and what its indexes, its
/// producers' snapshots and its leader epochs say of it.
///
/// # Errors
/// The disk failed.
pub fn verify(disk: &dyn Disk, dir: &Path) -> Result<Verified, StorageError> {
    let mut verified = Verified::default();
    let mut segments: BTreeMap<i64, Vec<&'static str>> = BTreeMap::new();
    for entry in disk.list(dir).map_err(StorageError::io("list", dir))? {
        let path = dir.join(&entry.name);
        if let Some((base, extension)) = parse_file_name(&entry.name) {
            segments.entry(base).or_default().push(extension);
        } else if snapshot::parse_file_name(&entry.name).is_some() {
            let bytes = disk.read(&path).map_err(StorageError::io("read", &path))?;
            if snapshot::decode(&bytes).is_none() {
                verified.damaged(&path, "not a sound snapshot of producers");
            }
        } else if entry.name == leader_epochs::FILE
            && let Err(StorageError::Corrupt { what, .. }) = LeaderEpochs::read(disk, &path)
        {
            verified.damaged(&path, what);
        }
    }
    let bases: Vec<i64> = segments.keys().copied().collect();
    for (nth, (base, extensions)) in segments.iter().enumerate() {
        let path = dir.join(file_name(*base, LOG));
        if !extensions.contains(&LOG) {
            verified.damaged(&path, "missing, but its index is there");
            continue;
        }
        let end = bases.get(nth.saturating_add(1)).copied().unwrap_or(i64::MAX);
        let segment = Files { disk, dir, base: *base, end, path };
        verified.segments = verified.segments.saturating_add(1);
        segment.verify(&mut verified)?;
    }
    Ok(verified)
}

/// One segment's files.
struct Files<'a> {
    disk: &'a dyn Disk,
    dir: &'a Path,
    base: i64,
    /// Where the next segment begins.
    end: i64,
    path: PathBuf,
}

impl Files<'_> {
    fn verify(&self, verified: &mut Verified) -> Result<(), StorageError> {
        let failed = || StorageError::io("read", &self.path);
        let file = self.disk.open(&self.path, OpenMode::Read).map_err(failed())?;
        let size = file.size().map_err(failed())?;
        verified.bytes = verified.bytes.saturating_add(size);
        let mut offsets = self.index(INDEX, offset_index::decode, verified)?;
        let mut times = self.index(TIME_INDEX, time_index::decode, verified)?;
        self.verify_aborted(verified)?;
        let mut scan = FullScan::new(Arc::clone(&file), 0, size);
        let mut scratch = Scratch::default();
        let (mut next, mut largest) = (self.base, i64::MIN);
        loop {
            match scan.next() {
                Ok(None) => break,
                Ok(Some((position, batch))) => {
                    let header = *batch.header();
                    if header.base_offset < next || header.last_offset() >= self.end {
                        let (first, last) = (header.base_offset, header.last_offset());
                        let what = format!(
                            "position {position}: offsets {first} to {last} where {next} to below {} belong",
                            self.end
                        );
                        verified.damaged(&self.path, what);
                    }
                    match records(&batch, &mut scratch) {
                        Ok(records) => verified.records = verified.records.saturating_add(records),
                        // A batch that memory cannot hold unpacked has a sound checksum at least.
                        Err(Fault::Bomb(_)) => {}
                        Err(fault) => verified.damaged(&self.path, format!("position {position}: {fault}")),
                    }
                    next = header.next_offset();
                    largest = largest.max(header.max_timestamp);
                    verified.batches = verified.batches.saturating_add(1);
                    offsets.meet(position, &header, verified);
                    times.meet(&header, largest, verified);
                }
                Err(ScanError::Io(error)) => return Err(failed()(error)),
                Err(ScanError::Bad { position, what }) => {
                    let left = size.saturating_sub(position);
                    let what =
                        format!("position {position}: {what}; {left} bytes from there on were not read");
                    verified.damaged(&self.path, what);
                    // What the indexes say of them cannot be told.
                    return Ok(());
                }
            }
        }
        offsets.end(verified);
        times.end(verified);
        Ok(())
    }

    fn verify_aborted(&self, verified: &mut Verified) -> Result<(), StorageError> {
        let path = self.dir.join(file_name(self.base, TXN_INDEX));
        let mut aborted = Vec::new();
        let index = TxnIndex::new(path.clone());
        index
            .collect(self.disk, i64::MIN, i64::MAX, &mut aborted)
            .map_err(StorageError::io("read", &path))?;
        let mut before = self.base;
        for one in aborted {
            let (first, last) = (one.first_offset, one.last_offset);
            if first < 0 || first > last || last < before || last >= self.end {
                let what =
                    format!("an aborted transaction from offset {first} to {last} does not belong here");
                verified.damaged(&path, what);
                break;
            }
            before = last;
        }
        Ok(())
    }

    /// The entries of an index file; none if it is missing, as it may be before the first.
    fn index<T: PartialEq + Copy, const BYTES: usize>(
        &self,
        extension: &str,
        decode: fn([u8; BYTES]) -> T,
        verified: &mut Verified,
    ) -> Result<Entries<T>, StorageError> {
        let path = self.dir.join(file_name(self.base, extension));
        let bytes = match self.disk.read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            other => other.map_err(StorageError::io("read", &path))?,
        };
        let (whole, rest) = bytes.as_chunks::<BYTES>();
        if !rest.is_empty() {
            verified.damaged(&path, format!("{} bytes are no whole number of entries", bytes.len()));
        }
        // Kafka reserves space for the indexes of a segment that is written, and cuts it off at a clean stop: zeros
        // behind the last entry are none.
        let used =
            whole.iter().rposition(|entry| *entry != [0; BYTES]).map_or(0, |last| last.saturating_add(1));
        let entries: Vec<T> = whole.iter().take(used).map(|entry| decode(*entry)).collect();
        Ok(Entries { path, base: self.base, left: entries.into_iter().peekable(), is_wrong: false })
    }
}

/// Reads every record.
fn records(batch: &BatchView<'_>, scratch: &mut Scratch) -> Result<u64, Fault> {
    let mut count = 0_u64;
    for record in batch.records(scratch, Caps::default())? {
        record?;
        count = count.saturating_add(1);
    }
    Ok(count)
}

/// Entries of an index that no batch has answered for yet.
struct Entries<T> {
    path: PathBuf,
    base: i64,
    left: Peekable<IntoIter<T>>,
    is_wrong: bool,
}

impl<T> Entries<T> {
    fn offset(&self, relative: u32) -> i64 {
        self.base.saturating_add(i64::from(relative))
    }

    /// Once is enough: what follows a wrong entry is wrong as a rule.
    fn wrong(&mut self, what: String, verified: &mut Verified) {
        if !std::mem::replace(&mut self.is_wrong, true) {
            verified.damaged(&self.path, what);
        }
    }
}

impl Entries<(u32, u32)> {
    /// Entries of the offset index at or before a batch.
    fn meet(&mut self, position: u64, header: &Header, verified: &mut Verified) {
        while let Some((relative, at)) = self.left.next_if(|(_, at)| u64::from(*at) <= position) {
            let (offset, last) = (self.offset(relative), header.last_offset());
            if u64::from(at) != position || offset != last {
                let what = format!(
                    "offset {offset} is said to be at {at}; the batch at {position} ends with offset {last}"
                );
                self.wrong(what, verified);
            }
        }
    }

    fn end(&mut self, verified: &mut Verified) {
        if let Some((_, at)) = self.left.next() {
            self.wrong(format!("no batch begins at {at}"), verified);
        }
    }
}

impl Entries<TimeEntry> {
    /// Entries of the time index that speak of a batch; `largest` is the largest timestamp up to and with it.
    fn meet(&mut self, header: &Header, largest: i64, verified: &mut Verified) {
        let (base, last) = (self.base, header.last_offset());
        while let Some((timestamp, relative)) =
            self.left.next_if(|(_, relative)| base.saturating_add(i64::from(*relative)) <= last)
        {
            if timestamp != largest || timestamp != header.max_timestamp {
                let (offset, here) = (self.offset(relative), header.max_timestamp);
                let what = format!(
                    "{timestamp} is said to be the largest timestamp up to offset {offset}, and that of its batch; they \
                     are {largest} and {here}"
                );
                self.wrong(what, verified);
            }
        }
    }

    fn end(&mut self, verified: &mut Verified) {
        if let Some((_, relative)) = self.left.next() {
            self.wrong(format!("offset {} is not in the segment", self.offset(relative)), verified);
        }
    }
}

#[cfg(test)]
#[path = "verify_test.rs"]
mod verify_test;
