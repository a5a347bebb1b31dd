//! A segment as its readers see it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use super::offset_index::{self, OffsetIndex};
use super::scan::{Found, HeaderScan, ScanError};
use super::time_index::{self, TimeIndex};
use super::txn_index::TxnIndex;
use crate::disk::{Disk, DiskFile, KeptFile};

pub(super) const LOG: &str = "log";
pub(super) const INDEX: &str = "index";
pub(super) const TIME_INDEX: &str = "timeindex";
pub(super) const TXN_INDEX: &str = "txnindex";

/// The base and the extension in the name of a segment's file.
pub(super) fn parse_file_name(name: &str) -> Option<(i64, &'static str)> {
    let (digits, extension) = name.split_once('.')?;
    let known = [LOG, INDEX, TIME_INDEX, TXN_INDEX].into_iter().find(|known| *known == extension)?;
    let plain = digits.len() == 20 && digits.bytes().all(|digit| digit.is_ascii_digit());
    plain.then(|| digits.parse().ok())?.map(|base| (base, known))
}

/// "Not read from the time index yet".
const UNKNOWN: i64 = i64::MIN;

/// A part of a log. What lies below its published size never changes.
#[derive(Debug)]
pub(super) struct Segment {
    /// First offset, and the name of its files.
    pub(super) base: i64,
    dir: Arc<Path>,
    file: Arc<KeptFile>,
    bytes: AtomicU64,
    pub(super) offsets: OffsetIndex,
    pub(super) times: TimeIndex,
    pub(super) aborted: TxnIndex,
    largest_timestamp: AtomicI64,
}

/// `00000000000000000042.log` and the like.
pub(super) fn file_name(base: i64, extension: &str) -> String {
    format!("{base:020}.{extension}")
}

impl Segment {
    /// A segment whose log has `bytes` and whose index files have so many entries.
    pub(super) fn new(dir: Arc<Path>, base: i64, bytes: u64, offsets: usize, times: usize) -> Segment {
        let path = |extension| dir.join(file_name(base, extension));
        Segment {
            base,
            file: Arc::new(KeptFile::new(path(LOG))),
            bytes: AtomicU64::new(bytes),
            offsets: OffsetIndex::new(path(INDEX), offsets),
            times: TimeIndex::new(path(TIME_INDEX), times),
            aborted: TxnIndex::new(path(TXN_INDEX)),
            largest_timestamp: AtomicI64::new(UNKNOWN),
            dir,
        }
    }

    /// The same with its indexes in their files only, once they are written out.
    pub(super) fn sealed(&self) -> Segment {
        let largest = self.largest_timestamp.load(Ordering::Relaxed);
        Segment {
            largest_timestamp: AtomicI64::new(largest),
            ..self.renewed(self.bytes(), self.offsets.len(), self.times.len())
        }
    }

    /// The same up to a position, where a batch begins: the indexes are made again, the log is the caller's to cut.
    pub(super) fn cut(&self, disk: &dyn Disk, position: u64, end_offset: i64) -> io::Result<Segment> {
        let offsets: Vec<(u32, u32)> =
            self.offsets.entries(disk)?.into_iter().filter(|entry| u64::from(entry.1) < position).collect();
        let end = self.relative(end_offset);
        let times: Vec<(i64, u32)> =
            self.times.entries(disk)?.into_iter().filter(|entry| entry.1 < end).collect();
        OffsetIndex::rewrite(disk, self.path(INDEX), &offsets)?;
        TimeIndex::rewrite(disk, self.path(TIME_INDEX), &times)?;
        self.aborted.truncate(disk, end_offset)?;
        Ok(self.renewed(position, offsets.len(), times.len()))
    }

    /// The same log file with indexes as their files are now.
    fn renewed(&self, bytes: u64, offsets: usize, times: usize) -> Segment {
        let file = Arc::clone(&self.file);
        Segment { file, ..Segment::new(Arc::clone(&self.dir), self.base, bytes, offsets, times) }
    }

    /// The path of one of its files.
    pub(super) fn path(&self, extension: &str) -> PathBuf {
        self.dir.join(file_name(self.base, extension))
    }

    /// Its log file.
    pub(super) fn file(&self, disk: &dyn Disk) -> io::Result<Arc<dyn DiskFile>> {
        self.file.get(disk)
    }

    /// Opens everything, so that reading needs no names any more.
    pub(super) fn pin(&self, disk: &dyn Disk) -> io::Result<()> {
        self.file.pin(disk)?;
        self.offsets.pin(disk)?;
        self.times.pin(disk)?;
        self.aborted.pin(disk)
    }

    /// Makes its log file. For the writer, before the segment is shared.
    pub(super) fn create(&self, disk: &dyn Disk) -> io::Result<()> {
        self.file.create(disk).map(|_| ())
    }

    /// Published bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Acquire)
    }

    /// Publishes bytes and the largest timestamp among them. For the one writer.
    pub(super) fn publish(&self, bytes: u64, largest_timestamp: i64) {
        self.largest_timestamp.store(largest_timestamp, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Release);
    }

    /// An offset as its indexes have it.
    pub(super) fn relative(&self, offset: i64) -> u32 {
        u32::try_from(offset.saturating_sub(self.base).max(0)).unwrap_or(u32::MAX)
    }

    /// Largest timestamp of its batches, ms; -1 if none has one.
    pub(super) fn largest_timestamp(&self, disk: &dyn Disk) -> io::Result<i64> {
        let known = self.largest_timestamp.load(Ordering::Relaxed);
        if known != UNKNOWN {
            return Ok(known);
        }
        let last = self.times.last(disk)?.map_or(-1, |entry| entry.0);
        self.largest_timestamp.store(last, Ordering::Relaxed);
        Ok(last)
    }

    /// Where to start looking for an offset.
    fn start_for(&self, disk: &dyn Disk, offset: i64) -> io::Result<u64> {
        let position = u64::from(self.offsets.lookup(disk, self.relative(offset))?);
        // An index that points beyond the log is wrong; the batches themselves are not.
        Ok(if position < self.bytes() { position } else { 0 })
    }

    /// The first batch that ends at or after an offset, below a position.
    pub(super) fn find(&self, disk: &dyn Disk, offset: i64, below: u64) -> Result<Option<Found>, ScanError> {
        let start = self.start_for(disk, offset)?;
        HeaderScan::new(self.file(disk)?, start, below).find(offset)
    }

    /// Its batches from the one that holds an offset on, or from a little before.
    pub(super) fn scan_from(&self, disk: &dyn Disk, offset: i64) -> Result<HeaderScan, ScanError> {
        let start = self.start_for(disk, offset)?;
        Ok(HeaderScan::new(self.file(disk)?, start, self.bytes()))
    }

    /// Writes out both indexes.
    pub(super) fn write_indexes(&self, disk: &dyn Disk, sync: bool) -> io::Result<()> {
        self.offsets.write_out(disk, sync)?;
        self.times.write_out(disk, sync)?;
        if sync { self.aborted.sync(disk) } else { Ok(()) }
    }
}

/// Entries of an index file of so many bytes; `None` if it is damaged.
pub(super) fn index_entries(offset_bytes: u64, time_bytes: u64) -> Option<(usize, usize)> {
    let entries = |bytes: u64, entry: usize| {
        let bytes = usize::try_from(bytes).ok()?;
        bytes.is_multiple_of(entry).then_some(bytes / entry)
    };
    Some((entries(offset_bytes, offset_index::ENTRY_BYTES)?, entries(time_bytes, time_index::ENTRY_BYTES)?))
}
