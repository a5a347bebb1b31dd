//! Taking things out of a log: at its start (retention, DeleteRecords) and at its end (truncation).

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::active::Active;
use super::leader_epochs::LeaderEpochs;
use super::log::{Log, Segments};
use super::recovery::reload_producers;
use super::scan::ScanError;
use super::segment::{INDEX, LOG, Segment, TIME_INDEX, TXN_INDEX};
use super::{Appender, StorageError, producers};
use crate::clock::Now;
use crate::disk::Disk;

/// What retention took away.
#[derive(Debug, Default)]
pub struct Retained {
    /// Segments that are no longer in the log.
    pub segments: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Where the log starts now.
    pub log_start: i64,
    /// To be run later.
    pub removal: Option<Removal>,
}

/// Files named `.deleted` that are to be removed after `file.delete.delay.ms`: readers may still be in them.
#[derive(Debug)]
pub struct Removal {
    disk: Arc<dyn Disk>,
    files: Vec<PathBuf>,
    delay_ms: u64,
}

impl Removal {
    pub(super) fn new(log: &Log, files: Vec<PathBuf>) -> Removal {
        let delay_ms = u64::try_from(log.config.load().file_delete_delay_ms).unwrap_or(0);
        Removal { disk: Arc::clone(&log.disk), files, delay_ms }
    }

    /// How long to wait, ms.
    pub fn delay_ms(&self) -> u64 {
        self.delay_ms
    }

    /// Removes the files. Blocks.
    pub fn run(self) -> Result<(), StorageError> {
        for path in &self.files {
            match self.disk.remove_file(path) {
                // The whole log may have been removed meanwhile.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StorageError::io("remove", path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Appender {
    /// Nothing below `offset` is readable from now on (DeleteRecords). Whole segments go with the next retention.
    pub fn advance_log_start(&mut self, offset: i64) -> Result<(), StorageError> {
        self.log.usable()?;
        let offset = offset.min(self.log.end_offset());
        if offset <= self.log.start_offset() {
            return Ok(());
        }
        self.log.start.store(offset, Ordering::Release);
        self.forget_epochs_before(offset)
    }

    fn forget_epochs_before(&self, start: i64) -> Result<(), StorageError> {
        let mut epochs = LeaderEpochs::clone(&self.log.epochs.load());
        if epochs.truncate_from_start(start) { self.store_epochs(epochs) } else { Ok(()) }
    }

    /// Takes away whole segments that are below the log's start, too much or too old; nothing at or above the high
    /// watermark. If all must go, the active one is sealed first.
    pub fn retention(&mut self, high_watermark: i64, now: Now) -> Result<Retained, StorageError> {
        self.log.usable()?;
        let count = expired(&self.log, high_watermark, now)?;
        if count == 0 {
            return Ok(Retained { log_start: self.log.start_offset(), ..Retained::default() });
        }
        self.touched = true;
        if count == self.log.segments.load().len() {
            self.roll(now)?;
        }
        let segments = self.log.segments.load_full();
        let (gone, kept) = segments.split_at_checked(count).unwrap_or((&[], &segments));
        let first_base = kept.first().map_or(0, |segment| segment.base);
        // Who still reads in them must not miss what was aborted.
        let pinned = gone.iter().try_for_each(|segment| segment.aborted.pin(self.log.disk.as_ref()));
        self.or_poison("read the transaction index in", pinned)?;
        let log_start = self.log.start.fetch_max(first_base, Ordering::AcqRel).max(first_base);
        self.log.segments.store(Arc::new(kept.to_vec()));
        self.forget_epochs_before(log_start)?;
        let files = self
            .or_poison("delete segments of", rename_deleted(self.log.disk.as_ref(), &self.log, gone, None))?;
        self.log.new_names.store(true, Ordering::Release);
        Ok(Retained {
            segments: gone.len(),
            bytes: gone.iter().map(|segment| segment.bytes()).sum(),
            log_start,
            removal: Some(Removal::new(&self.log, files)),
        })
    }

    /// Removes every batch that has a record at or above `offset`, and every leader epoch that begins there or later;
    /// the log then ends there. Blocks.
    ///
    /// The caller writes the recovery point, which has gone back, to its checkpoint before anything is appended: what
    /// lies below the checkpoint is not read again after a crash.
    pub fn truncate_to(&mut self, offset: i64, now: Now) -> Result<(), StorageError> {
        self.log.usable()?;
        if offset >= self.log.end_offset() {
            // An epoch of which there is no record is forgotten all the same: who led in it wrote nothing, and the
            // leader that is followed never heard of it.
            return self.forget_epochs_from(self.log.end_offset());
        }
        self.touched = true;
        let log = Arc::clone(&self.log);
        let _no_flush = log.flushing.lock();
        // New index files take the places of longer ones.
        log.new_names.store(true, Ordering::Release);
        // Readers first: nothing beyond the new end is handed out any more.
        log.boundaries.clear();
        log.end.store(offset, Ordering::Release);
        log.recovery_point.fetch_min(offset, Ordering::AcqRel);
        let cut = self.cut_files(offset, now).map_err(|error| self.broken("truncate", error));
        let active = cut.inspect_err(|_| log.poison())?;
        self.active = active;
        log.start.fetch_min(offset, Ordering::AcqRel);
        self.forget_epochs_from(offset)?;
        let oldest = now.wall_ms.saturating_sub(self.producer_expiry_ms);
        let reloaded = reload_producers(log.disk.as_ref(), &log.dir, &log.segments.load(), offset, oldest);
        self.producers =
            reloaded.map_err(|error| self.broken("read", error)).inspect_err(|_| log.poison())?;
        log.unstable.store(self.producers.first_open().unwrap_or(i64::MAX), Ordering::Release);
        Ok(())
    }

    fn forget_epochs_from(&mut self, end: i64) -> Result<(), StorageError> {
        let mut epochs = LeaderEpochs::clone(&self.log.epochs.load());
        if epochs.truncate_from_end(end) {
            self.leader_epoch = epochs.latest().unwrap_or(-1);
            self.epoch_due = false;
            self.store_epochs(epochs)?;
        }
        Ok(())
    }

    /// Removes everything; the log is empty then and begins at `offset`, because what is below came by other ways (a
    /// snapshot, another replica's word). Blocks.
    pub fn restart_at(&mut self, offset: i64, now: Now) -> Result<(), StorageError> {
        self.log.usable()?;
        let log = Arc::clone(&self.log);
        let disk = log.disk.as_ref();
        let _no_flush = log.flushing.lock();
        log.boundaries.clear();
        log.end.store(offset, Ordering::Release);
        log.start.store(offset, Ordering::Release);
        log.recovery_point.store(offset, Ordering::Release);
        self.or_poison("remove segments of", remove_segments(disk, &log.segments.load()))?;
        let fresh = Arc::new(Segment::new(Arc::clone(&log.dir), offset, 0, 0, 0));
        self.or_poison("start a segment of", fresh.create(disk).and_then(|()| disk.sync_dir(&log.dir)))?;
        log.segments.store(Arc::new(vec![Arc::clone(&fresh)]));
        self.active = Active::new(fresh, now);
        self.producers = producers::Producers::default();
        log.unstable.store(i64::MAX, Ordering::Release);
        self.leader_epoch = -1;
        self.epoch_due = false;
        self.store_epochs(LeaderEpochs::default())
    }

    /// Cuts the segments; gives the one that is active now.
    fn cut_files(&self, offset: i64, now: Now) -> Result<Active, ScanError> {
        let log = &self.log;
        let disk = log.disk.as_ref();
        let segments = log.segments.load_full();
        let kept = segments.partition_point(|segment| segment.base <= offset);
        let (kept, gone) = segments.split_at_checked(kept).unwrap_or((&segments, &[]));
        // The newest files first, then the cut: a crash in between leaves a beginning of the log, without holes.
        remove_segments(disk, gone)?;
        disk.sync_dir(&log.dir)?;
        let mut list: Segments = kept.to_vec();
        let last = match list.pop() {
            Some(last) => {
                let bytes = last.bytes();
                let position = last.find(disk, offset, bytes)?.map_or(bytes, |found| found.position);
                let cut = last.cut(disk, position, offset)?;
                let file = cut.file(disk)?;
                file.set_len(position)?;
                // Were the cut lost in a crash, old batches could follow new ones.
                file.sync_data()?;
                Arc::new(cut)
            }
            None => {
                let fresh = Segment::new(Arc::clone(&log.dir), offset, 0, 0, 0);
                fresh.create(disk)?;
                disk.sync_dir(&log.dir)?;
                Arc::new(fresh)
            }
        };
        list.push(Arc::clone(&last));
        log.segments.store(Arc::new(list));
        Ok(Active::resume(disk, &last, now)?.0)
    }

    fn broken(&self, doing: &'static str, error: ScanError) -> StorageError {
        let path = self.log.dir.to_path_buf();
        match error {
            ScanError::Io(source) => StorageError::Io { doing, path, source },
            ScanError::Bad { .. } => StorageError::Corrupt { path, what: error.to_string() },
        }
    }
}

/// How many segments at the log's start are to go. Kafka applies one rule after the other.
fn expired(log: &Log, high_watermark: i64, now: Now) -> Result<usize, StorageError> {
    let config = log.config.load();
    let segments = log.segments.load();
    let (start, end) = (log.start_offset(), log.end_offset());
    let next_base = |at: usize| segments.get(at + 1).map(|next| next.base);
    let may_go = |at: usize, segment: &Segment| {
        let empty_active = next_base(at).is_none() && segment.bytes() == 0;
        high_watermark >= next_base(at).unwrap_or(end) && !empty_active
    };
    let mut count = 0;
    let mut size: u64 = segments.iter().map(|segment| segment.bytes()).sum();
    while let Some(segment) = segments.get(count).filter(|segment| may_go(count, segment)) {
        if next_base(count).is_none_or(|next| next > start) {
            break;
        }
        count += 1;
        size = size.saturating_sub(segment.bytes());
    }
    if !config.delete {
        return Ok(count);
    }
    if let Ok(most) = u64::try_from(config.retention_bytes) {
        let mut excess = size.saturating_sub(most);
        while let Some(segment) = segments.get(count).filter(|segment| may_go(count, segment)) {
            let Some(left) = excess.checked_sub(segment.bytes()).filter(|_| size > most) else { break };
            excess = left;
            count += 1;
        }
    }
    if config.retention_ms >= 0 {
        while let Some(segment) = segments.get(count).filter(|segment| may_go(count, segment)) {
            let age_ms = now.wall_ms.saturating_sub(newest_ms(log, segment)?);
            if age_ms <= config.retention_ms {
                break;
            }
            count += 1;
        }
    }
    Ok(count)
}

/// The largest timestamp of a segment, or when it was last written if no record has one.
fn newest_ms(log: &Log, segment: &Segment) -> Result<i64, StorageError> {
    let disk = log.disk.as_ref();
    let largest = segment.largest_timestamp(disk).map_err(log.io("read the time index in"))?;
    if largest >= 0 {
        return Ok(largest);
    }
    let meta = disk.meta(&segment.path(LOG)).map_err(log.io("look at"))?;
    Ok(meta.map_or(i64::MAX, |meta| meta.modified_ms))
}

fn segment_files(segment: &Segment) -> [PathBuf; 4] {
    [LOG, INDEX, TIME_INDEX, TXN_INDEX].map(|extension| segment.path(extension))
}

/// Gives the files of segments their `.deleted` names; the producers' snapshots at their bases go with them, but for
/// the one at `kept`.
pub(super) fn rename_deleted(
    disk: &dyn Disk,
    log: &Log,
    gone: &[Arc<Segment>],
    kept: Option<i64>,
) -> io::Result<Vec<PathBuf>> {
    let mut renamed = Vec::new();
    for segment in gone {
        let snapshot = Some(segment.base).filter(|base| Some(*base) != kept);
        let snapshot = snapshot.map(|base| log.dir.join(producers::file_name(base)));
        for path in segment_files(segment).into_iter().chain(snapshot) {
            let mut name = path.clone().into_os_string();
            name.push(".deleted");
            match disk.rename(&path, name.as_ref()) {
                Ok(()) => renamed.push(name.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(renamed)
}

/// Removes the files of segments at once, the newest first.
pub(super) fn remove_segments(disk: &dyn Disk, gone: &[Arc<Segment>]) -> io::Result<()> {
    for path in gone.iter().rev().flat_map(|segment| segment_files(segment)) {
        match disk.remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
