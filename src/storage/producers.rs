//! What the idempotent producers have written, so that nothing is written twice, and which transactions are open.

mod entry;
mod guard;
pub(super) mod snapshot;

use entry::Passing;
pub(super) use entry::{BatchRef, Entry, LastRecord};
pub(super) use guard::Guards;
pub(super) use snapshot::{decode, file_name, parse_file_name, write};

use std::collections::{BTreeMap, HashMap};

use barnabas_protocol::batch::{Header, Origin, Producer};

use super::{AbortedTransaction, AppendError, ProducerInfo, ProducerMark};

/// What the producers of one log have written, up to some offset.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Producers {
    by_id: BTreeMap<i64, Entry>,
    /// Open transactions: first offset → producer.
    open: BTreeMap<i64, i64>,
}

/// The end of a transaction, as a control record says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) commit: bool,
    pub(super) coordinator_epoch: i32,
}

impl Producers {
    /// From what a snapshot holds.
    pub(super) fn from_entries(entries: impl IntoIterator<Item = (i64, Entry)>) -> Producers {
        let by_id: BTreeMap<i64, Entry> = entries.into_iter().collect();
        let open = by_id.iter().filter_map(|(id, entry)| Some((entry.open_since?, *id))).collect();
        Producers { by_id, open }
    }

    pub(super) fn entries(&self) -> impl ExactSizeIterator<Item = (i64, &Entry)> {
        self.by_id.iter().map(|(id, entry)| (*id, entry))
    }

    /// Where every producer's last record is.
    pub(super) fn last_records(&self) -> HashMap<i64, LastRecord> {
        let last = |entry: &Entry| LastRecord {
            data_offset: entry.last().map(|batch| batch.last_offset),
            epoch: entry.epoch,
        };
        self.by_id.iter().map(|(id, entry)| (*id, last(entry))).collect()
    }

    /// What is known of a producer, besides its sequences.
    pub(super) fn mark(&self, id: i64) -> ProducerMark {
        self.by_id.get(&id).map_or(ProducerMark::NONE, |entry| ProducerMark {
            epoch: entry.epoch,
            open: entry.open_since.is_some(),
            last_marker: entry.last_marker.0,
        })
    }

    /// Every producer, for those who look from outside.
    pub(super) fn infos(&self) -> Vec<ProducerInfo> {
        let info = |(id, entry): (i64, &Entry)| ProducerInfo {
            id,
            epoch: entry.epoch,
            last_sequence: entry.last_sequence(),
            last_timestamp: entry.last_timestamp,
            coordinator_epoch: entry.coordinator_epoch,
            open_since: entry.open_since,
        };
        self.entries().map(info).collect()
    }

    /// First offset of the oldest open transaction.
    pub(super) fn first_open(&self) -> Option<i64> {
        self.open.first_key_value().map(|(offset, _)| *offset)
    }

    /// May this batch be appended? `Some`: it is there already.
    pub(super) fn check(
        &self,
        producer: &Producer,
        transactional: bool,
        origin: Origin,
        guards: &Guards,
    ) -> Result<Option<BatchRef>, AppendError> {
        if origin == Origin::Replica {
            return Ok(None);
        }
        let entry = self.by_id.get(&producer.id);
        let out_of_order = || AppendError::OutOfOrderSequence {
            producer_id: producer.id,
            incoming: producer.first_sequence,
            last: entry.map_or(-1, Entry::last_sequence),
        };
        let guarded =
            || origin == Origin::Client && !guards.allow(producer, entry.is_some_and(Entry::has_batches));
        let Some(entry) = entry else {
            return if guarded() { Err(out_of_order()) } else { Ok(None) };
        };
        if origin == Origin::Client
            && let Some(known) = entry.duplicate(producer)
        {
            return Ok(Some(known));
        }
        if producer.epoch < entry.epoch {
            return Err(AppendError::InvalidProducerEpoch {
                producer_id: producer.id,
                incoming: producer.epoch,
                current: entry.epoch,
            });
        }
        if guarded() || (origin == Origin::Client && !entry.follows(producer)) {
            return Err(out_of_order());
        }
        if entry.open_since.is_some() && !transactional {
            let what = "a plain batch while a transaction is open";
            return Err(AppendError::InvalidTxnState { producer_id: producer.id, what });
        }
        Ok(None)
    }

    /// May this marker be appended?
    pub(super) fn check_marker(
        &self,
        producer: &Producer,
        marker: Marker,
        origin: Origin,
    ) -> Result<(), AppendError> {
        let Some(entry) = self.by_id.get(&producer.id).filter(|_| origin != Origin::Replica) else {
            return Ok(());
        };
        if producer.epoch < entry.epoch {
            return Err(AppendError::InvalidProducerEpoch {
                producer_id: producer.id,
                incoming: producer.epoch,
                current: entry.epoch,
            });
        }
        if marker.coordinator_epoch < entry.coordinator_epoch {
            return Err(AppendError::CoordinatorFenced {
                producer_id: producer.id,
                incoming: marker.coordinator_epoch,
                current: entry.coordinator_epoch,
            });
        }
        Ok(())
    }

    /// Notes a batch of data that is in the log.
    pub(super) fn apply(&mut self, header: &Header, producer: &Producer) {
        let entry = self.by_id.entry(producer.id).or_insert_with(|| Entry::new(producer.epoch));
        entry.set_epoch(producer.epoch);
        entry.add(BatchRef {
            last_sequence: producer.last_sequence,
            last_offset: header.last_offset(),
            offset_delta: header.last_offset_delta,
            timestamp: header.max_timestamp,
        });
        if header.attributes.transactional() && entry.open_since.is_none() {
            entry.open_since = Some(header.base_offset);
            self.open.insert(header.base_offset, producer.id);
        }
    }

    /// Notes a marker that is in the log; gives the transaction that it aborts.
    pub(super) fn apply_marker(
        &mut self,
        header: &Header,
        producer: &Producer,
        marker: Marker,
    ) -> Option<AbortedTransaction> {
        let entry = self.by_id.entry(producer.id).or_insert_with(|| Entry::new(producer.epoch));
        entry.set_epoch(producer.epoch);
        entry.coordinator_epoch = marker.coordinator_epoch;
        entry.last_timestamp = header.max_timestamp;
        entry.last_marker = Passing(header.last_offset());
        let first_offset = entry.open_since.take()?;
        self.open.remove(&first_offset);
        let last_offset = header.last_offset();
        let last_stable_offset = self.first_open().unwrap_or(last_offset.saturating_add(1));
        (!marker.commit).then_some(AbortedTransaction {
            producer_id: producer.id,
            first_offset,
            last_offset,
            last_stable_offset,
        })
    }

    /// Forgets who has been silent since before `oldest` (ms) and has no open transaction.
    pub(super) fn expire(&mut self, oldest: i64) {
        self.by_id.retain(|_, entry| entry.open_since.is_some() || entry.last_timestamp > oldest);
    }
}

#[cfg(test)]
mod producers_test;
