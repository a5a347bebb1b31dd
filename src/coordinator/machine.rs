//! What a replicated state machine is: the group coordinator, the transaction coordinator, the controller.
//!
//! The runner's single rule: `step` → append the records as one atomic batch → `apply` them → park the replies
//! at the last offset → release them when that offset is committed. A reply without records parks, too: it may
//! speak of records that are not committed yet. A failed append drops the machine; it is loaded again through
//! the same `apply`.

use std::fmt;

use crate::clock::Now;

/// A replicated state machine. Pure: no clock, no IO, no randomness, no async; its maps iterate in a fixed order.
pub trait Machine: Sized + 'static {
    /// Durable truth: changed only by [`Machine::apply`].
    type Hard: Default + Send;
    /// Who waits, which timers are armed, what is under way: lost on fail-over, rebuilt by [`Machine::loaded`].
    type Soft: Default + Send;
    /// What it may look at besides: settings, the topic image. Immutable.
    type View: Send + Sync;
    /// What may happen: requests, timers that fire, results of effects. Random ids ride in it.
    type Event;
    /// What goes to the log.
    type Record: Send;
    /// An answer to an event that asked.
    type Response: Send;
    /// Work for the runner that is no record: costly pure work on another thread, calls to other rooms.
    type Effect: Send;
    /// Names a timer. Arming a name again replaces its deadline.
    type TimerKey: Ord + Clone + Send;

    /// Decides what an event means. Durable truth is not changed here: the records in `out` will do that.
    fn step(
        hard: &Self::Hard,
        soft: &mut Self::Soft,
        view: &Self::View,
        now: Now,
        event: Self::Event,
        out: &mut Output<Self>,
    );

    /// Takes a record into durable truth: the same call live and at replay.
    fn apply(hard: &mut Self::Hard, record: Self::Record);

    /// Rebuilds what is not durable, after the log has been replayed.
    fn loaded(hard: &Self::Hard, view: &Self::View, now: Now, out: &mut Output<Self>) -> Self::Soft;

    /// The event that a timer's deadline is.
    fn fired(key: Self::TimerKey) -> Self::Event;
}

/// Who asked: drawn by the runner, opaque to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplyId(pub u64);

/// A change to the set of armed timers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimerChange<K> {
    /// Fires when the monotonic clock shows `at_ms`; replaces an earlier deadline of the same key.
    Arm {
        /// Which timer.
        key: K,
        /// Monotonic milliseconds.
        at_ms: u64,
    },
    /// Does not fire any more; no harm if it was not armed.
    Cancel {
        /// Which timer.
        key: K,
    },
}

/// What a step decided. The runner keeps one and clears it, so that a step without records allocates nothing.
pub struct Output<M: Machine> {
    /// Appended as one atomic batch, in this order.
    pub records: Vec<M::Record>,
    /// Answers, also to events of the past.
    pub replies: Vec<(ReplyId, M::Response)>,
    /// Timers to arm or cancel, in this order.
    pub timers: Vec<TimerChange<M::TimerKey>>,
    /// Work to start once the records are committed.
    pub effects: Vec<M::Effect>,
    /// The records belong to an open transaction: id and epoch of its producer.
    pub producer: Option<(i64, i16)>,
}

impl<M: Machine> Output<M> {
    /// Nothing decided.
    pub fn new() -> Output<M> {
        Output {
            records: Vec::new(),
            replies: Vec::new(),
            timers: Vec::new(),
            effects: Vec::new(),
            producer: None,
        }
    }

    /// One more record for the batch.
    pub fn record(&mut self, record: M::Record) {
        self.records.push(record);
    }

    /// Answers an event.
    pub fn reply(&mut self, to: ReplyId, response: M::Response) {
        self.replies.push((to, response));
    }

    /// Arms a timer at a monotonic time.
    pub fn arm(&mut self, key: M::TimerKey, at_ms: u64) {
        self.timers.push(TimerChange::Arm { key, at_ms });
    }

    /// Cancels a timer.
    pub fn cancel(&mut self, key: M::TimerKey) {
        self.timers.push(TimerChange::Cancel { key });
    }

    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.replies.clear();
        self.timers.clear();
        self.effects.clear();
        self.producer = None;
    }
}

impl<M: Machine> Default for Output<M> {
    fn default() -> Output<M> {
        Output::new()
    }
}

impl<M: Machine> fmt::Debug for Output<M>
where
    M::Record: fmt::Debug,
    M::Response: fmt::Debug,
    M::TimerKey: fmt::Debug,
    M::Effect: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("records", &self.records)
            .field("replies", &self.replies)
            .field("timers", &self.timers)
            .field("effects", &self.effects)
            .finish()
    }
}
