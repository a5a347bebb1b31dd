//! A shard: one machine and the partition that holds its records, under the runner's single rule.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use thiserror::Error;
use tokio::sync::oneshot;

use crate::clock::Now;

use super::log::{LogFault, Marker, ShardLog};
use super::machine::{Output, ReplyId};
use super::records::{Stored, encode_batch};
use super::timers::Timers;

/// Why a shard cannot answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unavailable {
    /// This broker does not run the shard.
    #[error("another broker coordinates this")]
    NotHere,
    /// Its log is being read.
    #[error("the coordinator is loading")]
    Loading,
    /// A newer incarnation of the producer has written: nothing was changed.
    #[error("an older epoch of the producer")]
    ProducerFenced,
    /// The transaction ended before its records came: nothing was changed.
    #[error("the transaction has ended")]
    TransactionEnded,
    /// The answer was lost: the log did not take the records, or the broker stops.
    #[error("the coordinator is not available")]
    Lost,
}

/// What a machine answers, or why nobody does.
pub type Reply<T> = Result<T, Unavailable>;

/// An answer, now or later. What can be decided and committed at once needs neither a channel nor a task switch.
#[derive(Debug)]
pub enum Answer<T> {
    /// Here it is.
    Ready(Reply<T>),
    /// It comes. A sender that is gone means [`Unavailable::Lost`].
    Pending(oneshot::Receiver<Reply<T>>),
}

impl<T> Answer<T> {
    /// Waits for it.
    pub async fn wait(self) -> Reply<T> {
        match self {
            Answer::Ready(reply) => reply,
            Answer::Pending(receiver) => receiver.await.unwrap_or(Err(Unavailable::Lost)),
        }
    }
}

/// One machine and its log.
pub struct Shard<M: Stored> {
    hard: M::Hard,
    soft: M::Soft,
    timers: Timers<M::TimerKey>,
    log: Arc<dyn ShardLog>,
    out: Output<M>,
    waiting: HashMap<ReplyId, oneshot::Sender<Reply<M::Response>>>,
    /// Answers that speak of records which are not committed yet, by the offset they wait for.
    parked: VecDeque<(i64, ReplyId, M::Response)>,
    /// Work whose records are not committed yet, by the offset it waits for.
    parked_effects: VecDeque<(i64, M::Effect)>,
    /// Work that can start.
    due: Vec<M::Effect>,
    /// Somebody watches for this offset to be committed.
    watched: Option<i64>,
    last_offset: i64,
    last_reply: u64,
}

impl<M: Stored> Shard<M> {
    /// A shard whose records have been replayed into `hard`.
    pub fn loaded(
        hard: M::Hard,
        view: &M::View,
        now: Now,
        log: Arc<dyn ShardLog>,
    ) -> Result<Shard<M>, LogFault> {
        let mut out = Output::new();
        let soft = M::loaded(&hard, view, now, &mut out);
        let mut shard = Shard {
            hard,
            soft,
            timers: Timers::default(),
            last_offset: log.end() - 1,
            log,
            out,
            waiting: HashMap::new(),
            parked: VecDeque::new(),
            parked_effects: VecDeque::new(),
            due: Vec::new(),
            watched: None,
            last_reply: 0,
        };
        shard.settle(view, now, None)?;
        Ok(shard)
    }

    /// Lets something happen that nobody waits for.
    pub fn tell(&mut self, view: &M::View, now: Now, event: M::Event) -> Result<(), LogFault> {
        M::step(&self.hard, &mut self.soft, view, now, event, &mut self.out);
        self.settle(view, now, None).map(|_| ())
    }

    /// Asks. An error means that the shard is not to be used any more.
    pub fn ask(
        &mut self,
        view: &M::View,
        now: Now,
        event: impl FnOnce(ReplyId) -> M::Event,
    ) -> Result<Answer<M::Response>, LogFault> {
        self.last_reply += 1;
        let id = ReplyId(self.last_reply);
        M::step(&self.hard, &mut self.soft, view, now, event(id), &mut self.out);
        if let Some(response) = self.settle(view, now, Some(id))? {
            return Ok(Answer::Ready(Ok(response)));
        }
        let (sender, receiver) = oneshot::channel();
        self.waiting.insert(id, sender);
        Ok(Answer::Pending(receiver))
    }

    /// Fires the timers that are due.
    pub fn fire(&mut self, view: &M::View, now: Now) -> Result<(), LogFault> {
        while let Some(key) = self.timers.pop_due(now.mono_ms) {
            self.tell(view, now, M::fired(key))?;
        }
        Ok(())
    }

    /// When the next timer fires.
    pub fn next_ms(&self) -> Option<u64> {
        self.timers.next_ms()
    }

    /// The offset that the first parked answer waits for, if nobody watches for that yet.
    pub fn unwatched(&mut self) -> Option<i64> {
        let reply = self.parked.front().map(|(offset, ..)| *offset);
        let effect = self.parked_effects.front().map(|(offset, _)| *offset);
        let offset = reply.into_iter().chain(effect).min()?;
        let watch = self.watched.is_none_or(|watched| watched < offset);
        watch.then(|| *self.watched.insert(offset))
    }

    /// Its log.
    pub fn log(&self) -> &Arc<dyn ShardLog> {
        &self.log
    }

    /// Work that can start now.
    pub fn take_effects(&mut self) -> Vec<M::Effect> {
        std::mem::take(&mut self.due)
    }

    /// Appends a transaction's end and takes it into the truth. Refused markers change nothing.
    pub fn marker(&mut self, marker: Marker) -> Result<Result<(), LogFault>, LogFault> {
        match self.log.append_marker(marker) {
            Ok(offset) => self.last_offset = offset,
            Err(refused @ (LogFault::ProducerFenced | LogFault::CoordinatorFenced)) => {
                return Ok(Err(refused));
            }
            Err(fault) => return Err(fault),
        }
        if let Some(record) = M::marker(marker.producer_id, marker.commit) {
            M::apply(&mut self.hard, record);
        }
        Ok(Ok(()))
    }

    /// Sends the answers whose offset is committed by now, and lets work begin that waited for it.
    pub fn release(&mut self) {
        let committed = self.log.committed();
        while self.parked_effects.front().is_some_and(|(offset, _)| *offset < committed) {
            self.due.extend(self.parked_effects.pop_front().map(|(_, effect)| effect));
        }
        while self.parked.front().is_some_and(|(offset, ..)| *offset < committed) {
            if let Some((_, to, response)) = self.parked.pop_front() {
                self.send(to, response);
            }
        }
    }

    /// Append, apply, arm, answer: what a step decided becomes true. Returns the answer to `asked` if it is here
    /// already.
    fn settle(
        &mut self,
        view: &M::View,
        now: Now,
        asked: Option<ReplyId>,
    ) -> Result<Option<M::Response>, LogFault> {
        if !self.out.records.is_empty() {
            let batch = encode_batch::<M>(&self.out.records, self.out.producer, view, now.wall_ms)
                .map_err(|error| LogFault::Failed(error.to_string()))?;
            self.last_offset = self.log.append(batch)?;
            for record in self.out.records.drain(..) {
                M::apply(&mut self.hard, record);
            }
        }
        for change in self.out.timers.drain(..) {
            self.timers.change(change);
        }
        let mut mine = None;
        let quiet = self.out.replies.is_empty() && self.out.effects.is_empty();
        let committed = !quiet && self.parked.is_empty() && self.log.committed() > self.last_offset;
        for effect in self.out.effects.drain(..) {
            if committed {
                self.due.push(effect);
            } else {
                self.parked_effects.push_back((self.last_offset, effect));
            }
        }
        if !self.out.replies.is_empty() {
            let mut replies = std::mem::take(&mut self.out.replies);
            for (to, response) in replies.drain(..) {
                if !committed {
                    self.parked.push_back((self.last_offset, to, response));
                } else if asked == Some(to) {
                    mine = Some(response);
                } else {
                    self.send(to, response);
                }
            }
            self.out.replies = replies;
        }
        self.out.clear();
        Ok(mine)
    }

    fn send(&mut self, to: ReplyId, response: M::Response) {
        if let Some(sender) = self.waiting.remove(&to) {
            // Nobody listens on a connection that is closed.
            let _ = sender.send(Ok(response));
        }
    }
}

impl<M: Stored> Drop for Shard<M> {
    fn drop(&mut self) {
        for (_, sender) in self.waiting.drain() {
            let _ = sender.send(Err(Unavailable::NotHere));
        }
    }
}

#[cfg(test)]
#[path = "shard_test.rs"]
mod shard_test;
