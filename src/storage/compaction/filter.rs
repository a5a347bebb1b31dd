//! What becomes of one batch. Kafka's rules, in the order in which Kafka applies them.

use std::collections::HashMap;

use barnabas_protocol::batch::{
    Attributes, BatchBuilder, BatchView, BuildError, Caps, Codec, Fault, HEADER_BYTES, Header, NO_TIMESTAMP,
    Record, Scratch,
};
use thiserror::Error;

use super::key_map::{KeyHash, KeyMap};
use super::transactions::{End, Transactions};
use crate::storage::AbortedTransaction;
use crate::storage::producers::LastRecord;

/// What the filter decides by.
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) keys: KeyMap,
    /// When the cleaning began, ms.
    pub(super) now_ms: i64,
    /// `delete.retention.ms`.
    pub(super) delete_retention_ms: i64,
    /// What must stay for the sake of producers.
    pub(super) last_records: HashMap<i64, LastRecord>,
    /// The batch that ends here stays, if only as an empty one.
    pub(super) high_watermark: i64,
    pub(super) caps: Caps,
    /// Of the batch in hand: what stands for the keys, and which records stay.
    pub(super) hashes: Vec<Option<KeyHash>>,
    pub(super) stays: Vec<bool>,
}

/// What is left of a batch.
#[derive(Debug)]
pub(super) enum Left {
    Nothing,
    /// It stays as it is.
    Whole,
    /// It is replaced by these bytes.
    Rewritten(Vec<u8>),
}

/// A batch that cannot be read.
#[derive(Debug, Error)]
pub(super) enum FilterError {
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl Filter {
    /// Decides on a batch; also gives the aborted transaction whose marker it is, if that is needed still.
    pub(super) fn pass(
        &mut self,
        batch: &BatchView<'_>,
        transactions: &mut Transactions,
        scratch: &mut Scratch,
    ) -> Result<(Left, Option<AbortedTransaction>), FilterError> {
        let header = batch.header();
        let control = header.attributes.control();
        let mut ended = None;
        // Aborted data, or the marker of a transaction that has no data left.
        let pointless = if control {
            match transactions.control(batch, scratch, self.caps)? {
                End::Empty => true,
                End::Needed(aborted) => {
                    ended = aborted;
                    false
                }
            }
        } else {
            transactions.data(batch)
        };
        let horizon = horizon(header);
        let discard = pointless && (!control || horizon.is_some_and(|horizon| horizon <= self.now_ms));
        let keep_empty = self.keep_empty(header);
        if discard && !keep_empty {
            return Ok((Left::Nothing, ended));
        }
        let records = match batch.records(scratch, self.caps) {
            // More than is held in memory: its keys are unknown, it stays as it is.
            Err(Fault::Bomb(_)) => return Ok((Left::Whole, ended)),
            records => records?,
        };
        if !control && !discard {
            self.hash_keys(records.clone())?;
        }
        self.stays.clear();
        let (mut kept, mut tombstones) = (0_usize, false);
        for (nth, record) in records.clone().enumerate() {
            let record = record?;
            let hash = self.hashes.get(nth).copied().flatten();
            let stays = !discard && (control || self.keeps(header, &record, hash, horizon));
            self.stays.push(stays);
            if stays {
                tombstones |= record.value.is_none();
                kept = kept.saturating_add(1);
            }
        }
        let whole = kept == self.stays.len();
        if kept == 0 {
            let left = if keep_empty { Left::Rewritten(empty(header)) } else { Left::Nothing };
            return Ok((left, ended));
        }
        let set_horizon = horizon.is_none() && (tombstones || (control && pointless));
        if whole && !set_horizon {
            return Ok((Left::Whole, ended));
        }
        let mut builder = BatchBuilder::like(header);
        if set_horizon {
            builder = builder.delete_horizon(self.now_ms.saturating_add(self.delete_retention_ms));
        }
        let records = records.filter_map(Result::ok).zip(&self.stays).filter(|(_, stays)| **stays);
        records.for_each(|(record, _)| builder.keep(header, &record));
        Ok((Left::Rewritten(builder.finish()?), ended))
    }

    /// What stands for the keys of a batch's records, and their places within reach.
    pub(super) fn hash_keys<'a>(
        &mut self,
        records: impl Iterator<Item = Result<Record<'a>, Fault>>,
    ) -> Result<(), FilterError> {
        self.hashes.clear();
        for record in records {
            self.hashes.push(record?.key.map(|key| self.keys.hash(key)));
        }
        self.keys.approach(self.hashes.iter().flatten().copied());
        Ok(())
    }

    fn keeps(
        &self,
        header: &Header,
        record: &Record<'_>,
        hash: Option<KeyHash>,
        horizon: Option<i64>,
    ) -> bool {
        let offset = record.offset(header.base_offset);
        if offset > self.keys.latest() {
            return true;
        }
        // Without a key it can never be asked for.
        let Some(hash) = hash else { return false };
        let tombstone_due = || horizon.is_some_and(|horizon| self.now_ms >= horizon);
        offset >= self.keys.get(hash) && (record.value.is_some() || !tombstone_due())
    }

    /// The last batch of a producer says what its next sequence is and which epoch it has.
    fn keep_empty(&self, header: &Header) -> bool {
        let last = header.producer().and_then(|producer| self.last_records.get(&producer.id));
        let of_producer = last.is_some_and(|last| match last.data_offset {
            Some(offset) => header.last_offset() == offset,
            None => header.attributes.control() && header.producer_epoch == last.epoch,
        });
        of_producer || header.next_offset() == self.high_watermark
    }
}

/// When tombstones and markers in it may go, ms.
fn horizon(header: &Header) -> Option<i64> {
    header.attributes.delete_horizon().then_some(header.base_timestamp)
}

/// A batch without records: what it says of offsets, producer and epoch stays.
fn empty(header: &Header) -> Vec<u8> {
    let attributes = Attributes(0)
        .with_codec(Codec::None)
        .with_append_time(header.attributes.append_time())
        .with_transactional(header.attributes.transactional())
        .with_control(header.attributes.control());
    let mut empty = Header {
        length: i32::try_from(HEADER_BYTES - barnabas_protocol::batch::OVERHEAD_BYTES).unwrap_or_default(),
        attributes,
        base_timestamp: NO_TIMESTAMP,
        record_count: 0,
        ..*header
    };
    empty.crc = crc32c::crc32c(empty.to_bytes().get(CRC_FROM..).unwrap_or_default());
    empty.to_bytes().to_vec()
}

/// The checksum covers everything from the attributes on.
const CRC_FROM: usize = 21;
