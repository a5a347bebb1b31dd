//! The one writer of a log.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use barnabas_protocol::batch::{BatchView, Caps, Header, Origin, Producer, Scratch, Stamp, ValidBatch};

use super::active::{Active, Incoming};
use super::leader_epochs::{self, LeaderEpochs};
use super::log::{Log, Segments};
use super::producers::{self, Guards, Marker, Producers};
use super::segment::Segment;
use super::{AppendError, Appended, ProducerInfo, ProducerMark, StorageError};
use crate::clock::Now;

/// The one writer of a log.
///
/// After an error of type [`StorageError`] the log refuses everything: nobody knows what is in its files.
#[derive(Debug)]
pub struct Appender {
    pub(super) log: Arc<Log>,
    pub(super) active: Active,
    pub(super) producers: Producers,
    pub(super) guards: Guards,
    pub(super) producer_expiry_ms: i64,
    pub(super) jitter_seed: u64,
    /// Of the last append; -1 before the first.
    pub(super) leader_epoch: i32,
    /// The newest epoch is not in the file yet: it has written nothing.
    pub(super) epoch_due: bool,
    /// Something has changed since it was opened, or opening had to repair something: closing has to write it down.
    pub(super) touched: bool,
}

impl Appender {
    /// What is shared with readers.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// Appends a batch: checks what its producer wrote before, stamps it in place, writes it at once from where it
    /// is, and lets readers see it.
    ///
    /// Clients' sequences are checked, coordinators' only by epoch. `Origin::Replica` is not for here.
    pub fn append(
        &mut self,
        mut batch: ValidBatch<'_>,
        leader_epoch: i32,
        origin: Origin,
        now: Now,
    ) -> Result<Appended, AppendError> {
        self.log.usable()?;
        let config = self.log.config.load();
        let header = *batch.header();
        let producer = header.producer();
        let marker = if header.attributes.control() { marker_of(batch.bytes()) } else { None };
        if let Some(producer) = &producer
            && let Some(known) = self.check(producer, &header, marker, origin)?
        {
            return Ok(Appended { flush_due: self.flush_due(config.flush_messages), ..known });
        }
        let bytes = batch.bytes().len();
        if bytes as u64 > u64::from(config.segment_bytes) {
            return Err(AppendError::LargerThanSegment { bytes, segment_bytes: config.segment_bytes });
        }
        let first_offset = self.log.end_offset();
        let append_time = config.append_time.then_some(now.wall_ms);
        let incoming = Incoming {
            bytes: bytes as u64,
            largest_timestamp: append_time.unwrap_or(batch.facts().max_timestamp),
            last_offset: first_offset.saturating_add(i64::from(header.last_offset_delta)),
        };
        let rolled = self.active.must_roll(&config, &incoming, self.jitter_ms(config.segment_jitter_ms), now);
        if rolled {
            self.roll(now)?;
        }
        if leader_epoch > self.leader_epoch {
            self.begin_epoch(leader_epoch)?;
        }
        if self.epoch_due {
            self.store_epochs(LeaderEpochs::clone(&self.log.epochs.load()))?;
            self.epoch_due = false;
        }
        self.touched = true;
        batch.stamp(&Stamp { base_offset: first_offset, leader_epoch, append_time });
        let written = self.active.write(self.log.disk.as_ref(), batch.bytes(), &config);
        self.or_poison("append to", written)?;
        if first_offset == self.log.recovery_point() {
            self.log.unflushed_since_ms.store(now.mono_ms, Ordering::Relaxed);
        }
        self.active.note(batch.header(), config.index_interval_bytes);
        if let Some(producer) = &producer {
            self.apply(batch.header(), producer, marker)?;
        }
        self.publish(incoming.last_offset.saturating_add(1));
        let append_time = append_time.unwrap_or(-1);
        let last_offset = incoming.last_offset;
        let flush_due = self.flush_due(config.flush_messages);
        Ok(Appended { first_offset, last_offset, append_time, duplicate: false, rolled, flush_due })
    }

    /// Appends a batch of the leader's log as it is: offsets, epoch and times are the leader's, and so was the judgement
    /// of producers. Compaction may have left gaps before it.
    ///
    /// # Errors
    /// It is damaged, begins below the log's end, or does not fit into a segment; the log is as it was.
    pub fn append_copied(&mut self, batch: &BatchView<'_>, now: Now) -> Result<Appended, AppendError> {
        self.log.usable()?;
        let (config, header, end) = (self.log.config.load(), *batch.header(), self.log.end_offset());
        batch.check_crc().map_err(|fault| AppendError::Damaged { what: fault.to_string() })?;
        if header.base_offset < end || header.last_offset_delta < 0 {
            return Err(AppendError::NotNext { offset: header.base_offset, end });
        }
        let bytes = batch.bytes().len();
        if bytes as u64 > u64::from(config.segment_bytes) {
            return Err(AppendError::LargerThanSegment { bytes, segment_bytes: config.segment_bytes });
        }
        let marker = if header.attributes.control() { marker_of(batch.bytes()) } else { None };
        let incoming = Incoming {
            bytes: bytes as u64,
            largest_timestamp: header.max_timestamp,
            last_offset: header.last_offset(),
        };
        let rolled = self.active.must_roll(&config, &incoming, self.jitter_ms(config.segment_jitter_ms), now);
        if rolled {
            self.roll(now)?;
        }
        self.copy_epoch(header.leader_epoch, header.base_offset)?;
        let written = self.active.write(self.log.disk.as_ref(), batch.bytes(), &config);
        self.or_poison("append to", written)?;
        if end == self.log.recovery_point() {
            self.log.unflushed_since_ms.store(now.mono_ms, Ordering::Relaxed);
        }
        self.active.note(&header, config.index_interval_bytes);
        if let Some(producer) = &header.producer() {
            self.apply(&header, producer, marker)?;
        }
        self.publish(incoming.last_offset.saturating_add(1));
        Ok(Appended {
            first_offset: header.base_offset,
            last_offset: incoming.last_offset,
            append_time: -1,
            duplicate: false,
            rolled,
            flush_due: self.flush_due(config.flush_messages),
        })
    }

    /// The epoch of a copied batch, written down if it is another than that of the batch before.
    fn copy_epoch(&mut self, epoch: i32, start: i64) -> Result<(), StorageError> {
        if epoch < 0 || (epoch == self.leader_epoch && !self.epoch_due) {
            return Ok(());
        }
        let mut epochs = LeaderEpochs::clone(&self.log.epochs.load());
        if epochs.assign(epoch, start) || self.epoch_due {
            self.store_epochs(epochs)?;
        }
        (self.leader_epoch, self.epoch_due) = (epoch, false);
        Ok(())
    }

    fn flush_due(&self, flush_messages: i64) -> bool {
        self.log.end_offset().saturating_sub(self.log.recovery_point()) >= flush_messages
    }

    fn check(
        &self,
        producer: &Producer,
        header: &Header,
        marker: Option<Marker>,
        origin: Origin,
    ) -> Result<Option<Appended>, AppendError> {
        if let Some(marker) = marker {
            self.producers.check_marker(producer, marker, origin)?;
            return Ok(None);
        }
        let known =
            self.producers.check(producer, header.attributes.transactional(), origin, &self.guards)?;
        Ok(known.map(|known| Appended {
            first_offset: known.first_offset(),
            last_offset: known.last_offset,
            append_time: known.timestamp,
            duplicate: true,
            rolled: false,
            flush_due: false,
        }))
    }

    fn apply(
        &mut self,
        header: &Header,
        producer: &Producer,
        marker: Option<Marker>,
    ) -> Result<(), StorageError> {
        if header.attributes.transactional() {
            self.guards.settle(producer.id);
        }
        let Some(marker) = marker else {
            self.producers.apply(header, producer);
            return Ok(());
        };
        match self.producers.apply_marker(header, producer, marker) {
            Some(aborted) => {
                let noted = self.active.segment.aborted.append(self.log.disk.as_ref(), aborted);
                self.or_poison("append to the transaction index of", noted)
            }
            None => Ok(()),
        }
    }

    /// Lets readers see what opening found.
    pub(super) fn publish_opened(&mut self) {
        self.publish(self.log.end_offset());
    }

    /// Readers see everything up to `end` from now on.
    fn publish(&self, end: i64) {
        let log = &self.log;
        self.active.publish();
        log.boundaries.push(end, self.active.segment.base, self.active.bytes);
        log.unstable.store(self.producers.first_open().unwrap_or(i64::MAX), Ordering::Release);
        log.end.store(end, Ordering::Release);
    }

    /// A new leader epoch begins at the log's end. It is written down with its first record; until then a crash may
    /// forget it, as opening does with epochs that wrote nothing.
    pub fn begin_epoch(&mut self, epoch: i32) -> Result<(), StorageError> {
        self.log.usable()?;
        let mut epochs = LeaderEpochs::clone(&self.log.epochs.load());
        if epochs.assign(epoch, self.log.end_offset()) {
            self.log.epochs.store(Arc::new(epochs));
            self.epoch_due = true;
        }
        self.leader_epoch = epoch;
        Ok(())
    }

    pub(super) fn store_epochs(&self, epochs: LeaderEpochs) -> Result<(), StorageError> {
        let written = epochs.write(self.log.disk.as_ref(), &self.log.dir.join(leader_epochs::FILE));
        if written.is_err() {
            self.log.poison();
        }
        self.log.epochs.store(Arc::new(epochs));
        written
    }

    /// Seals the active segment and starts a new one, unless it is empty.
    pub fn roll(&mut self, now: Now) -> Result<(), StorageError> {
        self.log.usable()?;
        if self.active.bytes == 0 {
            return Ok(());
        }
        self.touched = true;
        let log = Arc::clone(&self.log);
        let disk = log.disk.as_ref();
        let base = log.end_offset();
        // What counts as flushed is not read again after a crash: before there is a next segment, its indexes are whole.
        let flushed = log.recovery_point.load(Ordering::SeqCst) >= base;
        let finished = self.active.finish(disk, flushed);
        self.or_poison("seal a segment of", finished)?;
        let snapshot = log.dir.join(producers::file_name(base));
        if let Err(error) = producers::write(disk, &snapshot, &self.producers, flushed) {
            log.poison();
            return Err(error);
        }
        let next = Arc::new(Segment::new(Arc::clone(&log.dir), base, 0, 0, 0));
        self.or_poison("start a segment of", next.create(disk))?;
        log.new_names.store(true, Ordering::Release);
        let mut segments = Segments::clone(&log.segments.load());
        segments.pop();
        let sealed = Arc::new(self.active.segment.sealed());
        segments.push(Arc::clone(&sealed));
        segments.push(Arc::clone(&next));
        log.segments.store(Arc::new(segments));
        if log.recovery_point.load(Ordering::SeqCst) >= base {
            // It counts as flushed; its last index entries, and index files that a truncation made anew, are not.
            let synced = sealed.write_indexes(disk, true);
            let synced = synced.and_then(|()| log.sync_snapshot(base)).and_then(|()| log.sync_names());
            self.or_poison("seal a segment of", synced)?;
        }
        self.active = Active::new(next, now);
        Ok(())
    }

    /// What is known of a producer, besides its sequences.
    pub fn producer(&self, id: i64) -> ProducerMark {
        self.producers.mark(id)
    }

    /// What is known of a producer, a batch of which wants to be the first of its transaction here, unless one is
    /// open. From now on no batch with a higher sequence can be the first; `from_zero`: nor one above 0, if nothing
    /// is known of the producer.
    pub fn await_transaction(
        &mut self,
        id: i64,
        epoch: i16,
        sequence: i32,
        from_zero: bool,
        now: Now,
    ) -> ProducerMark {
        let mark = self.producers.mark(id);
        if !mark.is_open_in(epoch) {
            self.guards.note(id, epoch, sequence, from_zero, now.wall_ms);
        }
        mark
    }

    /// Every producer that is remembered, by id.
    pub fn producer_infos(&self) -> Vec<ProducerInfo> {
        self.producers.infos()
    }

    /// Forgets producers that have been silent for `producer.id.expiration.ms`, which is `expiry_ms` from now on.
    pub fn expire_producers(&mut self, expiry_ms: i64, now: Now) {
        self.producer_expiry_ms = expiry_ms;
        let oldest = now.wall_ms.saturating_sub(expiry_ms);
        self.producers.expire(oldest);
        self.guards.expire(oldest);
    }

    /// Flushes everything and writes what makes the next start quick, for an orderly stop. Blocks.
    pub fn close_clean(mut self) -> Result<(), StorageError> {
        self.log.usable()?;
        let log = Arc::clone(&self.log);
        let disk = log.disk.as_ref();
        log.flush_sealed()?;
        let finished = self.active.finish(disk, self.touched);
        self.or_poison("close", finished)?;
        if !self.touched {
            // All that the next start needs is as it was found. What is new and empty may get lost: it is made again.
            return Ok(());
        }
        let end = log.end_offset();
        producers::write(disk, &log.dir.join(producers::file_name(end)), &self.producers, true)?;
        log.new_names.store(true, Ordering::Release);
        self.or_poison("sync the directory of", log.sync_names())?;
        log.recovery_point.fetch_max(end, Ordering::AcqRel);
        Ok(())
    }

    /// What this segment takes off `segment.ms`: random, but the same at every look.
    fn jitter_ms(&self, most: i64) -> i64 {
        if most <= 0 {
            return 0;
        }
        let mut x =
            self.jitter_seed ^ self.active.segment.base.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^= x >> 27;
        i64::try_from(x % most.unsigned_abs()).unwrap_or_default()
    }

    /// After a failed change nobody knows what the files hold.
    pub(super) fn or_poison<T>(&self, doing: &'static str, result: io::Result<T>) -> Result<T, StorageError> {
        result.map_err(|source| {
            self.log.poison();
            StorageError::Io { doing, path: self.log.dir.to_path_buf(), source }
        })
    }
}

/// The end of a transaction that a control batch holds; `None` if it is of another kind.
pub(super) fn marker_of(batch: &[u8]) -> Option<Marker> {
    let view = BatchView::first(batch).ok()??;
    let mut scratch = Scratch::default();
    let record = view.records(&mut scratch, Caps::default()).ok()?.next()?.ok()?;
    // Key: version i16, type i16 (0 abort, 1 commit). Value: version i16, coordinator epoch i32.
    let [_, _, kind @ ..] = *record.key?.first_chunk::<4>()?;
    let [_, _, epoch @ ..] = *record.value?.first_chunk::<6>()?;
    let commit = match i16::from_be_bytes(kind) {
        0 => false,
        1 => true,
        _ => return None,
    };
    Some(Marker { commit, coordinator_epoch: i32::from_be_bytes(epoch) })
}
