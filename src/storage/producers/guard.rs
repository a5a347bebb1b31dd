//! Producers whose transactions are about to begin in a log (KIP-890).

use std::collections::BTreeMap;

use barnabas_protocol::batch::Producer;

/// What a producer's first batch of a transaction must look like.
#[derive(Clone, Copy, Debug)]
struct Guard {
    epoch: i16,
    /// Of all batches that wanted to be the first: the others came early and must wait for it.
    lowest_sequence: i32,
    /// A producer of which the log knows nothing starts at 0.
    from_zero: bool,
    since_ms: i64,
}

/// From the question to the coordinator until a batch of the transaction, or its end, is in the log. Not durable.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    by_id: BTreeMap<i64, Guard>,
}

impl Guards {
    /// A batch wants to be the first of its transaction.
    pub(crate) fn note(&mut self, id: i64, epoch: i16, sequence: i32, from_zero: bool, now_ms: i64) {
        let new = Guard { epoch, lowest_sequence: sequence, from_zero, since_ms: now_ms };
        let guard = self.by_id.entry(id).or_insert(new);
        if epoch > guard.epoch {
            guard.epoch = epoch;
            guard.lowest_sequence = sequence;
        } else if epoch == guard.epoch {
            guard.lowest_sequence = guard.lowest_sequence.min(sequence);
        }
    }

    /// May this batch be the first? `known`: the log has batches of the producer.
    pub(super) fn allow(&self, producer: &Producer, known: bool) -> bool {
        self.by_id.get(&producer.id).is_none_or(|guard| {
            let lowest = if guard.from_zero && !known { 0 } else { guard.lowest_sequence };
            producer.first_sequence <= lowest
        })
    }

    /// The transaction is open in the log, or over.
    pub(crate) fn settle(&mut self, id: i64) {
        self.by_id.remove(&id);
    }

    /// Forgets who has asked before `oldest` (ms).
    pub(crate) fn expire(&mut self, oldest: i64) {
        self.by_id.retain(|_, guard| guard.since_ms > oldest);
    }
}
