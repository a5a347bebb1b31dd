//! A leader with followers: what they have, what is committed by that, and who is in sync.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use barnabas_protocol::ErrorCode;

use super::in_sync::{Assignment, Change, FollowerFetch, InSync, Moment};
use super::neighbours::Proposal;
use super::{Partition, PartitionError};
use crate::storage::Appended;

/// What the controller answered to a [`Proposal`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsrState {
    /// Who is in sync.
    pub isr: Vec<i32>,
    /// In which leader epoch.
    pub leader_epoch: i32,
    /// Since which change of the partition.
    pub partition_epoch: i32,
}

impl Partition {
    /// This broker leads from now on, or goes on to lead with other replicas. With one replica everything in the log
    /// is committed; with more the high watermark stays where it was until the followers are heard.
    pub(super) fn lead(self: &Arc<Self>, assignment: Assignment) -> Result<(), PartitionError> {
        let node = self.neighbours.node;
        let now_ms = self.neighbours.now_ms();
        let epoch = assignment.leader_epoch;
        let alone = assignment.replicas.iter().all(|id| *id == node);
        let mut writer = self.writer.lock();
        let appender = writer.as_mut().ok_or(PartitionError::Offline)?;
        let before = self.leader_epoch().ok();
        if before != Some(epoch) {
            appender.begin_epoch(epoch).map_err(|error| self.failed(&error))?;
        }
        let news = self.in_sync.lock().lead(node, assignment, self.log.end_offset(), now_ms);
        if !news && before == Some(epoch) {
            return Ok(());
        }
        self.alone.store(alone, Ordering::Release);
        self.leader_epoch.store(epoch, Ordering::Release);
        if alone {
            self.high_watermark.store(self.log.end_offset(), Ordering::Release);
        }
        drop(writer);
        if before != Some(epoch) || alone {
            self.waiters.changed();
        }
        if !alone {
            self.advance(now_ms);
        }
        Ok(())
    }

    /// The end of this log, as far as it may be called replicated: `flush.messages` may ask for a flush first.
    fn own_end(&self) -> i64 {
        let (end, flushed) = (self.log.end_offset(), self.log.recovery_point());
        if end.saturating_sub(flushed) < self.log.config().flush_messages { end } else { flushed }
    }

    fn at<T>(&self, now_ms: u64, look: impl FnOnce(&Moment<'_>) -> T) -> T {
        let live = self.neighbours.live();
        look(&Moment {
            leader_end: self.own_end(),
            now_ms,
            lag_ms: self.neighbours.lag_ms,
            min_isr: self.min_isr.load(Ordering::Relaxed),
            live: &live,
        })
    }

    /// `min.insync.replicas` from now on.
    pub(super) fn set_min_isr(&self, min_isr: i32) {
        self.min_isr.store(usize::try_from(min_isr).unwrap_or(1), Ordering::Relaxed);
    }

    /// Too few replicas in sync: nothing may be appended that asks for all of them.
    pub(super) fn check_min_isr(&self) -> Result<(), PartitionError> {
        let enough = self.in_sync.lock().has_min_isr(self.min_isr.load(Ordering::Relaxed));
        if enough { Ok(()) } else { Err(PartitionError::NotEnoughReplicas) }
    }

    /// Are enough replicas in sync for what is committed now to be called so?
    ///
    /// # Errors
    /// They are not.
    pub fn check_committed(&self) -> Result<(), PartitionError> {
        if self.is_alone() || self.check_min_isr().is_ok() {
            return Ok(());
        }
        Err(PartitionError::NotEnoughReplicasAfterAppend)
    }

    /// After an append that followers have to copy.
    pub(super) fn appended_for_many(self: &Arc<Self>, appended: &Appended, bytes: i64, now_ms: u64) {
        if !appended.duplicate {
            self.in_sync.lock().hold(appended.last_offset.saturating_add(1), bytes);
            self.waiters.appended(bytes);
            self.advance(now_ms);
        }
        if appended.flush_due {
            self.flush_soon();
        } else if appended.rolled {
            self.flush_sealed();
        }
    }

    /// Moves the high watermark to where it may be, and tells who waits for that.
    pub(super) fn advance(&self, now_ms: u64) {
        let stable = self.last_stable_offset();
        let mut in_sync = self.in_sync.lock();
        let Some(high_watermark) = self.at(now_ms, |at| in_sync.high_watermark(at)) else { return };
        // Whoever stopped leading meanwhile does not decide any more.
        if self.leader_epoch().is_err()
            || self.high_watermark.fetch_max(high_watermark, Ordering::AcqRel) >= high_watermark
        {
            return;
        }
        let bytes = in_sync.release(high_watermark);
        drop(in_sync);
        self.waiters.committed(high_watermark);
        let stable_bytes = if self.last_stable_offset() > stable { i64::MAX } else { 0 };
        self.waiters.readable(bytes.max(1), stable_bytes);
        // Followers want to know it soon: they may have to lead.
        self.waiters.appended(i64::MAX);
    }

    /// A broker fetches as a follower: is it one?
    ///
    /// # Errors
    /// Not the leader, the epoch is another, or the broker is no replica as far as is known here.
    pub fn check_follower(&self, broker: i32, current_leader_epoch: i32) -> Result<(), PartitionError> {
        self.check_epoch(current_leader_epoch)?;
        match self.in_sync.lock().knows(broker) {
            true => Ok(()),
            false => Err(PartitionError::NotReplica { knows_epoch: current_leader_epoch >= 0 }),
        }
    }

    /// A follower has everything below the offset it fetches from.
    ///
    /// # Errors
    /// Not the leader, no replica, or the follower has registered anew since.
    pub fn fetched_by(self: &Arc<Self>, fetch: &FollowerFetch, now_ms: u64) -> Result<(), PartitionError> {
        self.leader_epoch()?;
        let known = self.neighbours.live().get(&fetch.broker).copied();
        if fetch.broker_epoch >= 0 && known.is_some_and(|known| known > fetch.broker_epoch) {
            return Err(PartitionError::StaleReplica);
        }
        let mut in_sync = self.in_sync.lock();
        let (start, live) = (self.log.start_offset(), self.neighbours.live());
        let low_before = in_sync.low_watermark(start, &live);
        if !in_sync.fetched(fetch, self.own_end(), now_ms) {
            return Err(PartitionError::NotReplica { knows_epoch: false });
        }
        let low_moved = in_sync.low_watermark(start, &live) > low_before;
        let change = self.at(now_ms, |at| in_sync.expand(fetch.broker, self.high_watermark(), at));
        self.propose(in_sync, change);
        if low_moved {
            self.waiters.low_watermark_moved();
        }
        self.advance(now_ms);
        Ok(())
    }

    /// Followers that have lagged for `replica.lag.time.max.ms` are to leave the in-sync set.
    pub fn shrink_isr(self: &Arc<Self>, now_ms: u64) {
        if self.is_alone() || self.leader_epoch().is_err() {
            return;
        }
        let mut in_sync = self.in_sync.lock();
        let change = self.at(now_ms, |at| in_sync.shrink(at));
        self.propose(in_sync, change);
        // Who lags is no longer waited for on its way in.
        self.advance(now_ms);
    }

    fn propose(self: &Arc<Self>, in_sync: impl std::ops::Deref<Target = InSync>, change: Option<Change>) {
        let Some(change) = change else { return };
        let isr = in_sync.with_epochs(&change.isr, &self.neighbours.live());
        drop(in_sync);
        self.neighbours.propose(Proposal { partition: self.clone(), change, isr });
    }

    /// The controller's word on a change that was asked for. What may succeed later is asked for again.
    pub fn isr_answered(self: &Arc<Self>, change: &Change, answer: Result<IsrState, ErrorCode>) {
        let mut in_sync = self.in_sync.lock();
        let retry = match answer {
            Ok(state) => {
                let IsrState { isr, leader_epoch, partition_epoch } = state;
                in_sync.accepted(change, isr, leader_epoch, partition_epoch);
                None
            }
            // The next fetch or check decides anew.
            Err(ErrorCode::IneligibleReplica | ErrorCode::OperationNotAttempted) => {
                in_sync.refused(change, true);
                None
            }
            // The metadata will say how things stand.
            Err(
                ErrorCode::FencedLeaderEpoch
                | ErrorCode::InvalidUpdateVersion
                | ErrorCode::InvalidRequest
                | ErrorCode::NewLeaderElected
                | ErrorCode::UnknownTopicOrPartition
                | ErrorCode::UnknownTopicId,
            ) => {
                in_sync.refused(change, false);
                None
            }
            Err(_) => in_sync.retry(change),
        };
        self.propose(in_sync, retry);
        self.advance(self.neighbours.now_ms());
    }

    /// The lowest offset that any living replica still has.
    pub fn low_watermark(&self) -> i64 {
        self.in_sync.lock().low_watermark(self.log.start_offset(), &self.neighbours.live())
    }

    /// A new leader that has not heard of its followers may call less committed than its predecessor did: offsets of
    /// the end are not told then.
    ///
    /// # Errors
    /// See there.
    pub fn check_end_known(&self) -> Result<(), PartitionError> {
        if !self.is_alone() && self.high_watermark() < self.in_sync.lock().epoch_start() {
            return Err(PartitionError::OffsetNotAvailable);
        }
        Ok(())
    }

    /// The replicas as this leader knows them.
    pub fn assignment(&self) -> Assignment {
        self.in_sync.lock().assignment().clone()
    }
}
