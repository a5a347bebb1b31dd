//! Which entry is where: openraft counts entries, Kafka counts records. An entry is one batch.

use std::collections::VecDeque;

use super::types::{LogId, log_id};

/// The entries of the log, in order.
#[derive(Debug, Default)]
pub struct Index {
    /// Of the first slot.
    first: u64,
    slots: VecDeque<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// First offset of its batch; the next entry's for the founding entry, which has none.
    base: i64,
    term: u64,
}

impl Index {
    /// Takes in the entry that follows; false if it does not follow.
    pub fn push(&mut self, id: &LogId, base: i64) -> bool {
        if self.slots.is_empty() {
            self.first = id.index();
        }
        let follows = self.next() == id.index();
        if follows {
            self.slots.push_back(Slot { base, term: id.committed_leader_id().term });
        }
        follows
    }

    /// The index that follows the last entry; of the first entry that was, if there is none.
    pub fn next(&self) -> u64 {
        self.first.saturating_add(u64::try_from(self.slots.len()).unwrap_or_default())
    }

    /// The first index that is here.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The last entry.
    pub fn last(&self) -> Option<LogId> {
        self.get(self.next().checked_sub(1)?).map(|(id, _)| id)
    }

    /// An entry, and the first offset of its batch.
    pub fn get(&self, index: u64) -> Option<(LogId, i64)> {
        let at = usize::try_from(index.checked_sub(self.first)?).ok()?;
        self.slots.get(at).map(|slot| (log_id(slot.term, index), slot.base))
    }

    /// The entry that ends at an offset, which is the first that is not in it.
    pub fn ending_at(&self, offset: i64, log_end: i64) -> Option<LogId> {
        let after = self.slots.partition_point(|slot| slot.base < offset);
        let ends = self.slots.get(after).map_or(log_end, |slot| slot.base);
        let index = self.first.saturating_add(u64::try_from(after).ok()?).checked_sub(1)?;
        self.get(index).filter(|_| ends == offset).map(|(id, _)| id)
    }

    /// Forgets entries from an index on; gives the offset at which the log then ends, if any were there.
    pub fn truncate(&mut self, from: u64) -> Option<i64> {
        let keep = usize::try_from(from.saturating_sub(self.first)).ok()?;
        let base = self.slots.get(keep)?.base;
        self.slots.truncate(keep);
        Some(base)
    }

    /// Forgets entries up to and with an index; gives the offset of the first that is left, if one is.
    pub fn purge(&mut self, upto: u64) -> Option<i64> {
        let gone = usize::try_from(upto.saturating_add(1).saturating_sub(self.first)).unwrap_or(usize::MAX);
        if gone > 0 {
            self.slots.drain(..gone.min(self.slots.len()));
            self.first = upto.saturating_add(1);
        }
        self.slots.front().map(|slot| slot.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Index {
        let mut index = Index::default();
        assert!(index.push(&log_id(0, 0), 0), "the founding entry has no batch");
        assert!(index.push(&log_id(1, 1), 0));
        assert!(index.push(&log_id(1, 2), 1));
        assert!(index.push(&log_id(2, 3), 5));
        index
    }

    #[test]
    fn entries_and_offsets() {
        let index = three();
        assert_eq!((index.last(), index.next()), (Some(log_id(2, 3)), 4));
        assert_eq!(index.get(2), Some((log_id(1, 2), 1)));
        assert_eq!(index.ending_at(5, 9), Some(log_id(1, 2)));
        assert_eq!(index.ending_at(9, 9), Some(log_id(2, 3)));
        assert_eq!(index.ending_at(4, 9), None, "in the middle of a batch");
        assert_eq!(index.ending_at(0, 9), None, "nothing ends before everything");
    }

    #[test]
    fn both_ends_can_go() {
        let mut index = three();
        assert!(!index.push(&log_id(2, 7), 9), "a gap");
        assert_eq!(index.truncate(4), None);
        assert_eq!(index.truncate(3), Some(5));
        assert_eq!(index.purge(1), Some(1));
        assert_eq!((index.first(), index.next()), (2, 3));
        assert_eq!(index.purge(20), None);
        assert_eq!(index.last(), None);
        assert!(index.push(&log_id(3, 21), 30));
    }
}
