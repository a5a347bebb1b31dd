//! One partition as this broker has it: who leads it, its writer, what is committed, and reads.
//!
//! `leader` holds what a leader with followers does besides, `follower` what a follower does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicUsize, Ordering};

use barnabas_protocol::batch::{Origin, Producer, ValidBatch};
use parking_lot::Mutex;
use tracing::warn;

use super::in_sync::InSync;
use super::log_dir::LogDir;
use super::neighbours::Neighbours;
use super::{PartitionError, Waiter, Waiters};
use crate::clock::Now;
use crate::disk::Chunk;
use crate::ids::{TopicPartition, Uuid};
use crate::spawn::Spawner;
use crate::storage::{
    AbortedTransaction, AppendError, Appended, Appender, EpochEnd, Log, ProducerInfo, ProducerMark,
    ReadError, StorageError, TimestampOffset,
};

/// What stands for the leader epoch before any is known.
const NO_EPOCH: i32 = -1;

/// Another broker leads in `epoch`: kept in the place of our own leader epoch, and never taken for one.
pub(super) const fn led_elsewhere(epoch: i32) -> i32 {
    NO_EPOCH.saturating_sub(1).saturating_sub(epoch)
}

/// See the module. Shared by handlers, coordinators and maintenance.
#[derive(Debug)]
pub struct Partition {
    id: TopicPartition,
    topic_id: Uuid,
    pub(super) log: Arc<Log>,
    /// `None` once the log is closed, deleted or offline.
    pub(super) writer: Mutex<Option<Appender>>,
    /// The epoch in which this broker leads, [`NO_EPOCH`], or what [`led_elsewhere`] makes of another's.
    pub(super) leader_epoch: AtomicI32,
    pub(super) high_watermark: AtomicI64,
    /// There is no replica but this: what is appended is committed. Changes only under `writer`.
    pub(super) alone: AtomicBool,
    /// `min.insync.replicas`.
    pub(super) min_isr: AtomicUsize,
    /// The followers. Taken after `writer`, if both are.
    pub(super) in_sync: Mutex<InSync>,
    pub(super) neighbours: Arc<Neighbours>,
    pub(super) waiters: Waiters,
    /// A flush runs that whoever comes meanwhile may count on: it looks again when it is done.
    flushing: AtomicBool,
    /// Bytes that become readable with the next flush.
    held_bytes: AtomicI64,
    pub(super) dir: Arc<LogDir>,
    spawner: Spawner,
}

/// How much an append must be sure of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// That it is in this log.
    Leader,
    /// That enough replicas can have it (`min.insync.replicas`).
    All,
}

/// Up to where a reader sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Everything that is replicated (`read_uncommitted`).
    HighWatermark,
    /// Nothing of an open transaction, and nothing after it (`read_committed`).
    LastStable,
    /// Everything: followers.
    LogEnd,
}

/// What a fetch wants of a partition.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// First offset.
    pub offset: i64,
    /// Most bytes; the first batch may be larger if `min_one`.
    pub max_bytes: u64,
    /// The first batch is returned whole, whatever its size.
    pub min_one: bool,
    /// Up to where.
    pub isolation: Isolation,
    /// The leader epoch the reader knows, or -1.
    pub current_leader_epoch: i32,
    /// The epoch of the last record the reader has, or -1: a log that has diverged is told so.
    pub last_fetched_epoch: i32,
}

/// What it gets.
#[derive(Debug)]
pub struct Fetched {
    /// Batches, the last perhaps cut.
    pub records: Chunk,
    /// Bytes that could be read now, beyond `max_bytes` too; for `min.bytes`.
    pub high_watermark: i64,
    /// See [`Isolation::LastStable`].
    pub last_stable_offset: i64,
    /// First readable offset.
    pub log_start_offset: i64,
    /// The aborted transactions among the records; only for `read_committed`.
    pub aborted: Option<Vec<AbortedTransaction>>,
    /// The reader's log has records that this one has not.
    pub diverging: Option<EpochEnd>,
    /// The log ended here.
    pub log_end: i64,
}

impl Partition {
    /// A replica that does not lead yet.
    pub(super) fn new(
        (id, topic_id): (TopicPartition, Uuid),
        appender: Appender,
        high_watermark: i64,
        dir: Arc<LogDir>,
        neighbours: Arc<Neighbours>,
        spawner: Spawner,
    ) -> Partition {
        let log = appender.log().clone();
        let high_watermark = high_watermark.clamp(log.start_offset(), log.end_offset());
        Partition {
            id,
            topic_id,
            log,
            writer: Mutex::new(Some(appender)),
            leader_epoch: AtomicI32::new(NO_EPOCH),
            high_watermark: AtomicI64::new(high_watermark),
            alone: AtomicBool::new(true),
            min_isr: AtomicUsize::new(1),
            in_sync: Mutex::default(),
            neighbours,
            waiters: Waiters::default(),
            flushing: AtomicBool::new(false),
            held_bytes: AtomicI64::new(0),
            dir,
            spawner,
        }
    }

    /// Topic and index.
    pub fn id(&self) -> &TopicPartition {
        &self.id
    }

    /// The topic's id.
    pub fn topic_id(&self) -> Uuid {
        self.topic_id
    }

    /// What may be read without asking who leads.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// The directory of `log.dirs` that it is in.
    pub fn dir(&self) -> &Arc<LogDir> {
        &self.dir
    }

    /// Who waits for it.
    pub fn waiters(&self) -> &Waiters {
        &self.waiters
    }

    /// Below this every record is replicated.
    pub fn high_watermark(&self) -> i64 {
        self.high_watermark.load(Ordering::Acquire)
    }

    /// Below this no transaction is open.
    pub fn last_stable_offset(&self) -> i64 {
        let high_watermark = self.high_watermark();
        let first_open = self.log.first_unstable_offset();
        // Records of an open transaction may have been deleted.
        first_open.map_or(high_watermark, |first| first.max(self.log.start_offset()).min(high_watermark))
    }

    /// The offset after the last one that a reader sees.
    pub fn upper_bound(&self, isolation: Isolation) -> i64 {
        match isolation {
            Isolation::HighWatermark => self.high_watermark(),
            Isolation::LastStable => self.last_stable_offset(),
            Isolation::LogEnd => self.log.end_offset(),
        }
    }

    /// What the log knows of a producer; nothing once it is closed.
    pub fn producer(&self, id: i64) -> ProducerMark {
        self.writer.lock().as_ref().map_or(ProducerMark::NONE, |appender| appender.producer(id))
    }

    /// See [`Appender::await_transaction`]; nothing once the log is closed.
    pub fn await_transaction(&self, producer: &Producer, from_zero: bool, now: Now) -> ProducerMark {
        self.writer.lock().as_mut().map_or(ProducerMark::NONE, |appender| {
            appender.await_transaction(producer.id, producer.epoch, producer.first_sequence, from_zero, now)
        })
    }

    /// Every producer that the log remembers, by id.
    ///
    /// # Errors
    /// Not the leader, or the directory failed.
    pub fn producers(&self) -> Result<Vec<ProducerInfo>, PartitionError> {
        self.leader_epoch()?;
        let writer = self.writer.lock();
        writer.as_ref().map(Appender::producer_infos).ok_or(PartitionError::Offline)
    }

    /// The epoch in which this broker leads.
    ///
    /// # Errors
    /// It does not, or the log is gone.
    pub fn leader_epoch(&self) -> Result<i32, PartitionError> {
        if !self.dir.is_online() {
            return Err(PartitionError::Offline);
        }
        match self.leader_epoch.load(Ordering::Acquire) {
            ..=NO_EPOCH => Err(PartitionError::NotLeader),
            epoch => Ok(epoch),
        }
    }

    /// The newest leader epoch known, whoever leads.
    fn known_epoch(&self) -> Option<i32> {
        match self.leader_epoch.load(Ordering::Acquire) {
            NO_EPOCH => None,
            epoch @ 0.. => Some(epoch),
            // The way back is the way there.
            elsewhere => Some(led_elsewhere(elsewhere)),
        }
    }

    /// As [`Partition::leader_epoch`], for a client that knows an epoch (-1: knows none).
    ///
    /// # Errors
    /// The client's epoch is older or newer, which is said first, or this broker does not lead.
    pub fn check_epoch(&self, known: i32) -> Result<i32, PartitionError> {
        if !self.dir.is_online() {
            return Err(PartitionError::Offline);
        }
        match self.known_epoch() {
            Some(current) if known != NO_EPOCH && known < current => {
                Err(PartitionError::FencedLeaderEpoch { current })
            }
            Some(current) if known > current => Err(PartitionError::UnknownLeaderEpoch { current }),
            _ => self.leader_epoch(),
        }
    }

    /// Appends one batch as the leader. With one replica it is committed at once, or where `flush.messages` asks for
    /// it, once a flush has reached it: many appends share one. With more it is committed once all that are in sync
    /// have it.
    ///
    /// # Errors
    /// Not the leader, too few replicas for the acks, refused by the log, or the directory failed.
    pub fn append(
        self: &Arc<Self>,
        batch: ValidBatch<'_>,
        origin: Origin,
        acks: Acks,
        now: Now,
    ) -> Result<Appended, PartitionError> {
        self.append_if(batch, (origin, acks, None), now, |_| Ok(()))
    }

    /// Appends a coordinator's batch, if this broker still leads in `epoch`.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn append_in_epoch(
        self: &Arc<Self>,
        batch: ValidBatch<'_>,
        epoch: i32,
        now: Now,
    ) -> Result<Appended, PartitionError> {
        self.append_if(batch, (Origin::Coordinator, Acks::All, Some(epoch)), now, |_| Ok(()))
    }

    /// Appends one batch of a producer's transaction. `known` is what [`Self::await_transaction`] gave before the
    /// transaction's coordinator said that it is open: a marker since then refuses the batch, which would stay open for
    /// ever.
    ///
    /// # Errors
    /// As [`Self::append`]; the transaction has ended.
    pub fn append_in_transaction(
        self: &Arc<Self>,
        batch: ValidBatch<'_>,
        acks: Acks,
        known: ProducerMark,
        now: Now,
    ) -> Result<Appended, PartitionError> {
        let producer_id = batch.header().producer_id;
        self.append_if(batch, (Origin::Client, acks, None), now, |there| {
            if there.last_marker != known.last_marker {
                let what = "its transaction has ended meanwhile";
                return Err(AppendError::InvalidTxnState { producer_id, what });
            }
            Ok(())
        })
    }

    /// Appends the end of a transaction. With `strict` it must have a later epoch than an open transaction's records
    /// (KIP-890), which tells it from a late marker of the transaction before.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn append_marker(
        self: &Arc<Self>,
        batch: ValidBatch<'_>,
        strict: bool,
        now: Now,
    ) -> Result<Appended, PartitionError> {
        let (producer_id, incoming) = (batch.header().producer_id, batch.header().producer_epoch);
        self.append_if(batch, (Origin::Coordinator, Acks::All, None), now, |there| {
            if strict && there.open && incoming <= there.epoch {
                let current = there.epoch;
                return Err(AppendError::InvalidProducerEpoch { producer_id, incoming, current });
            }
            Ok(())
        })
    }

    /// `may` looks at what is known of the batch's producer, while nobody else can append.
    fn append_if(
        self: &Arc<Self>,
        batch: ValidBatch<'_>,
        (origin, acks, in_epoch): (Origin, Acks, Option<i32>),
        now: Now,
        may: impl FnOnce(ProducerMark) -> Result<(), AppendError>,
    ) -> Result<Appended, PartitionError> {
        let bytes = i64::try_from(batch.bytes().len()).unwrap_or(i64::MAX);
        let mut writer = self.writer.lock();
        let epoch = self.leader_epoch()?;
        if in_epoch.is_some_and(|wanted| wanted != epoch) {
            return Err(PartitionError::NotLeader);
        }
        let alone = self.is_alone();
        if !alone && acks == Acks::All {
            self.check_min_isr()?;
        }
        let appender = writer.as_mut().ok_or(PartitionError::Offline)?;
        if batch.header().producer_id >= 0 {
            may(appender.producer(batch.header().producer_id)).map_err(PartitionError::Append)?;
        }
        let stable = self.last_stable_offset();
        let appended = appender.append(batch, epoch, origin, now).map_err(|error| match error {
            AppendError::Storage(error) => self.failed(&error),
            refused => PartitionError::Append(refused),
        })?;
        if !alone {
            drop(writer);
            self.appended_for_many(&appended, bytes, now.mono_ms);
            return Ok(appended);
        }
        if appended.flush_due {
            drop(writer);
            if !appended.duplicate {
                self.held_bytes.fetch_add(bytes, Ordering::AcqRel);
            }
            self.flush_soon();
            return Ok(appended);
        }
        let high_watermark = self.log.end_offset();
        self.high_watermark.fetch_max(high_watermark, Ordering::AcqRel);
        drop(writer);
        if !appended.duplicate {
            self.waiters.committed(high_watermark);
            let (end, before) = (self.last_stable_offset(), appended.first_offset);
            // The end of a transaction makes more readable than the marker.
            let stable_bytes = if end <= stable {
                0
            } else if stable < before {
                i64::MAX
            } else {
                bytes
            };
            self.waiters.readable(bytes, stable_bytes);
        }
        if appended.rolled {
            self.flush_sealed();
        }
        Ok(appended)
    }

    /// Sees to it that a flush begins after now; whoever waits for the high watermark hears of its end.
    pub(super) fn flush_soon(self: &Arc<Self>) {
        if self.flushing.swap(true, Ordering::AcqRel) {
            return;
        }
        let this = self.clone();
        self.spawner.blocking(move || this.flush_and_commit());
    }

    fn flush_and_commit(&self) {
        loop {
            if let Err(error) = self.log.flush() {
                // Everybody who waits is told when the directory goes offline.
                return self.dir.fail(&error);
            }
            if self.log.is_abandoned() {
                return;
            }
            let flushed = self.log.recovery_point();
            self.flushed_to(flushed);
            // Not a mere store: it also learns what they appended.
            self.flushing.swap(false, Ordering::AcqRel);
            // Those who came while the flush ran had left it to this one to look again.
            if self.log.end_offset() <= flushed || self.flushing.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    }

    /// With one replica, what is flushed is committed; with more the leader's own end has moved.
    fn flushed_to(&self, flushed: i64) {
        // An append that comes in between finds everything as it is now, or waits for the next flush.
        if !self.is_alone() {
            return self.advance(self.neighbours.now_ms());
        }
        let stable = self.last_stable_offset();
        self.high_watermark.fetch_max(flushed, Ordering::AcqRel);
        let bytes = self.held_bytes.swap(0, Ordering::AcqRel);
        self.waiters.committed(self.high_watermark());
        if bytes > 0 {
            // How many of them are stable is not worth counting: who waits for such looks.
            let stable_bytes = if self.last_stable_offset() > stable { i64::MAX } else { 0 };
            self.waiters.readable(bytes, stable_bytes);
        }
    }

    /// A waiter that fires once `offset` is below the high watermark, or never will be; `None` if it is already.
    pub fn wait_committed(&self, offset: i64) -> Option<Arc<Waiter>> {
        if self.high_watermark() > offset {
            return None;
        }
        let waiter = Waiter::for_bytes(i64::MAX);
        self.waiters.watch_commit(offset, waiter.clone());
        if self.high_watermark() > offset || self.leader_epoch().is_err() {
            waiter.fire();
        }
        Some(waiter)
    }

    pub(super) fn flush_sealed(&self) {
        let (log, dir) = (self.log.clone(), self.dir.clone());
        self.spawner.blocking(move || {
            if let Err(error) = log.flush_sealed() {
                dir.fail(&error);
            }
        });
    }

    /// Reads as the leader.
    ///
    /// # Errors
    /// Not the leader, another epoch, an offset outside the log, or the directory failed.
    pub fn read(&self, read: &Read) -> Result<Fetched, PartitionError> {
        self.check_epoch(read.current_leader_epoch)?;
        let log_start_offset = self.log.start_offset();
        let high_watermark = self.high_watermark();
        let last_stable_offset = self.last_stable_offset();
        let upper = self.upper_bound(read.isolation);
        let mut fetched = Fetched {
            records: Chunk::EMPTY,
            high_watermark,
            last_stable_offset,
            log_start_offset,
            aborted: None,
            diverging: None,
            log_end: self.log.end_offset(),
        };
        if read.last_fetched_epoch >= 0
            && let Some(diverging) = self.diverging(read)?
        {
            fetched.diverging = Some(diverging);
            return Ok(fetched);
        }
        let slice = match read.isolation {
            Isolation::LastStable => self
                .log
                .read_committed(read.offset, read.max_bytes, read.min_one, upper)
                .map(|(slice, aborted)| {
                    fetched.aborted = Some(aborted);
                    slice
                }),
            _ => self.log.read(read.offset, read.max_bytes, read.min_one, upper),
        };
        fetched.records = slice.map_err(|error| self.read_failed(&error))?.chunk;
        Ok(fetched)
    }

    /// Where the reader's log left this one's history.
    fn diverging(&self, read: &Read) -> Result<Option<EpochEnd>, PartitionError> {
        let end = self.log.end_offset_for_epoch(read.last_fetched_epoch);
        let Some(end) = end else {
            return Err(PartitionError::OffsetOutOfRange {
                offset: read.offset,
                start: self.log.start_offset(),
                end: self.log.end_offset(),
            });
        };
        let diverged = end.epoch < read.last_fetched_epoch || end.end_offset < read.offset;
        Ok(diverged.then_some(end))
    }

    /// The first record at or after a time (ms). May block.
    ///
    /// # Errors
    /// The directory failed.
    pub fn offset_for_timestamp(&self, timestamp: i64) -> Result<Option<TimestampOffset>, PartitionError> {
        self.log.offset_for_timestamp(timestamp).map_err(|error| self.read_failed(&error))
    }

    /// The first record with the largest timestamp. May block.
    ///
    /// # Errors
    /// The directory failed.
    pub fn max_timestamp(&self) -> Result<Option<TimestampOffset>, PartitionError> {
        self.log.max_timestamp().map_err(|error| self.read_failed(&error))
    }

    /// No replica but this one: what is appended is committed.
    pub fn is_alone(&self) -> bool {
        self.alone.load(Ordering::Acquire)
    }

    /// DeleteRecords: nothing below `offset` (-1: the high watermark) is readable any more.
    /// The new first offset is returned.
    ///
    /// # Errors
    /// The offset is beyond the high watermark or negative, not the leader, or the directory failed.
    pub fn delete_records(&self, offset: i64) -> Result<i64, PartitionError> {
        let mut writer = self.writer.lock();
        self.leader_epoch()?;
        let appender = writer.as_mut().ok_or(PartitionError::Offline)?;
        let high_watermark = self.high_watermark();
        let offset = if offset == -1 { high_watermark } else { offset };
        if offset < 0 || offset > high_watermark {
            let start = self.log.start_offset();
            return Err(PartitionError::OffsetOutOfRange { offset, start, end: high_watermark });
        }
        appender.advance_log_start(offset).map_err(|error| self.failed(&error))?;
        Ok(self.log.start_offset())
    }

    /// Lets maintenance work on the log; nothing happens if it is closed or offline.
    pub(super) fn maintain<T>(
        &self,
        work: impl FnOnce(&mut Appender, i64) -> Result<T, StorageError>,
    ) -> Option<T> {
        let mut writer = self.writer.lock();
        let appender = writer.as_mut().filter(|_| self.dir.is_online())?;
        work(appender, self.high_watermark()).map_err(|error| self.failed(&error)).ok()
    }

    /// Takes the writer away, for an orderly stop or a deletion. Everybody who waits looks again.
    pub(super) fn close(&self) -> Option<Appender> {
        let appender = self.writer.lock().take();
        self.leader_epoch.store(NO_EPOCH, Ordering::Release);
        self.waiters.changed();
        appender
    }

    pub(super) fn failed(&self, error: &StorageError) -> PartitionError {
        if self.log.is_abandoned() {
            return PartitionError::UnknownTopicOrPartition;
        }
        self.dir.fail(error);
        PartitionError::Offline
    }

    fn read_failed(&self, error: &ReadError) -> PartitionError {
        match error {
            ReadError::Storage(_) | ReadError::Corrupt { .. } if self.log.is_abandoned() => {
                return PartitionError::UnknownTopicOrPartition;
            }
            ReadError::Storage(error) => self.dir.fail(error),
            ReadError::Corrupt { .. } => warn!(partition = %self.id, "not served: {error}"),
            ReadError::OutOfRange { .. } => {}
        }
        PartitionError::from_read(error)
    }
}
