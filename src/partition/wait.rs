//! Who waits for a partition: long polls for bytes, produces for their offset to be committed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// Something that waits for one or many partitions. It is told of every change it registered for and fires
/// once its condition may hold.
#[derive(Debug)]
pub struct Waiter {
    /// Bytes still missing until it is worth looking again.
    missing: AtomicI64,
    fired: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Waiter {
    /// Fires when `missing` bytes have been added.
    pub fn for_bytes(missing: i64) -> Arc<Waiter> {
        Arc::new(Waiter {
            missing: AtomicI64::new(missing),
            fired: AtomicBool::new(false),
            waker: Mutex::new(None),
        })
    }

    /// Bytes became readable.
    pub fn add(&self, bytes: i64) {
        if self.missing.fetch_sub(bytes, Ordering::AcqRel) <= bytes {
            self.fire();
        }
    }

    /// It is worth looking now.
    pub fn fire(&self) {
        if !self.fired.swap(true, Ordering::AcqRel)
            && let Some(waker) = self.waker.lock().take()
        {
            waker.wake();
        }
    }

    /// True once fired: it needs to be told nothing more.
    pub fn has_fired(&self) -> bool {
        self.fired.load(Ordering::Acquire)
    }

    /// Ready once fired.
    pub fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        if self.has_fired() {
            return Poll::Ready(());
        }
        *self.waker.lock() = Some(cx.waker().clone());
        // It may have fired between the look and the waker.
        if self.has_fired() { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Which bytes a reader waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sees {
    /// Everything that is committed.
    All,
    /// Nothing of open transactions, and nothing after them.
    Stable,
    /// Everything that is in the log: followers, who are also told when more is committed.
    Appended,
}

/// Who waits for one partition.
#[derive(Debug, Default)]
pub struct Waiters {
    readers: Mutex<Readers>,
    /// By the offset that must be below the high watermark.
    commits: Mutex<BTreeMap<i64, Vec<Arc<Waiter>>>>,
    /// Until every replica's log starts later.
    lows: Mutex<Vec<Arc<Waiter>>>,
}

#[derive(Debug, Default)]
struct Readers {
    waiting: Vec<(Arc<Waiter>, Sees)>,
    /// At this length those that have fired are swept out.
    sweep_at: usize,
}

/// Below this many waiters nothing is swept.
const SWEEP_FROM: usize = 16;

impl Waiters {
    /// Tells the waiter of every byte that becomes readable from now on. The caller looks once more after
    /// this, since bytes may have come just before.
    pub fn watch(&self, waiter: Arc<Waiter>, sees: Sees) {
        let mut readers = self.readers.lock();
        if readers.waiting.len() >= readers.sweep_at.max(SWEEP_FROM) {
            readers.waiting.retain(|(waiter, _)| !waiter.has_fired());
            readers.sweep_at = readers.waiting.len().saturating_mul(2);
        }
        readers.waiting.push((waiter, sees));
    }

    /// Bytes became readable, so many of them to those who see only what is stable.
    pub fn readable(&self, bytes: i64, stable_bytes: i64) {
        self.readers.lock().waiting.retain(|(waiter, sees)| {
            let bytes = match sees {
                Sees::All => bytes,
                Sees::Stable => stable_bytes,
                Sees::Appended => 0,
            };
            if bytes > 0 && !waiter.has_fired() {
                waiter.add(bytes);
            }
            !waiter.has_fired()
        });
    }

    /// Bytes were appended that are not committed yet, or more is committed than before.
    pub fn appended(&self, bytes: i64) {
        self.readers.lock().waiting.retain(|(waiter, sees)| {
            if *sees == Sees::Appended && !waiter.has_fired() {
                waiter.add(bytes);
            }
            !waiter.has_fired()
        });
    }

    /// Fires when the lowest first offset of the replicas has moved.
    pub fn watch_low_watermark(&self, waiter: Arc<Waiter>) {
        self.lows.lock().push(waiter);
    }

    /// The lowest first offset of the replicas has moved.
    pub fn low_watermark_moved(&self) {
        let lows = std::mem::take(&mut *self.lows.lock());
        lows.iter().for_each(|waiter| waiter.fire());
    }

    /// Fires when `offset` is committed.
    pub fn watch_commit(&self, offset: i64, waiter: Arc<Waiter>) {
        self.commits.lock().entry(offset).or_default().push(waiter);
    }

    /// The high watermark is now `high_watermark`.
    pub fn committed(&self, high_watermark: i64) {
        let mut commits = self.commits.lock();
        if commits.first_key_value().is_none_or(|(offset, _)| *offset >= high_watermark) {
            return;
        }
        let later = commits.split_off(&high_watermark);
        let done = std::mem::replace(&mut *commits, later);
        drop(commits);
        done.into_values().flatten().for_each(|waiter| waiter.fire());
    }

    /// The partition is not what it was (deleted, offline, another leader): everybody looks again.
    pub fn changed(&self) {
        let readers = std::mem::take(&mut self.readers.lock().waiting);
        let commits = std::mem::take(&mut *self.commits.lock());
        readers.iter().for_each(|(waiter, _)| waiter.fire());
        commits.values().flatten().for_each(|waiter| waiter.fire());
        self.low_watermark_moved();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_poll_fires_when_its_bytes_are_there_on_any_of_its_partitions() {
        let (first, second) = (Waiters::default(), Waiters::default());
        let waiter = Waiter::for_bytes(100);
        first.watch(waiter.clone(), Sees::All);
        second.watch(waiter.clone(), Sees::All);
        first.readable(60, 60);
        assert!(!waiter.has_fired());
        second.readable(40, 0);
        assert!(waiter.has_fired());
    }

    #[test]
    fn bytes_of_an_open_transaction_wake_nobody_who_may_not_see_them() {
        let waiters = Waiters::default();
        let waiter = Waiter::for_bytes(100);
        waiters.watch(waiter.clone(), Sees::Stable);
        waiters.readable(500, 0);
        assert!(!waiter.has_fired());
        waiters.readable(78, i64::MAX);
        assert!(waiter.has_fired());
    }

    #[test]
    fn a_produce_fires_when_its_offset_is_below_the_high_watermark() {
        let waiters = Waiters::default();
        let (early, late) = (Waiter::for_bytes(i64::MAX), Waiter::for_bytes(i64::MAX));
        waiters.watch_commit(9, early.clone());
        waiters.watch_commit(10, late.clone());
        waiters.committed(10);
        assert!(early.has_fired() && !late.has_fired());
        waiters.changed();
        assert!(late.has_fired());
    }

    #[test]
    fn those_who_left_do_not_pile_up() {
        let waiters = Waiters::default();
        for _ in 0..1000 {
            let waiter = Waiter::for_bytes(1);
            waiters.watch(waiter.clone(), Sees::All);
            waiter.fire();
        }
        assert!(waiters.readers.lock().waiting.len() <= SWEEP_FROM);
    }
}
