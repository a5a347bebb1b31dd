//! A follower: it copies its leader's log, batch by batch, and cuts off what the leader does not have.

use std::sync::atomic::Ordering;

use barnabas_protocol::batch::Batches;

use super::in_sync::Assignment;
use super::replica::led_elsewhere;
use super::{Partition, PartitionError};
use crate::clock::Now;
use crate::storage::{AppendError, Appender, StorageError};

/// What a leader says of itself with each answer.
#[derive(Clone, Copy, Debug)]
pub struct LeaderState {
    /// In this epoch.
    pub epoch: i32,
    /// Below this everything is committed.
    pub high_watermark: i64,
    /// Its log starts here; -1 if it does not say.
    pub log_start: i64,
}

/// What a truncation changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// The log's new end.
    pub end: i64,
    /// Flushed records were cut off: the recovery points must be written down before anything is appended.
    pub recovery_point_moved: bool,
}

impl Partition {
    /// Another broker leads, or none does.
    pub(super) fn follow(&self, assignment: Assignment) {
        let epoch = assignment.leader_epoch;
        let writer = self.writer.lock();
        // In this order: who finds the set without followers finds that it is not ours to count.
        self.set_led_elsewhere(epoch);
        self.in_sync.lock().follow(assignment);
        self.alone.store(false, Ordering::Release);
        drop(writer);
        self.waiters.changed();
    }

    /// Another broker leads in this epoch, or none does. The caller holds `writer`.
    fn set_led_elsewhere(&self, epoch: i32) {
        self.leader_epoch.store(led_elsewhere(epoch), Ordering::Release);
    }

    /// True if another broker leads in this epoch.
    fn is_led_elsewhere(&self, epoch: i32) -> bool {
        self.leader_epoch.load(Ordering::Acquire) == led_elsewhere(epoch)
    }

    /// Works on the log while another broker leads in `epoch`.
    fn as_follower<T>(
        &self,
        epoch: i32,
        work: impl FnOnce(&mut Appender) -> Result<T, AppendError>,
    ) -> Result<T, PartitionError> {
        let mut writer = self.writer.lock();
        if !self.dir.is_online() {
            return Err(PartitionError::Offline);
        }
        if !self.is_led_elsewhere(epoch) {
            return Err(PartitionError::NotLeader);
        }
        let appender = writer.as_mut().ok_or(PartitionError::Offline)?;
        work(appender).map_err(|error| match error {
            AppendError::Storage(error) => self.failed(&error),
            refused => PartitionError::Append(refused),
        })
    }

    /// Where the next fetch begins: the end of the log, and the epoch of its last batch.
    pub fn end_of_copy(&self) -> (i64, Option<i32>) {
        (self.log.end_offset(), self.log.latest_epoch())
    }

    /// Appends what the leader sent; gives the log's new end. Blocks where `flush.messages` asks for a flush.
    ///
    /// # Errors
    /// Somebody else leads meanwhile, a batch is damaged or does not follow the log's end (what came before it is
    /// kept), or the directory failed.
    pub fn copy(&self, records: &[u8], leader: LeaderState, now: Now) -> Result<i64, PartitionError> {
        let (mut flush, mut rolled) = (false, false);
        let copied = self.as_follower(leader.epoch, |appender| {
            // A batch that the answer cuts is fetched again.
            for batch in Batches::new(records) {
                let batch = batch.map_err(|fault| AppendError::Damaged { what: fault.to_string() })?;
                let appended = appender.append_copied(&batch, now)?;
                flush |= appended.flush_due;
                rolled |= appended.rolled;
            }
            Ok(())
        });
        if flush {
            self.log.flush().map_err(|error| self.failed(&error))?;
        } else if rolled {
            self.flush_sealed();
        }
        copied?;
        self.learn(leader)?;
        Ok(self.log.end_offset())
    }

    /// What is committed, and what is not readable any more, is the leader's to say.
    fn learn(&self, leader: LeaderState) -> Result<(), PartitionError> {
        self.as_follower(leader.epoch, |appender| {
            let committed = leader.high_watermark.min(self.log.end_offset());
            self.high_watermark.fetch_max(committed, Ordering::AcqRel);
            Ok(appender.advance_log_start(leader.log_start.min(self.high_watermark()))?)
        })
    }

    /// Cuts off what the leader does not have, which is known by the leader's word on an epoch that this log may have
    /// written less or more in. Blocks.
    ///
    /// # Errors
    /// Somebody else leads meanwhile, or the directory failed.
    pub fn truncate_diverging(
        &self,
        leader_epoch: i32,
        (epoch, its_end): (i32, i64),
        now: Now,
    ) -> Result<Truncated, PartitionError> {
        let end = self.log.end_offset();
        let ours = self.log.end_offset_for_epoch(epoch);
        let to = match ours {
            // Everything here is of later epochs than the leader's answer, or of none.
            None => its_end,
            Some(ours) if ours.epoch == epoch => ours.end_offset.min(its_end),
            // The leader has written in an epoch that is not here: what is of older ones may be right, or not. The
            // next fetch tells.
            Some(ours) => ours.end_offset,
        };
        self.truncate(leader_epoch, to.min(end), now)
    }

    /// Cuts the log at an offset. Blocks.
    ///
    /// # Errors
    /// As [`Self::truncate_diverging`].
    pub fn truncate(&self, leader_epoch: i32, to: i64, now: Now) -> Result<Truncated, PartitionError> {
        self.reshape(leader_epoch, |appender| appender.truncate_to(to.max(0), now))
    }

    /// Everything here lies before what the leader still has: begins anew at the leader's first offset. Blocks.
    ///
    /// # Errors
    /// As [`Self::truncate_diverging`].
    pub fn restart(&self, leader_epoch: i32, at: i64, now: Now) -> Result<Truncated, PartitionError> {
        let restarted = self.reshape(leader_epoch, |appender| appender.restart_at(at, now))?;
        self.high_watermark.store(at, Ordering::Release);
        Ok(restarted)
    }

    fn reshape(
        &self,
        leader_epoch: i32,
        work: impl FnOnce(&mut Appender) -> Result<(), StorageError>,
    ) -> Result<Truncated, PartitionError> {
        let flushed = self.log.recovery_point();
        self.as_follower(leader_epoch, |appender| Ok(work(appender)?))?;
        let end = self.log.end_offset();
        self.high_watermark.fetch_min(end, Ordering::AcqRel);
        Ok(Truncated { end, recovery_point_moved: self.log.recovery_point() != flushed })
    }
}
