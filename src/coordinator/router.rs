//! Which shard answers, and everything that runs shards: loading, timers, answers that wait for replicas.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;
use tracing::{error, info};

use crate::clock::Clock;
use crate::spawn::Spawner;
use crate::storage::ProducerMark;

use super::group::java_hash::partition_of;
use super::log::{LogFault, Marker, ShardLog};
use super::machine::{Machine, ReplyId};
use super::records::{Stored, replay};
use super::shard::{Answer, Shard, Unavailable};

/// Does the work that a machine of a partition asked for; what comes of it returns as an event.
pub type Performer<M> = Box<dyn Fn(&Arc<Router<M>>, i32, <M as Machine>::Effect) + Send + Sync>;

/// The shards of one internal topic that this broker runs.
pub struct Router<M: Stored> {
    /// For log lines: the topic's name.
    topic: &'static str,
    view: ArcSwap<M::View>,
    clock: Clock,
    spawner: Spawner,
    partitions: AtomicI32,
    slots: RwLock<BTreeMap<i32, Arc<Slot<M>>>>,
    alarm: Arc<Alarm>,
    perform: Performer<M>,
}

struct Slot<M: Stored> {
    partition: i32,
    log: Arc<dyn ShardLog>,
    state: Mutex<State<M>>,
    /// When its next timer fires.
    due_ms: AtomicU64,
}

enum State<M: Stored> {
    Loading,
    Active(Box<Shard<M>>),
    /// Resigned, or a panic left it: never used again.
    Gone,
}

/// Wakes the task that fires timers.
#[derive(Default)]
struct Alarm {
    until_ms: AtomicU64,
    earlier: Notify,
}

const NEVER: u64 = u64::MAX;

impl<M: Stored> Router<M> {
    /// No shards yet. Must be called inside the runtime: starts the task that fires timers.
    pub fn new(
        topic: &'static str,
        partitions: i32,
        view: M::View,
        clock: Clock,
        spawner: Spawner,
        perform: Performer<M>,
    ) -> Arc<Router<M>> {
        let alarm = Arc::new(Alarm { until_ms: AtomicU64::new(NEVER), earlier: Notify::new() });
        let router = Arc::new(Router {
            topic,
            view: ArcSwap::from_pointee(view),
            clock: clock.clone(),
            spawner,
            partitions: AtomicI32::new(partitions),
            slots: RwLock::default(),
            alarm: alarm.clone(),
            perform,
        });
        spawner.spawn(fire_timers(Arc::downgrade(&router), alarm, clock));
        router
    }

    /// What the machines look at from now on.
    pub fn set_view(&self, view: M::View) {
        self.view.store(Arc::new(view));
    }

    /// How many partitions the topic has, once it exists.
    pub fn set_partitions(&self, partitions: i32) {
        self.partitions.store(partitions, Ordering::Relaxed);
    }

    /// The partition that an id belongs to.
    pub fn partition_of(&self, id: &str) -> i32 {
        partition_of(id, self.partitions.load(Ordering::Relaxed))
    }

    /// This broker leads a partition from now on: its records are read, then its shard answers.
    pub fn lead(self: &Arc<Self>, partition: i32, log: Arc<dyn ShardLog>) {
        let slot = Arc::new(Slot {
            partition,
            log,
            state: Mutex::new(State::Loading),
            due_ms: AtomicU64::new(NEVER),
        });
        let before = self.slots.write().insert(partition, slot.clone());
        if let Some(before) = before {
            *before.state.lock() = State::Gone;
        }
        self.load(slot);
    }

    /// This broker does not lead the partition any more: who waits is told to look elsewhere.
    pub fn resign(&self, partition: i32) {
        let slot = self.slots.write().remove(&partition);
        if let Some(slot) = slot {
            *slot.state.lock() = State::Gone;
            info!(topic = self.topic, partition, "shard unloaded");
        }
    }

    /// The broker stops: every waiter is answered.
    pub fn resign_all(&self) {
        let slots = std::mem::take(&mut *self.slots.write());
        for slot in slots.into_values() {
            *slot.state.lock() = State::Gone;
        }
    }

    fn load(self: &Arc<Self>, slot: Arc<Slot<M>>) {
        let router = Arc::clone(self);
        // The task ends by itself; nobody waits for it.
        drop(self.spawner.blocking(move || {
            let began = router.clock.now();
            let mut hard = M::Hard::default();
            let view = router.view.load_full();
            let loaded = replay::<M>(&*slot.log, &mut hard).and_then(|records| {
                let shard = Shard::loaded(hard, &*view, router.clock.now(), slot.log.clone())?;
                Ok((records, shard))
            });
            let mut state = slot.state.lock();
            if !matches!(*state, State::Loading) {
                return;
            }
            match loaded {
                Ok((records, shard)) => {
                    *state = State::Active(Box::new(shard));
                    let took_ms = router.clock.now().mono_ms - began.mono_ms;
                    if records > 0 {
                        info!(topic = router.topic, partition = slot.partition, records, took_ms, "shard loaded");
                    }
                    let due = router.settled(&slot, &mut state);
                    drop(state);
                    router.perform(&slot, due);
                }
                Err(fault) => {
                    error!(topic = router.topic, partition = slot.partition, %fault, "shard cannot be loaded");
                    *state = State::Gone;
                }
            }
        }));
    }

    /// Asks the shard of a partition.
    pub fn ask(
        self: &Arc<Self>,
        partition: i32,
        event: impl FnOnce(ReplyId) -> M::Event,
    ) -> Answer<M::Response> {
        let slot = self.slots.read().get(&partition).cloned();
        match slot {
            Some(slot) => self.ask_slot(&slot, event),
            None => Answer::Ready(Err(Unavailable::NotHere)),
        }
    }

    /// Asks every shard of this broker.
    pub fn ask_all(self: &Arc<Self>, event: impl Fn(ReplyId) -> M::Event) -> Vec<Answer<M::Response>> {
        let slots: Vec<_> = self.slots.read().values().cloned().collect();
        slots.iter().map(|slot| self.ask_slot(slot, &event)).collect()
    }

    /// Tells every shard of this broker.
    pub fn tell_all(self: &Arc<Self>, event: impl Fn() -> M::Event) {
        let slots: Vec<_> = self.slots.read().values().cloned().collect();
        let now = self.clock.now();
        for slot in slots {
            // A shard that still loads will look for itself.
            let _ = self.with(&slot, |shard, view| shard.tell(view, now, event()));
        }
    }

    /// Tells the shard of a partition.
    pub fn tell(self: &Arc<Self>, partition: i32, event: M::Event) -> Result<(), Unavailable> {
        let slot = self.slots.read().get(&partition).cloned().ok_or(Unavailable::NotHere)?;
        let now = self.clock.now();
        self.with(&slot, |shard, view| shard.tell(view, now, event))
    }

    /// Writes the end of a transaction into a partition, through its shard, and takes it into the truth.
    pub fn marker(
        self: &Arc<Self>,
        partition: i32,
        marker: Marker,
    ) -> Result<Result<(), LogFault>, Unavailable> {
        let slot = self.slots.read().get(&partition).cloned().ok_or(Unavailable::NotHere)?;
        self.with(&slot, |shard, _| shard.marker(marker))
    }

    /// What the log of a partition knows of a producer.
    pub fn producer(&self, partition: i32, id: i64) -> Result<ProducerMark, Unavailable> {
        let slot = self.slots.read().get(&partition).cloned().ok_or(Unavailable::NotHere)?;
        Ok(slot.log.producer(id))
    }

    /// The epoch in which this broker leads a partition.
    pub fn leader_epoch(&self, partition: i32) -> Option<i32> {
        self.slots.read().get(&partition).map(|slot| slot.log.leader_epoch())
    }

    /// Asks the shard of a partition on behalf of a transaction. `known` is what the log knew of the producer when
    /// its transaction was found open: if it has ended since, nothing happens.
    pub fn ask_in_transaction(
        self: &Arc<Self>,
        partition: i32,
        producer: (i64, i16),
        known: ProducerMark,
        event: impl FnOnce(ReplyId) -> M::Event,
    ) -> Answer<M::Response> {
        let slot = self.slots.read().get(&partition).cloned();
        let Some(slot) = slot else { return Answer::Ready(Err(Unavailable::NotHere)) };
        let now = self.clock.now();
        let asked = self.with(&slot, |shard, view| {
            let (id, epoch) = producer;
            let there = shard.log().producer(id);
            if epoch < there.epoch {
                return Ok(Answer::Ready(Err(Unavailable::ProducerFenced)));
            }
            if there.last_marker != known.last_marker {
                return Ok(Answer::Ready(Err(Unavailable::TransactionEnded)));
            }
            shard.ask(view, now, event)
        });
        asked.unwrap_or_else(|unavailable| Answer::Ready(Err(unavailable)))
    }

    fn ask_slot(
        self: &Arc<Self>,
        slot: &Arc<Slot<M>>,
        event: impl FnOnce(ReplyId) -> M::Event,
    ) -> Answer<M::Response> {
        let now = self.clock.now();
        match self.with(slot, |shard, view| shard.ask(view, now, event)) {
            Ok(answer) => answer,
            Err(unavailable) => Answer::Ready(Err(unavailable)),
        }
    }

    /// Runs something in a shard, under its lock. A fault of the log drops the shard and loads it again; a panic
    /// leaves it gone, so that it cannot spread.
    fn with<T>(
        self: &Arc<Self>,
        slot: &Arc<Slot<M>>,
        run: impl FnOnce(&mut Shard<M>, &M::View) -> Result<T, LogFault>,
    ) -> Result<T, Unavailable> {
        let mut state = slot.state.lock();
        match std::mem::replace(&mut *state, State::Gone) {
            State::Active(mut shard) => match run(&mut shard, &self.view.load()) {
                Ok(result) => {
                    *state = State::Active(shard);
                    let due = self.settled(slot, &mut state);
                    drop(state);
                    self.perform(slot, due);
                    Ok(result)
                }
                Err(fault) => {
                    match fault {
                        // The topic was deleted, or another broker leads: this one will be told.
                        LogFault::NotLeader => {
                            info!(topic = self.topic, partition = slot.partition, %fault, "shard dropped");
                        }
                        _ => error!(topic = self.topic, partition = slot.partition, %fault, "shard dropped"),
                    }
                    *state = State::Loading;
                    drop(state);
                    drop(shard);
                    self.load(slot.clone());
                    Err(Unavailable::NotHere)
                }
            },
            State::Loading => {
                *state = State::Loading;
                Err(Unavailable::Loading)
            }
            State::Gone => Err(Unavailable::NotHere),
        }
    }

    /// Outside of the shard's lock.
    fn perform(self: &Arc<Self>, slot: &Slot<M>, due: Vec<M::Effect>) {
        for effect in due {
            (self.perform)(self, slot.partition, effect);
        }
    }

    /// After each step: sees to the next timer, and to answers that wait for replicas. Gives the work that is due.
    fn settled(self: &Arc<Self>, slot: &Arc<Slot<M>>, state: &mut State<M>) -> Vec<M::Effect> {
        let State::Active(shard) = state else { return Vec::new() };
        let due_ms = shard.next_ms().unwrap_or(NEVER);
        slot.due_ms.store(due_ms, Ordering::Release);
        if due_ms < self.alarm.until_ms.load(Ordering::Acquire) {
            self.alarm.earlier.notify_one();
        }
        if let Some(offset) = shard.unwatched() {
            let (router, slot, wait) =
                (Arc::clone(self), Arc::clone(slot), shard.log().wait_committed(offset));
            self.spawner.spawn(async move {
                wait.await;
                let _ = router.with(&slot, |shard, _| {
                    shard.release();
                    Ok(())
                });
            });
        }
        shard.take_effects()
    }

    fn fire_due(self: &Arc<Self>, now_ms: u64) -> u64 {
        let slots: Vec<_> = self.slots.read().values().cloned().collect();
        for slot in slots.iter().filter(|slot| slot.due_ms.load(Ordering::Acquire) <= now_ms) {
            let now = self.clock.now();
            if self.with(slot, |shard, view| shard.fire(view, now)).is_err() {
                slot.due_ms.store(NEVER, Ordering::Release);
            }
        }
        slots.iter().map(|slot| slot.due_ms.load(Ordering::Acquire)).min().unwrap_or(NEVER)
    }
}

/// Sleeps until the earliest deadline of all shards and fires what is due.
async fn fire_timers<M: Stored>(router: Weak<Router<M>>, alarm: Arc<Alarm>, clock: Clock) {
    loop {
        // Until the deadlines have been read, every new one counts as earlier.
        alarm.until_ms.store(NEVER, Ordering::Release);
        let Some(next_ms) = router.upgrade().map(|router| router.fire_due(clock.now().mono_ms)) else {
            return;
        };
        alarm.until_ms.store(next_ms, Ordering::Release);
        tokio::select! {
            biased;
            () = alarm.earlier.notified() => {}
            () = clock.sleep_until(next_ms) => {}
        }
    }
}
