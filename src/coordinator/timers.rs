//! Timers as data: keys and deadlines, in the order in which they fire.

use std::collections::{BTreeMap, BTreeSet};

use super::machine::TimerChange;

/// The armed timers of one shard.
#[derive(Debug)]
pub struct Timers<K> {
    deadlines: BTreeMap<K, u64>,
    queue: BTreeSet<(u64, K)>,
}

impl<K: Ord + Clone> Default for Timers<K> {
    fn default() -> Timers<K> {
        Timers { deadlines: BTreeMap::new(), queue: BTreeSet::new() }
    }
}

impl<K: Ord + Clone> Timers<K> {
    /// Arms or cancels.
    pub fn change(&mut self, change: TimerChange<K>) {
        match change {
            TimerChange::Arm { key, at_ms } => {
                if let Some(earlier) = self.deadlines.insert(key.clone(), at_ms) {
                    self.queue.remove(&(earlier, key.clone()));
                }
                self.queue.insert((at_ms, key));
            }
            TimerChange::Cancel { key } => {
                if let Some(at_ms) = self.deadlines.remove(&key) {
                    self.queue.remove(&(at_ms, key));
                }
            }
        }
    }

    /// When the next one fires, in monotonic milliseconds.
    pub fn next_ms(&self) -> Option<u64> {
        self.queue.first().map(|(at_ms, _)| *at_ms)
    }

    /// Takes a timer that is due.
    pub fn pop_due(&mut self, now_ms: u64) -> Option<K> {
        if self.next_ms()? > now_ms {
            return None;
        }
        let (_, key) = self.queue.pop_first()?;
        self.deadlines.remove(&key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_deadline() {
        let mut timers = Timers::default();
        timers.change(TimerChange::Arm { key: "a", at_ms: 5 });
        timers.change(TimerChange::Arm { key: "b", at_ms: 3 });
        timers.change(TimerChange::Arm { key: "a", at_ms: 2 });
        timers.change(TimerChange::Cancel { key: "b" });
        timers.change(TimerChange::Cancel { key: "never armed" });
        assert_eq!(timers.next_ms(), Some(2));
        assert_eq!(timers.pop_due(1), None);
        assert_eq!(timers.pop_due(2), Some("a"));
        assert_eq!(timers.pop_due(u64::MAX), None);
    }
}
