//! One producer.

use barnabas_protocol::batch::Producer;

/// How many of a producer's newest batches can be told from new ones.
const REMEMBERED: usize = 5;

/// A batch that a producer wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BatchRef {
    pub(crate) last_sequence: i32,
    pub(crate) last_offset: i64,
    /// Last offset, and last sequence, minus the first.
    pub(crate) offset_delta: i32,
    /// Its largest timestamp, ms.
    pub(crate) timestamp: i64,
}

impl BatchRef {
    fn first_sequence(&self) -> i32 {
        if self.last_sequence < 0 {
            return self.last_sequence;
        }
        // 0 follows i32::MAX.
        self.last_sequence.wrapping_sub(self.offset_delta) & i32::MAX
    }

    /// Offset of its first record.
    pub(crate) fn first_offset(&self) -> i64 {
        self.last_offset.saturating_sub(i64::from(self.offset_delta))
    }
}

/// What compaction must keep of a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastRecord {
    /// Offset of its newest record; `None` if its last batch was a marker of a new epoch.
    pub(crate) data_offset: Option<i64>,
    pub(crate) epoch: i16,
}

/// An offset that lives as long as the log is open and is no part of what a snapshot says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing(pub(super) i64);

impl PartialEq for Passing {
    fn eq(&self, _: &Passing) -> bool {
        true
    }
}

/// What is known of one producer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) epoch: i16,
    /// Of the coordinator that wrote its last marker; -1 if there was none.
    pub(crate) coordinator_epoch: i32,
    /// Of its last batch, ms; -1 if there was none.
    pub(crate) last_timestamp: i64,
    /// First offset of its open transaction.
    pub(crate) open_since: Option<i64>,
    /// Offset of its last marker, -1 if none was written since the log was opened.
    pub(super) last_marker: Passing,
    /// Its newest batches of this epoch, the oldest first.
    batches: [BatchRef; REMEMBERED],
    count: usize,
}

impl Entry {
    pub(crate) fn new(epoch: i16) -> Entry {
        Entry {
            epoch,
            coordinator_epoch: -1,
            last_timestamp: -1,
            open_since: None,
            last_marker: Passing(-1),
            batches: [BatchRef::default(); REMEMBERED],
            count: 0,
        }
    }

    /// Its newest batch.
    pub(crate) fn last(&self) -> Option<&BatchRef> {
        self.batches().last()
    }

    /// Sequence of its newest record, -1 if there is none.
    pub(crate) fn last_sequence(&self) -> i32 {
        self.last().map_or(-1, |batch| batch.last_sequence)
    }

    /// Does it remember any batch?
    pub(super) fn has_batches(&self) -> bool {
        self.count > 0
    }

    fn batches(&self) -> &[BatchRef] {
        self.batches.get(..self.count).unwrap_or_default()
    }

    /// The batch that has just these sequences.
    pub(super) fn duplicate(&self, producer: &Producer) -> Option<BatchRef> {
        let same = |batch: &&BatchRef| {
            batch.first_sequence() == producer.first_sequence && batch.last_sequence == producer.last_sequence
        };
        if producer.epoch != self.epoch {
            return None;
        }
        self.batches().iter().find(same).copied()
    }

    /// Is this batch the next in line? A new epoch starts at 0.
    pub(super) fn follows(&self, producer: &Producer) -> bool {
        if producer.epoch != self.epoch {
            return producer.first_sequence == 0;
        }
        let last = self.last_sequence();
        producer.first_sequence == last.wrapping_add(1) || (producer.first_sequence == 0 && last == i32::MAX)
    }

    pub(super) fn set_epoch(&mut self, epoch: i16) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.count = 0;
        }
    }

    pub(crate) fn add(&mut self, batch: BatchRef) {
        if self.count == REMEMBERED {
            self.batches.rotate_left(1);
            self.count -= 1;
        }
        if let Some(place) = self.batches.get_mut(self.count) {
            *place = batch;
            self.count += 1;
        }
        self.last_timestamp = batch.timestamp;
    }
}
