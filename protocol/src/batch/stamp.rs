//! What the leader writes into a batch before it goes to the log, in place.

use super::header::{ATTRIBUTES_AT, CRC_AT, LEADER_EPOCH_AT, MAX_TIMESTAMP_AT};
use super::validate::ValidBatch;

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
        put(self.bytes, 0, header.base_offset.to_be_bytes());
        put(self.bytes, LEADER_EPOCH_AT, header.leader_epoch.to_be_bytes());

        let attributes = header.attributes.with_append_time(stamp.append_time.is_some());
        let max_timestamp = stamp.append_time.unwrap_or(self.facts.max_timestamp);
        self.facts.max_timestamp = max_timestamp;
        if attributes == header.attributes && max_timestamp == header.max_timestamp {
            return;
        }
        header.attributes = attributes.known();
        header.max_timestamp = max_timestamp;
        put(self.bytes, ATTRIBUTES_AT, header.attributes.0.to_be_bytes());
        put(self.bytes, MAX_TIMESTAMP_AT, max_timestamp.to_be_bytes());
        // The linear trick (crc32c_combine) costs more than reading up to 300 KB again.
        header.crc = crc32c::crc32c(self.bytes.get(ATTRIBUTES_AT..).unwrap_or_default());
        put(self.bytes, CRC_AT, header.crc.to_be_bytes());
    }
}

fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    if let Some(place) = bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = value;
    }
}
