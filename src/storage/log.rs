//! The shared side of a log.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::boundaries::Boundaries;
use super::leader_epochs::LeaderEpochs;
use super::segment::Segment;
use super::{
    AbortedTransaction, EpochEnd, LogConfig, ReadError, SegmentInfo, StorageError, log_dir, producers,
};
use crate::clock::Now;
use crate::disk::{Disk, OpenMode};

pub(super) type Segments = Vec<Arc<Segment>>;

/// A log as its readers see it. Nothing here waits for the writer.
#[derive(Debug)]
pub struct Log {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) dir: Arc<Path>,
    pub(super) config: ArcSwap<LogConfig>,
    /// Oldest first; never empty; the last one is the active one.
    pub(super) segments: ArcSwap<Segments>,
    pub(super) boundaries: Boundaries,
    pub(super) start: AtomicI64,
    /// Stored after everything below it can be read.
    pub(super) end: AtomicI64,
    /// First offset of the oldest open transaction, or `i64::MAX`.
    pub(super) unstable: AtomicI64,
    pub(super) epochs: ArcSwap<LeaderEpochs>,
    pub(super) recovery_point: AtomicI64,
    /// One flush at a time; truncation keeps flushes out.
    pub(super) flushing: Mutex<()>,
    /// When the oldest unflushed record came, on the monotonic clock.
    pub(super) unflushed_since_ms: AtomicU64,
    /// Files have been made, renamed or removed since the directory was synced.
    pub(super) new_names: AtomicBool,
    /// Its directory's name, and the file that says whose it is, may never have been synced.
    pub(super) newborn: AtomicBool,
    /// A write failed: nobody knows what the files hold.
    pub(super) poisoned: AtomicBool,
    /// Its directory is being deleted.
    pub(super) abandoned: AtomicBool,
}

impl Log {
    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its directory is about to be renamed and deleted: from now on a file that is not found is no fault.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
    }

    /// See [`Log::abandon`].
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    /// Its settings.
    pub fn config(&self) -> Arc<LogConfig> {
        self.config.load_full()
    }

    /// Changes its settings.
    pub fn set_config(&self, config: LogConfig) {
        self.config.store(Arc::new(config));
    }

    /// First offset that may be read.
    pub fn start_offset(&self) -> i64 {
        self.start.load(Ordering::Acquire)
    }

    /// The offset that the next record gets.
    pub fn end_offset(&self) -> i64 {
        self.end.load(Ordering::Acquire)
    }

    /// Everything below is flushed.
    pub fn recovery_point(&self) -> i64 {
        self.recovery_point.load(Ordering::Acquire)
    }

    /// First offset of the oldest open transaction; `None` if there is none. The last stable offset is this or the
    /// high watermark, whichever is less.
    pub fn first_unstable_offset(&self) -> Option<i64> {
        Some(self.unstable.load(Ordering::Acquire)).filter(|offset| *offset != i64::MAX)
    }

    /// The newest leader epoch that wrote.
    pub fn latest_epoch(&self) -> Option<i32> {
        self.epochs.load().latest()
    }

    /// The leader epoch of an offset.
    pub fn epoch_for_offset(&self, offset: i64) -> Option<i32> {
        self.epochs.load().at(offset)
    }

    /// Where `epoch`, or the largest one below it, ends; `None` if the epoch is newer than all of the log.
    pub fn end_offset_for_epoch(&self, epoch: i32) -> Option<EpochEnd> {
        self.epochs.load().end_of(epoch, self.end_offset())
    }

    /// The aborted transactions that touch `[from, to)`.
    pub fn aborted_transactions(&self, from: i64, to: i64) -> Result<Vec<AbortedTransaction>, ReadError> {
        let found = self.aborted_in(&self.segments.load(), from, to);
        found.map_err(|source| ReadError::Storage(self.io("read the transaction index in")(source)))
    }

    pub(super) fn aborted_in(
        &self,
        segments: &Segments,
        from: i64,
        to: i64,
    ) -> io::Result<Vec<AbortedTransaction>> {
        let first = segments.partition_point(|segment| segment.base <= from).saturating_sub(1);
        let mut found = Vec::new();
        for segment in segments.iter().skip(first) {
            if !segment.aborted.collect(self.disk.as_ref(), from, to, &mut found)? {
                break;
            }
        }
        Ok(found)
    }

    /// Bytes of all batches.
    pub fn size(&self) -> u64 {
        self.segments.load().iter().map(|segment| segment.bytes()).sum()
    }

    /// The segments, oldest first.
    pub fn segments(&self) -> Vec<SegmentInfo> {
        let info = |segment: &Arc<Segment>| SegmentInfo { base_offset: segment.base, bytes: segment.bytes() };
        self.segments.load().iter().map(info).collect()
    }

    /// True if records have been unflushed for `flush.ms`.
    pub fn flush_due(&self, now: Now) -> bool {
        let Ok(flush_ms) = u64::try_from(self.config.load().flush_ms) else { return false };
        let age_ms = now.mono_ms.saturating_sub(self.unflushed_since_ms.load(Ordering::Relaxed));
        self.recovery_point() < self.end_offset() && age_ms >= flush_ms
    }

    /// Flushes everything appended so far and moves the recovery point. Blocks; needs no lock.
    pub fn flush(&self) -> Result<(), StorageError> {
        self.flush_below(self.end_offset())
    }

    /// Flushes the segments before the active one and moves the recovery point, as is due after a roll. Blocks.
    pub fn flush_sealed(&self) -> Result<(), StorageError> {
        let active_base = self.segments.load().last().map_or(0, |segment| segment.base);
        self.flush_below(active_base)
    }

    fn flush_below(&self, end: i64) -> Result<(), StorageError> {
        let _alone = self.flushing.lock();
        self.usable()?;
        let flushed = self.recovery_point();
        if end <= flushed {
            return Ok(());
        }
        loop {
            let segments = self.segments.load_full();
            // The one that ended just there, too: sealing it may have completed its indexes since.
            let first = segments.partition_point(|segment| segment.base < flushed).saturating_sub(1);
            let mut dirty = segments.iter().skip(first).filter(|segment| segment.base < end);
            let active = segments.last();
            let synced = dirty.try_for_each(|segment| {
                self.sync_segment(segment, active.is_some_and(|active| Arc::ptr_eq(active, segment)))
            });
            // What a snapshot says of producers may not be in the log any more. Kafka syncs them here, too.
            let bases =
                segments.iter().map(|segment| segment.base).filter(|base| (flushed..=end).contains(base));
            let synced =
                synced.and_then(|()| bases.into_iter().try_for_each(|base| self.sync_snapshot(base)));
            match synced.and_then(|()| self.sync_names()) {
                Ok(()) => {}
                Err(_) if self.is_abandoned() => return Ok(()),
                // Retention took a segment away whose file was not open.
                Err(error) if error.kind() == io::ErrorKind::NotFound && self.have_changed(&segments) => {
                    continue;
                }
                Err(source) => {
                    self.poison();
                    return Err(StorageError::Io { doing: "flush", path: self.dir.to_path_buf(), source });
                }
            }
            self.recovery_point.fetch_max(end, Ordering::SeqCst);
            // A roll meanwhile has written to what was synced before.
            if !self.have_changed(&segments) {
                return Ok(());
            }
        }
    }

    fn have_changed(&self, segments: &Arc<Segments>) -> bool {
        !Arc::ptr_eq(segments, &self.segments.load())
    }

    fn sync_segment(&self, segment: &Segment, active: bool) -> io::Result<()> {
        let disk = self.disk.as_ref();
        segment.file(disk)?.sync_data()?;
        // After a crash the segment of the recovery point is read again and gets new indexes.
        if active { Ok(()) } else { segment.write_indexes(disk, true) }
    }

    pub(super) fn sync_snapshot(&self, offset: i64) -> io::Result<()> {
        match self.disk.open(&self.dir.join(producers::file_name(offset)), OpenMode::Read) {
            Ok(file) => file.sync_data(),
            // A log's first segment has none, nor one that compaction made.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Makes the names of what is in its directory durable, and once the directory's own.
    pub(super) fn sync_names(&self) -> io::Result<()> {
        if self.newborn.swap(false, Ordering::AcqRel) {
            log_dir::sync_topic_id(self.disk.as_ref(), &self.dir)?;
            if let Some(parent) = self.dir.parent() {
                self.disk.sync_dir(parent)?;
            }
        }
        match self.new_names.swap(false, Ordering::AcqRel) {
            true => self.disk.sync_dir(&self.dir),
            false => Ok(()),
        }
    }

    pub(super) fn usable(&self) -> Result<(), StorageError> {
        match self.poisoned.load(Ordering::Acquire) {
            true => Err(StorageError::Poisoned { dir: self.dir.to_path_buf() }),
            false => Ok(()),
        }
    }

    pub(super) fn poison(&self) {
        self.poisoned.store(true, Ordering::Release);
    }

    /// For errors that leave the log as it was.
    pub(super) fn io(&self, doing: &'static str) -> impl FnOnce(io::Error) -> StorageError {
        let path = self.dir.to_path_buf();
        move |source| StorageError::Io { doing, path, source }
    }
}
