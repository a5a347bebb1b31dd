//! Making batches: for coordinators, the metadata log, compaction and tests.

use super::codec::Codec;
use super::header::{ATTRIBUTES_AT, Attributes, HEADER_BYTES, Header, MAGIC, NO_TIMESTAMP, OVERHEAD_BYTES};
use super::pack::Packer;
use super::records::Record;
use crate::varint;
use std::io::Write;
use thiserror::Error;

/// Why a batch could not be made.
#[derive(Debug, Error)]
pub enum BuildError {
    /// It has more bytes or records than its fields can count.
    #[error("a batch of more than 2 GiB")]
    TooLarge,
    /// The compressor refused, for example the level.
    #[error("the records cannot be compressed: {0}")]
    Compress(#[from] std::io::Error),
}

/// A header of a record to write; a value of `None` is null.
pub type NewHeader<'a> = (&'a str, Option<&'a [u8]>);

/// Collects records into one batch.
///
/// ```
/// # use barnabas_protocol::batch::*;
/// let mut batch = BatchBuilder::new().producer(7, 0, 12);
/// batch.append(1_000, Some(b"key"), Some(b"value"));
/// batch.append(1_001, None, None);
/// let bytes = batch.finish().unwrap();
/// assert_eq!(BatchView::first(&bytes).unwrap().unwrap().header().last_offset(), 1);
/// ```
#[derive(Debug)]
pub struct BatchBuilder {
    header: Header,
    codec: Codec,
    level: Option<i32>,
    /// Header (a gap until the end) and plain records.
    bytes: Vec<u8>,
    records: u32,
    next_delta: i32,
    /// The base timestamp is given, not the first record's.
    based: bool,
    too_large: bool,
}

impl Default for BatchBuilder {
    fn default() -> BatchBuilder {
        BatchBuilder::new()
    }
}

impl BatchBuilder {
    /// An empty batch at offset 0: no producer, no leader epoch, not compressed.
    pub fn new() -> BatchBuilder {
        let header = Header {
            base_offset: 0,
            length: 0,
            leader_epoch: -1,
            magic: MAGIC,
            crc: 0,
            attributes: Attributes(0),
            last_offset_delta: -1,
            base_timestamp: NO_TIMESTAMP,
            max_timestamp: NO_TIMESTAMP,
            producer_id: -1,
            producer_epoch: -1,
            base_sequence: -1,
            record_count: 0,
        };
        BatchBuilder::with(header, Codec::None, false)
    }

    /// An empty batch that keeps everything else of another: for writing again some of its records
    /// ([`Self::keep`]). It keeps the offset range even if the last records go. Times count from a delete horizon
    /// if there is one, else from the first record that is kept.
    pub fn like(header: &Header) -> BatchBuilder {
        let codec = header.attributes.codec().unwrap_or_default();
        let max_timestamp = if header.attributes.append_time() { header.max_timestamp } else { NO_TIMESTAMP };
        BatchBuilder::with(Header { max_timestamp, ..*header }, codec, header.attributes.delete_horizon())
    }

    fn with(header: Header, codec: Codec, based: bool) -> BatchBuilder {
        let bytes = vec![0; HEADER_BYTES];
        BatchBuilder { header, codec, level: None, bytes, records: 0, next_delta: 0, based, too_large: false }
    }

    /// Sets the offset of the first record.
    #[must_use]
    pub fn base_offset(mut self, offset: i64) -> BatchBuilder {
        self.header.base_offset = offset;
        self
    }

    /// Sets the leader's epoch.
    #[must_use]
    pub fn leader_epoch(mut self, epoch: i32) -> BatchBuilder {
        self.header.leader_epoch = epoch;
        self
    }

    /// Compresses. `level` is the topic's `compression.<codec>.level`; `None` is Kafka's default.
    #[must_use]
    pub fn codec(mut self, codec: Codec, level: Option<i32>) -> BatchBuilder {
        (self.codec, self.level) = (codec, level);
        self
    }

    /// Sets the idempotent producer and the sequence of the first record.
    #[must_use]
    pub fn producer(mut self, id: i64, epoch: i16, base_sequence: i32) -> BatchBuilder {
        (self.header.producer_id, self.header.producer_epoch) = (id, epoch);
        self.header.base_sequence = base_sequence;
        self
    }

    /// Makes it part of a transaction.
    #[must_use]
    pub fn transactional(mut self) -> BatchBuilder {
        self.header.attributes = self.header.attributes.with_transactional(true);
        self
    }

    /// Makes it a control batch.
    #[must_use]
    pub fn control(mut self) -> BatchBuilder {
        self.make_control();
        self
    }

    pub(crate) fn make_control(&mut self) {
        self.header.attributes = self.header.attributes.with_control(true);
    }

    /// Gives every record the broker's time, ms.
    #[must_use]
    pub fn append_time(mut self, time_ms: i64) -> BatchBuilder {
        self.header.attributes = self.header.attributes.with_append_time(true);
        self.header.max_timestamp = time_ms;
        self
    }

    /// Sets the time in ms after which compaction may drop tombstones and markers. Before the first record.
    #[must_use]
    pub fn delete_horizon(mut self, time_ms: i64) -> BatchBuilder {
        self.header.attributes = self.header.attributes.with_delete_horizon(true);
        // Records' times are deltas to what stands here; those written before must be written again.
        self.header.base_timestamp = time_ms;
        self.based = true;
        self
    }

    /// Number of records so far.
    pub fn record_count(&self) -> u32 {
        self.records
    }

    /// Bytes so far, header included, before compression.
    pub fn plain_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes that the next record would add, before compression.
    pub fn bytes_for(&self, timestamp: i64, key: Option<&[u8]>, value: Option<&[u8]>) -> usize {
        let body = self.body_bytes(self.next_delta, timestamp, key, value).saturating_add(1);
        body.saturating_add(varint::len_signed(i32::try_from(body).unwrap_or(i32::MAX)))
    }

    /// Adds a record at the next offset; `timestamp` in ms.
    pub fn append(&mut self, timestamp: i64, key: Option<&[u8]>, value: Option<&[u8]>) {
        self.append_with(timestamp, key, value, &[]);
    }

    /// Adds a record with headers at the next offset.
    pub fn append_with(
        &mut self,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[NewHeader<'_>],
    ) {
        if headers.is_empty() {
            return self.put(self.next_delta, timestamp, key, value, 0, &[]);
        }
        let mut written = Vec::new();
        for (name, value) in headers {
            put_nullable(&mut written, Some(name.as_bytes()));
            put_nullable(&mut written, *value);
        }
        let count = i32::try_from(headers.len()).unwrap_or(i32::MAX);
        self.put(self.next_delta, timestamp, key, value, count, &written);
    }

    /// Adds a record of another batch as it is, its place in the batch included. `batch` is that one's header.
    pub fn keep(&mut self, batch: &Header, record: &Record<'_>) {
        let (count, headers) = record.raw_headers();
        let timestamp = record.timestamp(batch);
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        self.put(record.offset_delta, timestamp, record.key, record.value, count, headers);
    }

    fn body_bytes(&self, delta: i32, timestamp: i64, key: Option<&[u8]>, value: Option<&[u8]>) -> usize {
        let base = if self.records == 0 && !self.based { timestamp } else { self.header.base_timestamp };
        let fixed = 1 + varint::len_signed_long(timestamp.wrapping_sub(base)) + varint::len_signed(delta);
        fixed.saturating_add(nullable_bytes(key)).saturating_add(nullable_bytes(value))
    }

    fn put(
        &mut self,
        delta: i32,
        timestamp: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        header_count: i32,
        headers: &[u8],
    ) {
        let length = self
            .body_bytes(delta, timestamp, key, value)
            .saturating_add(varint::len_signed(header_count))
            .saturating_add(headers.len());
        let total = self.bytes.len().saturating_add(length).saturating_add(5);
        let (Ok(length), Ok(_)) = (i32::try_from(length), i32::try_from(total)) else {
            self.too_large = true;
            return;
        };
        if self.records == 0 && !self.based {
            self.header.base_timestamp = timestamp;
        }
        let out = &mut self.bytes;
        varint::write_signed(out, length);
        out.push(0);
        varint::write_signed_long(out, timestamp.wrapping_sub(self.header.base_timestamp));
        varint::write_signed(out, delta);
        put_nullable(out, key);
        put_nullable(out, value);
        varint::write_signed(out, header_count);
        out.extend_from_slice(headers);

        self.records = self.records.saturating_add(1);
        self.next_delta = delta.saturating_add(1);
        self.header.last_offset_delta = self.header.last_offset_delta.max(delta);
        if !self.header.attributes.append_time() {
            self.header.max_timestamp = self.header.max_timestamp.max(timestamp);
        }
    }

    /// The batch's bytes, checksum and all. Without records it is only of use after compaction.
    pub fn finish(mut self) -> Result<Vec<u8>, BuildError> {
        let record_count = i32::try_from(self.records).map_err(|_| BuildError::TooLarge)?;
        if self.too_large {
            return Err(BuildError::TooLarge);
        }
        let mut bytes = match self.codec {
            codec if codec != Codec::None && record_count > 0 => {
                let mut packed = vec![0; HEADER_BYTES];
                let mut packer = Packer::new(codec, self.level, &mut packed)?;
                packer.write_all(self.bytes.get(HEADER_BYTES..).unwrap_or_default())?;
                packer.finish()?;
                self.header.attributes = self.header.attributes.with_codec(codec);
                packed
            }
            _ => self.bytes,
        };
        self.header.record_count = record_count;
        seal(&mut self.header, &mut bytes).ok_or(BuildError::TooLarge)?;
        Ok(bytes)
    }
}

/// Writes the header over the first bytes, with the right length and checksum.
pub(crate) fn seal(header: &mut Header, batch: &mut [u8]) -> Option<()> {
    header.length = i32::try_from(batch.len().checked_sub(OVERHEAD_BYTES)?).ok()?;
    *batch.first_chunk_mut::<HEADER_BYTES>()? = header.to_bytes();
    header.crc = crc32c::crc32c(batch.get(ATTRIBUTES_AT..)?);
    *batch.first_chunk_mut::<HEADER_BYTES>()? = header.to_bytes();
    Some(())
}

fn nullable_bytes(bytes: Option<&[u8]>) -> usize {
    match bytes {
        None => 1,
        Some(bytes) => {
            let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
            bytes.len().saturating_add(varint::len_signed(length))
        }
    }
}

fn put_nullable(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    let length = bytes.map_or(-1, |bytes| i32::try_from(bytes.len()).unwrap_or(i32::MAX));
    varint::write_signed(out, length);
    out.extend_from_slice(bytes.unwrap_or_default());
}
