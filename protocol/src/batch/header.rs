//! The 61 bytes before the records of a v2 batch.
//!
//! ```text
//!  0 base offset      i64      outside the checksum, patched by the leader
//!  8 length           i32      bytes after this field
//! 12 leader epoch     i32      outside the checksum, patched by the leader
//! 16 magic            i8       2
//! 17 crc              u32      CRC32C of everything from 21 on
//! 21 attributes       i16      codec 0-2, timestamp type 3, transactional 4, control 5, delete horizon 6
//! 23 last offset delta i32
//! 27 base timestamp   i64      ms; the delete horizon if bit 6 is set
//! 35 max timestamp    i64      ms
//! 43 producer id      i64      -1: none
//! 51 producer epoch   i16
//! 53 base sequence    i32
//! 57 record count     i32
//! ```

use super::codec::Codec;
use super::cursor::Cursor;

/// Bytes of a v2 batch's header.
pub const HEADER_BYTES: usize = 61;
/// Bytes of base offset and length, which the length does not count.
pub const OVERHEAD_BYTES: usize = 12;
/// Bytes up to and with magic: what must be there to tell a batch's size and version.
pub const PREFIX_BYTES: usize = 17;
/// The magic of the batches that Kafka 4 takes.
pub const MAGIC: i8 = 2;
/// "No timestamp".
pub const NO_TIMESTAMP: i64 = -1;

pub(crate) const LEADER_EPOCH_AT: usize = 12;
pub(crate) const CRC_AT: usize = 17;
pub(crate) const ATTRIBUTES_AT: usize = 21;
pub(crate) const MAX_TIMESTAMP_AT: usize = 35;

/// A batch's header, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Offset of the first record.
    pub base_offset: i64,
    /// Bytes after the length field.
    pub length: i32,
    /// Epoch of the leader that appended it; -1 from clients.
    pub leader_epoch: i32,
    /// Format version.
    pub magic: i8,
    /// The stored checksum.
    pub crc: u32,
    /// Codec and flags.
    pub attributes: Attributes,
    /// Offset of the last record minus the base offset.
    pub last_offset_delta: i32,
    /// Records' timestamps are relative to it, ms.
    pub base_timestamp: i64,
    /// Largest timestamp, or the append time, ms.
    pub max_timestamp: i64,
    /// -1: not idempotent.
    pub producer_id: i64,
    /// -1 without a producer id.
    pub producer_epoch: i16,
    /// Sequence of the first record, -1 without.
    pub base_sequence: i32,
    /// Number of records; after compaction it may be less than the offsets.
    pub record_count: i32,
}

impl Header {
    /// Decodes the first 61 bytes, whatever they say; `None` if there are fewer.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Option<Header> {
        let mut at = Cursor(bytes.first_chunk::<HEADER_BYTES>()?);
        Some(Header {
            base_offset: at.i64()?,
            length: at.i32()?,
            leader_epoch: at.i32()?,
            magic: at.i8()?,
            crc: at.u32()?,
            attributes: Attributes(at.i16()?),
            last_offset_delta: at.i32()?,
            base_timestamp: at.i64()?,
            max_timestamp: at.i64()?,
            producer_id: at.i64()?,
            producer_epoch: at.i16()?,
            base_sequence: at.i32()?,
            record_count: at.i32()?,
        })
    }

    /// Encodes it as it is.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        let mut rest = out.as_mut_slice();
        let fields: [&[u8]; 13] = [
            &self.base_offset.to_be_bytes(),
            &self.length.to_be_bytes(),
            &self.leader_epoch.to_be_bytes(),
            &self.magic.to_be_bytes(),
            &self.crc.to_be_bytes(),
            &self.attributes.0.to_be_bytes(),
            &self.last_offset_delta.to_be_bytes(),
            &self.base_timestamp.to_be_bytes(),
            &self.max_timestamp.to_be_bytes(),
            &self.producer_id.to_be_bytes(),
            &self.producer_epoch.to_be_bytes(),
            &self.base_sequence.to_be_bytes(),
            &self.record_count.to_be_bytes(),
        ];
        for field in fields {
            if let Some((place, after)) = std::mem::take(&mut rest).split_at_mut_checked(field.len()) {
                place.copy_from_slice(field);
                rest = after;
            }
        }
        out
    }

    /// Bytes of the whole batch by its length field.
    pub fn total_bytes(&self) -> usize {
        usize::try_from(self.length).unwrap_or(0).saturating_add(OVERHEAD_BYTES)
    }

    /// Offset of the last record.
    pub fn last_offset(&self) -> i64 {
        self.base_offset.wrapping_add(i64::from(self.last_offset_delta))
    }

    /// Offset after the last record.
    pub fn next_offset(&self) -> i64 {
        self.last_offset().wrapping_add(1)
    }

    /// The timestamp in ms of a record of this batch, by its delta.
    #[inline]
    pub fn record_timestamp(&self, delta: i64) -> i64 {
        match self.attributes.append_time() {
            true => self.max_timestamp,
            false => self.base_timestamp.wrapping_add(delta),
        }
    }

    /// The idempotent producer, if it has one.
    pub fn producer(&self) -> Option<Producer> {
        (self.producer_id >= 0).then(|| Producer {
            id: self.producer_id,
            epoch: self.producer_epoch,
            first_sequence: self.base_sequence,
            last_sequence: sequence_plus(self.base_sequence, self.last_offset_delta),
        })
    }
}

/// Who wrote a batch, and which of its records it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Producer {
    /// Producer id, 0 and above.
    pub id: i64,
    /// Its epoch.
    pub epoch: i16,
    /// Sequence of the first record; -1 in control batches.
    pub first_sequence: i32,
    /// Sequence of the last record, wrapped after `i32::MAX`; -1 in control batches.
    pub last_sequence: i32,
}

/// `sequence + by`, where 0 follows `i32::MAX`. "No sequence" (-1) stays.
pub fn sequence_plus(sequence: i32, by: i32) -> i32 {
    if sequence < 0 { sequence } else { sequence.wrapping_add(by) & i32::MAX }
}

/// The 16 bits that say how a batch is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes(pub i16);

impl Attributes {
    const CODEC: i16 = 0b111;
    const APPEND_TIME: i16 = 1 << 3;
    const TRANSACTIONAL: i16 = 1 << 4;
    const CONTROL: i16 = 1 << 5;
    const DELETE_HORIZON: i16 = 1 << 6;

    /// The codec, or `None` for the numbers that mean nothing (5-7).
    pub fn codec(self) -> Option<Codec> {
        Codec::from_id(self.0 & Self::CODEC)
    }

    /// Timestamps are the broker's: every record has the batch's max timestamp.
    pub fn append_time(self) -> bool {
        self.0 & Self::APPEND_TIME != 0
    }

    /// Part of a transaction.
    pub fn transactional(self) -> bool {
        self.0 & Self::TRANSACTIONAL != 0
    }

    /// Its records are control records.
    pub fn control(self) -> bool {
        self.0 & Self::CONTROL != 0
    }

    /// The base timestamp is the time after which tombstones and markers may go.
    pub fn delete_horizon(self) -> bool {
        self.0 & Self::DELETE_HORIZON != 0
    }

    /// The same with another codec.
    #[must_use]
    pub fn with_codec(self, codec: Codec) -> Attributes {
        Attributes((self.0 & !Self::CODEC) | codec.id())
    }

    /// The same with the timestamp type set.
    #[must_use]
    pub fn with_append_time(self, on: bool) -> Attributes {
        self.with(Self::APPEND_TIME, on)
    }

    /// The same, in a transaction or not.
    #[must_use]
    pub fn with_transactional(self, on: bool) -> Attributes {
        self.with(Self::TRANSACTIONAL, on)
    }

    /// The same, control or not.
    #[must_use]
    pub fn with_control(self, on: bool) -> Attributes {
        self.with(Self::CONTROL, on)
    }

    /// The same, with or without a delete horizon.
    #[must_use]
    pub fn with_delete_horizon(self, on: bool) -> Attributes {
        self.with(Self::DELETE_HORIZON, on)
    }

    /// The same without bits that have no meaning.
    #[must_use]
    pub(crate) fn known(self) -> Attributes {
        Attributes(self.0 & 0x7f)
    }

    fn with(self, bit: i16, on: bool) -> Attributes {
        Attributes(if on { self.0 | bit } else { self.0 & !bit })
    }
}
