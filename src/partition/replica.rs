//! One partition as this broker has it: it leads, appends, and answers reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, Ordering};

use barnabas_protocol::batch::{Origin, Producer, ValidBatch};
use parking_lot::Mutex;
use tracing::warn;

use super::log_dir::LogDir;
use super::{PartitionError, Waiter, Waiters};
use crate::clock::Now;
use crate::disk::Chunk;
use crate::ids::TopicPartition;
use crate::spawn::Spawner;
use crate::storage::{
    AbortedTransaction, AppendError, Appended, Appender, EpochEnd, Log, ProducerInfo, ProducerMark,
    ReadError, StorageError, TimestampOffset,
};

/// Leader epoch while another broker leads.
const NOT_LEADING: i32 = -1;

/// See the module. Shared by handlers, coordinators and maintenance.
#[derive(Debug)]
pub struct Partition {
    id: TopicPartition,
    log: Arc<Log>,
    /// `None` once the log is closed, deleted or offline.
    writer: Mutex<Option<Appender>>,
    /// The epoch in which this broker leads, or [`NOT_LEADING`].
    leader_epoch: AtomicI32,
    high_watermark: AtomicI64,
    waiters: Waiters,
    /// A flush runs that whoever comes meanwhile may count on: it looks again when it is done.
    flushing: AtomicBool,
    /// Bytes that become readable with the next flush.
    held_bytes: AtomicI64,
    dir: Arc<LogDir>,
    spawner: Spawner,
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
}

impl Partition {
    /// A replica that does not lead yet.
    pub(super) fn new(
        id: TopicPartition,
        appender: Appender,
        high_watermark: i64,
        dir: Arc<LogDir>,
        spawner: Spawner,
    ) -> Partition {
        let log = appender.log().clone();
        let high_watermark = high_watermark.clamp(log.start_offset(), log.end_offset());
        Partition {
            id,
            log,
            writer: Mutex::new(Some(appender)),
            leader_epoch: AtomicI32::new(NOT_LEADING),
            high_watermark: AtomicI64::new(high_watermark),
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
            NOT_LEADING => Err(PartitionError::NotLeader),
            epoch => Ok(epoch),
        }
    }

    /// As [`Partition::leader_epoch`], for a client that knows an epoch (-1: knows none).
    ///
    /// # Errors
    /// The client's epoch is older or newer.
    pub fn check_epoch(&self, known: i32) -> Result<i32, PartitionError> {
        let current = self.leader_epoch()?;
        if known < 0 || known == current {
            Ok(current)
        } else if known < current {
            Err(PartitionError::FencedLeaderEpoch { current })
        } else {
            Err(PartitionError::UnknownLeaderEpoch { current })
        }
    }

    /// This broker leads from now on, alone.
    pub(super) fn lead(&self, epoch: i32) -> Result<(), PartitionError> {
        let mut writer = self.writer.lock();
        let appender = writer.as_mut().ok_or(PartitionError::Offline)?;
        appender.begin_epoch(epoch).map_err(|error| self.failed(&error))?;
        self.leader_epoch.store(epoch, Ordering::Release);
        self.high_watermark.store(self.log.end_offset(), Ordering::Release);
        drop(writer);
        self.waiters.changed();
        Ok(())
    }

    /// Another broker leads, or none does.
    pub(super) fn follow(&self) {
        self.leader_epoch.store(NOT_LEADING, Ordering::Release);
        self.waiters.changed();
    }

    /// Appends one batch as the leader. With one replica it is committed at once, or where `flush.messages` asks for
    /// it, once a flush has reached it: many appends share one.
    ///
    /// # Errors
    /// Not the leader, refused by the log, or the directory failed.
    pub fn append(
        self: &Arc<Self>,
        batch: ValidBatch<'_>,
        origin: Origin,
        now: Now,
    ) -> Result<Appended, PartitionError> {
        self.append_if(batch, origin, now, |_| Ok(()))
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
        known: ProducerMark,
        now: Now,
    ) -> Result<Appended, PartitionError> {
        let producer_id = batch.header().producer_id;
        self.append_if(batch, Origin::Client, now, |there| {
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
        self.append_if(batch, Origin::Coordinator, now, |there| {
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
        origin: Origin,
        now: Now,
        may: impl FnOnce(ProducerMark) -> Result<(), AppendError>,
    ) -> Result<Appended, PartitionError> {
        let bytes = i64::try_from(batch.bytes().len()).unwrap_or(i64::MAX);
        let mut writer = self.writer.lock();
        let epoch = self.leader_epoch()?;
        let appender = writer.as_mut().ok_or(PartitionError::Offline)?;
        if batch.header().producer_id >= 0 {
            may(appender.producer(batch.header().producer_id)).map_err(PartitionError::Append)?;
        }
        let stable = self.last_stable_offset();
        let appended = appender.append(batch, epoch, origin, now).map_err(|error| match error {
            AppendError::Storage(error) => self.failed(&error),
            refused => PartitionError::Append(refused),
        })?;
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
    fn flush_soon(self: &Arc<Self>) {
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
            let stable = self.last_stable_offset();
            self.high_watermark.fetch_max(flushed, Ordering::AcqRel);
            let bytes = self.held_bytes.swap(0, Ordering::AcqRel);
            self.waiters.committed(self.high_watermark());
            if bytes > 0 {
                // How many of them are stable is not worth counting: who waits for such looks.
                let stable_bytes = if self.last_stable_offset() > stable { i64::MAX } else { 0 };
                self.waiters.readable(bytes, stable_bytes);
            }
            // Not a mere store: it also learns what they appended.
            self.flushing.swap(false, Ordering::AcqRel);
            // Those who came while the flush ran had left it to this one to look again.
            if self.log.end_offset() <= flushed || self.flushing.swap(true, Ordering::AcqRel) {
                return;
            }
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

    fn flush_sealed(&self) {
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
        self.follow();
        appender
    }

    fn failed(&self, error: &StorageError) -> PartitionError {
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
