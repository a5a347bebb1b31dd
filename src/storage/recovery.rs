//! Opening a log: what is in the directory, what of it can be trusted, what has to be read again.

mod inventory;
mod producers;

pub(super) use self::producers::reload_producers;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use self::inventory::Inventory;
use self::producers::{catch_up, newest_snapshot, note};
use super::active::Active;
use super::boundaries::Boundaries;
use super::leader_epochs::{self, LeaderEpochs};
use super::log::{Log, Segments};
use super::maintenance::remove_segments;
use super::offset_index::OffsetIndex;
use super::producers::{Guards, Producers, file_name as snapshot_name, write as write_snapshot};
use super::scan::{FullScan, HeaderScan, ScanError, sound_behind};
use super::segment::{INDEX, Segment, TIME_INDEX};
use super::time_index::TimeIndex;
use super::{Appender, LogConfig, Opened, Opening, RecoveryReport, StorageError};
use crate::clock::Now;
use crate::disk::{Disk, DiskFile};

impl Log {
    /// Opens the log in `dir`, making it if it is new. Blocks: belongs on a blocking thread.
    ///
    /// After an unclean stop everything from the recovery point on is read and checked; the first bad byte ends the
    /// log. Indexes that are missing or damaged are made again in any case.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        config: LogConfig,
        opening: Opening,
        now: Now,
    ) -> Result<Opened, StorageError> {
        let mut recovery = Recovery {
            disk: disk.as_ref(),
            dir: dir.into(),
            config: &config,
            now,
            report: RecoveryReport::default(),
            epochs: LeaderEpochs::default(),
            oldest: now.wall_ms.saturating_sub(opening.producer_expiry_ms),
            scanned: false,
            producers: None,
        };
        let (segments, active, end) = recovery.run(&opening)?;
        let Recovery { dir, mut epochs, report, oldest, scanned, producers, .. } = recovery;
        let producers = match producers {
            Some(producers) => producers,
            None => reload_producers(disk.as_ref(), &dir, &segments, end, oldest)
                .map_err(|error| broken(&dir, error))?,
        };
        let first_base = segments.first().map_or(0, |segment| segment.base);
        let start = opening.log_start.clamp(first_base, end);
        let changed = epochs.truncate_from_end(end) | epochs.truncate_from_start(start);
        // A new log has none yet; writing that down would take two syncs a partition.
        if changed || (!opening.clean && epochs.latest().is_some()) {
            epochs.write(disk.as_ref(), &dir.join(leader_epochs::FILE))?;
        }
        let leader_epoch = epochs.latest().unwrap_or(-1);
        let recovery_point = if opening.clean { end } else { opening.recovery_point.clamp(0, end) };
        let log = Arc::new(Log {
            disk,
            dir,
            config: ArcSwap::from_pointee(config),
            segments: ArcSwap::from_pointee(segments),
            boundaries: Boundaries::new(),
            start: AtomicI64::new(start),
            end: AtomicI64::new(end),
            unstable: AtomicI64::new(i64::MAX),
            epochs: ArcSwap::from_pointee(epochs),
            recovery_point: AtomicI64::new(recovery_point),
            flushing: Mutex::new(()),
            unflushed_since_ms: AtomicU64::new(now.mono_ms),
            new_names: AtomicBool::new(true),
            newborn: AtomicBool::new(!opening.clean || end == start),
            poisoned: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
        });
        let mut appender = Appender {
            log: Arc::clone(&log),
            active,
            producers,
            guards: Guards::default(),
            producer_expiry_ms: opening.producer_expiry_ms,
            jitter_seed: opening.jitter_seed,
            leader_epoch,
            epoch_due: false,
            touched: scanned || report.rebuilt_indexes > 0,
        };
        appender.publish_opened();
        Ok(Opened { appender, log, report })
    }
}

struct Recovery<'a> {
    disk: &'a dyn Disk,
    dir: Arc<Path>,
    config: &'a LogConfig,
    now: Now,
    report: RecoveryReport,
    epochs: LeaderEpochs,
    /// Segments were read again.
    scanned: bool,
    /// Who has been silent since before is forgotten, ms.
    oldest: i64,
    /// What the producers have written, once segments have been read again.
    producers: Option<Producers>,
}

impl Recovery<'_> {
    /// The segments, the active one as its writer sees it, and the offset after the last batch.
    fn run(&mut self, opening: &Opening) -> Result<(Segments, Active, i64), StorageError> {
        let inventory = Inventory::take(self.disk, &self.dir)?;
        self.epochs = LeaderEpochs::read(self.disk, &self.dir.join(leader_epochs::FILE))?;
        let bases = &inventory.segments;
        let mut from = match opening.clean {
            true => bases.len(),
            false => bases.partition_point(|listed| listed.base <= opening.recovery_point).saturating_sub(1),
        };
        let mut segments = Segments::new();
        for (at, listed) in bases.iter().enumerate() {
            let indexes = listed.index_entries();
            let (offsets, times) = indexes.unwrap_or((0, 0));
            let segment = Segment::new(Arc::clone(&self.dir), listed.base, listed.bytes, offsets, times);
            // Those that are scanned get new indexes anyway.
            let sound = at >= from || (indexes.is_some() && self.indexes_fit(&segment));
            segments.push(if sound { Arc::new(segment) } else { self.rebuild(listed.base, listed.bytes)? });
        }
        let mut resumed = None;
        if opening.clean
            && let Some(last) = segments.last()
        {
            match Active::resume(self.disk, last, self.now) {
                Ok(active) => resumed = Some(active),
                Err(ScanError::Io(error)) => return Err(StorageError::io("read", &self.dir)(error)),
                // Not so clean after all: from here on it is read byte by byte.
                Err(ScanError::Bad { .. }) => from = from.saturating_sub(1),
            }
        }
        if resumed.is_none() {
            resumed = self.recover(&mut segments, from)?;
        }
        let (active, end) = match resumed {
            Some(resumed) if resumed.1 >= opening.log_start => resumed,
            // Nothing, or all of it was deleted before the crash.
            _ => {
                let gone = std::mem::take(&mut segments);
                remove_segments(self.disk, &gone)
                    .map_err(StorageError::io("remove segments of", &self.dir))?;
                inventory.remove_snapshots(self.disk)?;
                self.epochs = LeaderEpochs::default();
                self.producers = Some(Producers::default());
                let base = opening.log_start.max(0);
                let fresh = Arc::new(Segment::new(Arc::clone(&self.dir), base, 0, 0, 0));
                fresh.create(self.disk).map_err(StorageError::io("start a segment of", &self.dir))?;
                (Active::new(fresh, self.now), base)
            }
        };
        segments.pop();
        segments.push(Arc::clone(&active.segment));
        inventory.remove_stray_snapshots(self.disk, &segments, end)?;
        Ok((segments, active, end))
    }

    /// Do the last entries of the indexes point into the segment?
    fn indexes_fit(&self, segment: &Segment) -> bool {
        let offsets = segment.offsets.last(self.disk);
        let times = segment.times.last(self.disk);
        let (Ok(offsets), Ok(times)) = (offsets, times) else { return false };
        offsets.is_none_or(|(offset, position)| offset > 0 && u64::from(position) < segment.bytes())
            && times.is_none_or(|(timestamp, _)| timestamp >= 0)
    }

    /// Makes the indexes of a segment again, from its headers. What cannot be read stays as it is.
    fn rebuild(&mut self, base: i64, bytes: u64) -> Result<Arc<Segment>, StorageError> {
        let fail = || StorageError::io("make the index again in", &self.dir);
        let segment = self.without_indexes(base)?;
        let mut active = Active::new(Arc::new(segment), self.now);
        let file = active.segment.file(self.disk).map_err(fail())?;
        let mut scan = HeaderScan::new(file, 0, bytes);
        loop {
            match scan.next() {
                Ok(Some(found)) => active.note(&found.header, self.config.index_interval_bytes),
                Ok(None) | Err(ScanError::Bad { .. }) => break,
                Err(ScanError::Io(error)) => return Err(fail()(error)),
            }
        }
        // Synced: were it lost in another crash, an index that is merely too short would look sound.
        active.finish(self.disk, true).and_then(|()| self.disk.sync_dir(&self.dir)).map_err(fail())?;
        self.report.rebuilt_indexes += 1;
        let (offsets, times) = (active.segment.offsets.len(), active.segment.times.len());
        Ok(Arc::new(Segment::new(Arc::clone(&self.dir), base, bytes, offsets, times)))
    }

    fn without_indexes(&self, base: i64) -> Result<Segment, StorageError> {
        let segment = Segment::new(Arc::clone(&self.dir), base, 0, 0, 0);
        OffsetIndex::rewrite(self.disk, segment.path(INDEX), &[])
            .and_then(|_| TimeIndex::rewrite(self.disk, segment.path(TIME_INDEX), &[]))
            .map_err(StorageError::io("make the index again in", &self.dir))?;
        Ok(segment)
    }

    /// Reads every byte from the segment at place `from` on; the first bad one ends the log.
    fn recover(
        &mut self,
        segments: &mut Segments,
        from: usize,
    ) -> Result<Option<(Active, i64)>, StorageError> {
        let dir = Arc::clone(&self.dir);
        let fail = || StorageError::io("recover", &dir);
        let to_scan = segments.split_off(from.min(segments.len()));
        let Some(first) = to_scan.first() else { return Ok(None) };
        self.scanned = true;
        let (mut snapshot, mut producers) = self.producers_at(segments, first.base)?;
        let mut last: Option<(Active, i64)> = None;
        for (at, segment) in to_scan.iter().enumerate() {
            if let Some((active, end)) = &mut last {
                let hole = segment.base < *end || (segment.base > *end && !self.config.compact);
                if hole {
                    self.drop_rest(
                        to_scan.get(at..).unwrap_or_default(),
                        &format!("the segment that starts at {} does not follow offset {end}", segment.base),
                    )?;
                    break;
                }
                active.finish(self.disk, false).map_err(fail())?;
                active.publish();
                segments.push(Arc::new(active.segment.sealed()));
            }
            if segment.base > snapshot {
                snapshot = segment.base;
                write_snapshot(self.disk, &dir.join(snapshot_name(snapshot)), &producers, false)?;
            }
            let later = to_scan.get(at + 1..).unwrap_or_default();
            let (active, end, bad) = self.scan(segment, later, &mut producers)?;
            last = Some((active, end));
            if let Some(what) = bad {
                self.drop_rest(to_scan.get(at + 1..).unwrap_or_default(), &what)?;
                break;
            }
        }
        if let Some((active, _)) = &last {
            active.publish();
            segments.push(Arc::clone(&active.segment));
        }
        if let Some(first) = segments.get(from) {
            // A part of it lies below the recovery point: the next start will not make its indexes again.
            let synced = first.write_indexes(self.disk, true).and_then(|()| self.disk.sync_dir(&self.dir));
            synced.map_err(fail())?;
        }
        self.producers = Some(producers);
        Ok(last)
    }

    /// What the producers have written below an offset, and the offset of the newest snapshot.
    fn producers_at(&self, segments: &Segments, offset: i64) -> Result<(i64, Producers), StorageError> {
        let first = segments.first().map_or(offset, |segment| segment.base);
        let newest = newest_snapshot(self.disk, &self.dir, first..=offset);
        let state = newest.and_then(|(snapshot, mut producers)| {
            producers.expire(self.oldest);
            catch_up(self.disk, segments, snapshot..offset, &mut producers)?;
            Ok((snapshot, producers))
        });
        state.map_err(|error| broken(&self.dir, error))
    }

    /// Reads a segment, makes its indexes again, and cuts it at the first bad byte. `later` are those behind it.
    fn scan(
        &mut self,
        old: &Segment,
        later: &[Arc<Segment>],
        producers: &mut Producers,
    ) -> Result<(Active, i64, Option<String>), StorageError> {
        let dir = Arc::clone(&self.dir);
        let fail = || StorageError::io("recover", &dir);
        let bytes = old.bytes();
        let mut active = Active::new(Arc::new(self.without_indexes(old.base)?), self.now);
        active.segment.aborted.truncate(self.disk, 0).map_err(fail())?;
        let file = active.segment.file(self.disk).map_err(fail())?;
        let mut end = old.base;
        let mut scan = FullScan::new(Arc::clone(&file), 0, bytes);
        let bad = loop {
            match scan.next() {
                Ok(None) => break None,
                Ok(Some((position, view))) => {
                    let header = view.header();
                    if header.base_offset < end {
                        break Some(format!(
                            "at position {position}: offset {} after {end}",
                            header.base_offset
                        ));
                    }
                    if header.leader_epoch > self.epochs.latest().unwrap_or(-1) {
                        self.epochs.assign(header.leader_epoch, header.base_offset);
                    }
                    active.note(header, self.config.index_interval_bytes);
                    end = header.next_offset();
                    if let Some(aborted) = note(producers, &view) {
                        active.segment.aborted.append(self.disk, aborted).map_err(fail())?;
                    }
                }
                Err(ScanError::Bad { position, what }) => {
                    break Some(format!("at position {position}: {what}"));
                }
                Err(ScanError::Io(error)) => return Err(fail()(error)),
            }
        };
        self.report.scanned_bytes += active.bytes;
        if let Some(what) = &bad {
            if self.config.refuse_damage {
                let path = old.path(super::segment::LOG);
                refuse_to_lose(&path, later, what)?;
                refuse_if_sound_behind(&path, &file, (active.bytes, bytes), end, what)?;
            }
            self.report.cut_bytes += bytes.saturating_sub(active.bytes);
            let name = super::segment::file_name(old.base, super::segment::LOG);
            self.report.cut_reason.get_or_insert_with(|| format!("{name} {what}"));
            // Synced: were the cut lost in another crash, old batches could follow new ones.
            file.set_len(active.bytes).and_then(|()| file.sync_data()).map_err(fail())?;
        }
        Ok((active, end, bad))
    }

    fn drop_rest(&mut self, gone: &[Arc<Segment>], why: &str) -> Result<(), StorageError> {
        let bytes = gone.iter().map(|segment| segment.bytes()).sum::<u64>();
        if let Some(first) = gone.first().filter(|_| self.config.refuse_damage) {
            refuse_to_lose(&first.path(super::segment::LOG), gone, why)?;
        }
        self.report.cut_bytes += bytes;
        self.report.cut_segments += u32::try_from(gone.len()).unwrap_or(u32::MAX);
        self.report.cut_reason.get_or_insert_with(|| why.to_string());
        remove_segments(self.disk, gone)
            .and_then(|()| self.disk.sync_dir(&self.dir))
            .map_err(StorageError::io("remove segments of", &self.dir))
    }
}

/// Were the log cut here, segments with records that were promised would be gone.
fn refuse_to_lose(path: &Path, later: &[Arc<Segment>], why: &str) -> Result<(), StorageError> {
    let bytes = later.iter().map(|segment| segment.bytes()).sum::<u64>();
    if bytes == 0 {
        return Ok(());
    }
    let what = format!("{why}; {bytes} bytes of later segments would be lost. Restore the file from a copy");
    Err(StorageError::Corrupt { path: path.into(), what })
}

/// The same of sound batches behind the damage, which begins where `damaged` does; `end` is the offset of it.
fn refuse_if_sound_behind(
    path: &Path,
    file: &Arc<dyn DiskFile>,
    damaged: (u64, u64),
    end: i64,
    why: &str,
) -> Result<(), StorageError> {
    let (from, to) = damaged;
    let found = sound_behind(file, from, to, end).map_err(|error| broken(path, error))?;
    let Some((position, offset)) = found else { return Ok(()) };
    let what = format!(
        "{why}; sound records follow, from position {position} (offset {offset}) on, and would be lost. Restore the \
         file from a copy; to go on without them, cut it to {from} bytes"
    );
    Err(StorageError::Corrupt { path: path.into(), what })
}

fn broken(dir: &Path, error: ScanError) -> StorageError {
    match error {
        ScanError::Io(error) => StorageError::io("read", dir)(error),
        ScanError::Bad { .. } => StorageError::Corrupt { path: dir.into(), what: error.to_string() },
    }
}

#[cfg(test)]
mod recovery_test;
