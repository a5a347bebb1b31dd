//! What the leader writes into a batch before it goes to the log, in place.

use super::header::{ATTRIBUTES_AT, CRC_AT, HEADER_BYTES};
use super::validate::ValidBatch;

/// From here on the checksum is corrected by arithmetic instead of reading the batch again.
const RECOMPUTE_BELOW_BYTES: usize = 4096;

/// What the leader decides about a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Offset of its first record.
    pub base_offset: i64,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// The time of appending in ms where the topic says LogAppendTime; otherwise the records' times stay.
    pub append_time: Option<i64>,
}

impl ValidBatch<'_> {
    /// Patches base offset, leader epoch, and where they differ timestamp type, max timestamp and checksum.
    pub fn stamp(&mut self, stamp: &Stamp) {
        let header = &mut self.header;
        header.base_offset = stamp.base_offset;
        header.leader_epoch = stamp.leader_epoch;
        let attributes = header.attributes.with_append_time(stamp.append_time.is_some());
        let max_timestamp = stamp.append_time.unwrap_or(self.facts.max_timestamp);
        let retimed = attributes != header.attributes || max_timestamp != header.max_timestamp;
        if retimed {
            header.attributes = attributes.known();
            header.max_timestamp = max_timestamp;
        }
        self.facts.max_timestamp = max_timestamp;
        let mut bytes = header.to_bytes();
        if retimed {
            header.crc = corrected_crc(header.crc, self.bytes, &bytes);
            bytes = header.to_bytes();
        }
        if let Some(place) = self.bytes.first_chunk_mut::<HEADER_BYTES>() {
            *place = bytes;
        }
    }
}

/// The checksum of `batch` once its header is `header`; `crc` is that of the batch as it is.
fn corrected_crc(crc: u32, batch: &[u8], header: &[u8; HEADER_BYTES]) -> u32 {
    let covered = |header: &[u8]| crc32c::crc32c(header.get(ATTRIBUTES_AT..HEADER_BYTES).unwrap_or_default());
    let records = batch.get(HEADER_BYTES..).unwrap_or_default();
    if records.len() < RECOMPUTE_BELOW_BYTES {
        return crc32c::crc32c_append(covered(header), records);
    }
    // CRCs are linear: the difference that the header makes, moved behind the records, is the whole difference.
    crc32c::crc32c_combine(covered(batch) ^ covered(header), crc, records.len())
}

const _: () = assert!(CRC_AT + 4 == ATTRIBUTES_AT);
