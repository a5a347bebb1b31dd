//! Which transactions a walk over the log is in, and how they will end.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use barnabas_protocol::batch::{BatchView, Caps, ControlType, Fault, Scratch};

use crate::storage::AbortedTransaction;

/// What a walk in the order of offsets knows of transactions.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    /// Aborted ones that have not begun yet, by first offset.
    ahead: BinaryHeap<Reverse<(i64, i64, i64, i64)>>,
    /// Aborted ones that have begun, by producer, and whether a batch of them was met.
    aborted: HashMap<i64, (AbortedTransaction, bool)>,
    /// Producers whose transaction has begun and will be committed.
    committed: HashSet<i64>,
}

/// What a control batch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A transaction of which batches are left: the marker is needed.
    Needed(Option<AbortedTransaction>),
    /// A transaction of which nothing is left.
    Empty,
}

impl Transactions {
    /// Tells of aborted transactions that touch what is walked next. Being told twice does no harm.
    pub(super) fn expect(&mut self, aborted: &[AbortedTransaction]) {
        self.ahead.extend(aborted.iter().map(|aborted| {
            Reverse((
                aborted.first_offset,
                aborted.producer_id,
                aborted.last_offset,
                aborted.last_stable_offset,
            ))
        }));
    }

    fn begin_up_to(&mut self, offset: i64) {
        while let Some(Reverse((first_offset, producer_id, last_offset, last_stable_offset))) =
            self.ahead.peek().copied().filter(|Reverse((first, ..))| *first <= offset)
        {
            self.ahead.pop();
            let aborted = AbortedTransaction { producer_id, first_offset, last_offset, last_stable_offset };
            self.aborted.entry(producer_id).or_insert((aborted, false));
        }
    }

    /// A batch of data: does it belong to an aborted transaction?
    pub(super) fn data(&mut self, batch: &BatchView<'_>) -> bool {
        let header = batch.header();
        self.begin_up_to(header.last_offset());
        if !header.attributes.transactional() {
            return false;
        }
        match self.aborted.get_mut(&header.producer_id) {
            Some((_, met)) => {
                *met = true;
                true
            }
            None => {
                self.committed.insert(header.producer_id);
                false
            }
        }
    }

    /// A control batch.
    pub(super) fn control(
        &mut self,
        batch: &BatchView<'_>,
        scratch: &mut Scratch,
        caps: Caps,
    ) -> Result<End, Fault> {
        let header = batch.header();
        self.begin_up_to(header.last_offset());
        // One that was emptied before says nothing any more.
        let Some(record) = batch.records(scratch, caps)?.next() else { return Ok(End::Empty) };
        Ok(match ControlType::of(&record?) {
            Some(ControlType::Abort) => match self.aborted.remove(&header.producer_id) {
                Some((aborted, true)) => End::Needed(Some(aborted)),
                _ => End::Empty,
            },
            Some(ControlType::Commit) => match self.committed.remove(&header.producer_id) {
                true => End::Needed(None),
                false => End::Empty,
            },
            _ => End::Needed(None),
        })
    }
}
