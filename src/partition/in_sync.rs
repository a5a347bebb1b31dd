//! What a leader knows of its followers, and what follows: who is in sync, and what is committed.
//!
//! No clock, lock or message: numbers in, decisions out. The in-sync set (ISR) changes only by the controller's word.
//! Until the answer to a proposal comes, the leader counts with the larger of both sets (KIP-497): whoever may be
//! elected has everything that is called committed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Appends whose sizes are remembered one by one until they are committed.
const MOST_HELD: usize = 256;

/// What the cluster has decided about a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Who holds it.
    pub replicas: Vec<i32>,
    /// Who is in sync, the leader included.
    pub isr: Vec<i32>,
    /// Grows with every new leader.
    pub leader_epoch: i32,
    /// Grows with every change.
    pub partition_epoch: i32,
}

/// A change of the ISR that the controller is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Who is to be in sync.
    pub isr: Vec<i32>,
    /// The leader epoch in which it was decided.
    pub leader_epoch: i32,
    /// The partition epoch that it builds on.
    pub partition_epoch: i32,
}

/// A follower, as its fetches show it.
#[derive(Clone, Debug, Default)]
struct Copy {
    log_start: Option<i64>,
    log_end: Option<i64>,
    /// Monotonic ms when it was last known to have everything.
    caught_up_ms: Option<u64>,
    /// Monotonic ms of its last fetch, and where the leader's log ended then.
    last_fetch: Option<(u64, i64)>,
    /// The broker epoch it fetched with; -1 if it does not say.
    broker_epoch: i64,
}

impl Copy {
    fn is_caught_up(&self, leader_end: i64, now_ms: u64, lag_ms: u64) -> bool {
        self.log_end == Some(leader_end)
            || self.caught_up_ms.is_some_and(|at| now_ms.saturating_sub(at) <= lag_ms)
    }
}

/// One fetch of a follower.
#[derive(Clone, Copy, Debug)]
pub struct FollowerFetch {
    /// The follower.
    pub broker: i32,
    /// Its broker epoch, or -1.
    pub broker_epoch: i64,
    /// The end of its log.
    pub offset: i64,
    /// The start of its log, or -1.
    pub log_start: i64,
}

/// Brokers that may become leaders, with their epochs.
pub type Live = BTreeMap<i32, i64>;

/// Where things stand when something is decided.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The end of the leader's log, as far as it may be called replicated.
    pub leader_end: i64,
    /// Monotonic ms.
    pub now_ms: u64,
    /// `replica.lag.time.max.ms`.
    pub lag_ms: u64,
    /// `min.insync.replicas`.
    pub min_isr: usize,
    /// Who lives.
    pub live: &'a Live,
}

/// See the module.
#[derive(Debug)]
pub struct InSync {
    leading: bool,
    assignment: Assignment,
    /// Where the log ended when this leader began.
    epoch_start: i64,
    pending: Option<Vec<i32>>,
    copies: BTreeMap<i32, Copy>,
    /// Ends and sizes of appends that are not committed yet.
    held: VecDeque<(i64, i64)>,
}

impl Default for InSync {
    /// Of a partition that nothing is known of.
    fn default() -> InSync {
        InSync::following(Assignment {
            replicas: Vec::new(),
            isr: Vec::new(),
            leader_epoch: -1,
            partition_epoch: -1,
        })
    }
}

impl InSync {
    fn following(assignment: Assignment) -> InSync {
        InSync {
            leading: false,
            assignment,
            epoch_start: 0,
            pending: None,
            copies: BTreeMap::new(),
            held: VecDeque::new(),
        }
    }

    /// What the cluster has decided.
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// Where the log ended when this leader began.
    pub fn epoch_start(&self) -> i64 {
        self.epoch_start
    }

    /// This broker leads, as of now; in a new epoch nothing is known of the others. False if it is old news.
    pub fn lead(&mut self, node: i32, assignment: Assignment, log_end: i64, now_ms: u64) -> bool {
        let known = &self.assignment;
        let new_epoch = !self.leading || assignment.leader_epoch != known.leader_epoch;
        if !new_epoch && assignment.partition_epoch <= known.partition_epoch {
            return false;
        }
        if new_epoch {
            self.copies.clear();
            self.held.clear();
            self.epoch_start = log_end;
        }
        let others: BTreeSet<i32> = assignment.replicas.iter().copied().filter(|id| *id != node).collect();
        self.copies.retain(|id, _| others.contains(id));
        for id in others {
            self.copies.entry(id).or_insert_with(|| Copy {
                // Who is in sync counts as caught up until it is known otherwise.
                caught_up_ms: assignment.isr.contains(&id).then_some(now_ms),
                broker_epoch: -1,
                ..Copy::default()
            });
        }
        self.pending = None;
        self.leading = true;
        self.assignment = assignment;
        true
    }

    /// Another broker leads.
    pub fn follow(&mut self, assignment: Assignment) {
        *self = InSync::following(assignment);
    }

    fn isr(&self) -> &[i32] {
        &self.assignment.isr
    }

    /// In the ISR, or in the one that was asked for.
    fn may_be_in_sync(&self, id: i32) -> bool {
        self.isr().contains(&id) || self.pending.as_ref().is_some_and(|isr| isr.contains(&id))
    }

    /// The ISR is large enough for acks=all; the minimum is never more than there are replicas.
    pub fn has_min_isr(&self, min_isr: usize) -> bool {
        self.isr().len() >= min_isr.min(self.assignment.replicas.len())
    }

    /// Is it one of the followers?
    pub fn knows(&self, broker: i32) -> bool {
        self.copies.contains_key(&broker)
    }

    /// Takes note of a fetch; false if the broker is no follower here.
    pub fn fetched(&mut self, fetch: &FollowerFetch, leader_end: i64, now_ms: u64) -> bool {
        let Some(copy) = self.copies.get_mut(&fetch.broker) else { return false };
        let had_everything_at = match copy.last_fetch {
            _ if fetch.offset >= leader_end => Some(now_ms),
            Some((at, end)) if fetch.offset >= end => Some(at),
            _ => None,
        };
        copy.caught_up_ms = copy.caught_up_ms.max(had_everything_at);
        copy.last_fetch = Some((now_ms, leader_end));
        copy.log_end = Some(fetch.offset);
        copy.log_start = Some(fetch.log_start).filter(|start| *start >= 0);
        copy.broker_epoch = fetch.broker_epoch;
        true
    }

    /// Up to where everybody who counts has everything; `None` while too few are in sync to commit anything.
    pub fn high_watermark(&self, at: &Moment<'_>) -> Option<i64> {
        if !self.leading || !self.has_min_isr(at.min_isr) {
            return None;
        }
        let counts = |id: i32, copy: &Copy| {
            // Who is about to join is waited for, lest it never catches up with a busy leader.
            self.may_be_in_sync(id)
                || (copy.is_caught_up(at.leader_end, at.now_ms, at.lag_ms) && is_eligible(id, copy, at.live))
        };
        let ends = self.copies.iter().filter(|(id, copy)| counts(**id, copy));
        Some(ends.map(|(_, copy)| copy.log_end.unwrap_or(-1)).fold(at.leader_end, i64::min))
    }

    /// A follower that has everything joins the ISR.
    pub fn expand(&mut self, broker: i32, high_watermark: i64, at: &Moment<'_>) -> Option<Change> {
        let copy = self.copies.get(&broker)?;
        let end = copy.log_end?;
        let in_sync = end >= high_watermark && end >= self.epoch_start;
        if self.pending.is_some()
            || self.isr().contains(&broker)
            || !in_sync
            || !is_eligible(broker, copy, at.live)
        {
            return None;
        }
        let mut isr = self.isr().to_vec();
        isr.push(broker);
        Some(self.propose(isr))
    }

    /// Followers that have lagged too long leave it.
    pub fn shrink(&mut self, at: &Moment<'_>) -> Option<Change> {
        if !self.leading || self.pending.is_some() {
            return None;
        }
        let stays = |id: &i32| {
            let copy = self.copies.get(id);
            copy.is_none_or(|copy| copy.is_caught_up(at.leader_end, at.now_ms, at.lag_ms))
        };
        let isr: Vec<i32> = self.isr().iter().copied().filter(stays).collect();
        (isr.len() < self.isr().len()).then(|| self.propose(isr))
    }

    fn propose(&mut self, isr: Vec<i32>) -> Change {
        self.pending = Some(isr.clone());
        self.again(isr)
    }

    fn again(&self, isr: Vec<i32>) -> Change {
        let Assignment { leader_epoch, partition_epoch, .. } = self.assignment;
        Change { isr, leader_epoch, partition_epoch }
    }

    /// True while the answer to this change is awaited.
    fn awaits(&self, change: &Change) -> bool {
        self.pending.as_ref() == Some(&change.isr)
            && change.leader_epoch == self.assignment.leader_epoch
            && change.partition_epoch == self.assignment.partition_epoch
    }

    /// The controller has made the change, or has another state by now. False if it is old news.
    pub fn accepted(
        &mut self,
        change: &Change,
        isr: Vec<i32>,
        leader_epoch: i32,
        partition_epoch: i32,
    ) -> bool {
        let known = &mut self.assignment;
        if !self.leading
            || change.leader_epoch != known.leader_epoch
            || leader_epoch != known.leader_epoch
            || partition_epoch < known.partition_epoch
        {
            return false;
        }
        known.isr = isr;
        known.partition_epoch = partition_epoch;
        self.pending = None;
        true
    }

    /// The controller does not make the change: with `forget` another may be asked for, without it the metadata will
    /// say how things stand.
    pub fn refused(&mut self, change: &Change, forget: bool) {
        if forget && self.awaits(change) {
            self.pending = None;
        }
    }

    /// The change is to be asked for once more, unless it has been overtaken.
    pub fn retry(&self, change: &Change) -> Option<Change> {
        self.awaits(change).then(|| change.clone())
    }

    /// The broker epochs to go with an ISR: what each fetched with, else what is known of it.
    pub fn with_epochs(&self, isr: &[i32], live: &Live) -> Vec<(i32, i64)> {
        let epoch = |id: &i32| {
            let fetched_with = self.copies.get(id).map(|copy| copy.broker_epoch).filter(|epoch| *epoch >= 0);
            fetched_with.or_else(|| live.get(id).copied()).unwrap_or(-1)
        };
        isr.iter().map(|id| (*id, epoch(id))).collect()
    }

    /// The lowest first offset of the leader and of all followers that live.
    pub fn low_watermark(&self, leader_start: i64, live: &Live) -> i64 {
        let starts = self.copies.iter().filter(|(id, _)| live.contains_key(id));
        starts.map(|(_, copy)| copy.log_start.unwrap_or(-1)).fold(leader_start, i64::min)
    }

    /// Bytes up to `end` were appended.
    pub fn hold(&mut self, end: i64, bytes: i64) {
        let full = self.held.len() >= MOST_HELD;
        match self.held.back_mut().filter(|_| full) {
            Some((last, held)) => {
                *last = end;
                *held = held.saturating_add(bytes);
            }
            None => self.held.push_back((end, bytes)),
        }
    }

    /// Bytes that became readable with a high watermark.
    pub fn release(&mut self, high_watermark: i64) -> i64 {
        let mut bytes = 0_i64;
        while let Some((_, held)) = self.held.front().copied().filter(|(end, _)| *end <= high_watermark) {
            bytes = bytes.saturating_add(held);
            self.held.pop_front();
        }
        bytes
    }
}

/// May it be in the ISR: it lives, and it is the process that fetched.
fn is_eligible(id: i32, copy: &Copy, live: &Live) -> bool {
    live.get(&id).is_some_and(|epoch| copy.broker_epoch < 0 || copy.broker_epoch == *epoch)
}

#[cfg(test)]
mod in_sync_test;
