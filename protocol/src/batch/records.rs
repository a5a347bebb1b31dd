//! The records inside a batch, borrowed.
//!
//! ```text
//! length varint | attributes i8 | timestamp delta varlong | offset delta varint
//! key length varint, key | value length varint, value | headers varint { key length, key, value length, value }
//! ```
//! A negative length of key or value means null.

use super::codec::{Caps, Codec};
use super::cursor::{Cursor, Feed};
use super::fault::{Fault, Malformed};
use super::header::{HEADER_BYTES, Header};
use super::unpack::Scratch;
use super::view::BatchView;
use std::borrow::Cow;

/// One record. Its bytes have been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Relative to the batch's base timestamp, ms.
    pub timestamp_delta: i64,
    /// Relative to the batch's base offset.
    pub offset_delta: i32,
    /// `None` is null.
    pub key: Option<&'a [u8]>,
    /// `None` is a tombstone.
    pub value: Option<&'a [u8]>,
    header_count: u32,
    header_bytes: &'a [u8],
}

/// One header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader<'a> {
    key: &'a [u8],
    /// `None` is null.
    pub value: Option<&'a [u8]>,
}

impl<'a> RecordHeader<'a> {
    /// Its key as text; what is not UTF-8 is replaced, as Kafka does.
    pub fn key(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.key)
    }
}

impl<'a> Record<'a> {
    /// Reads the record at the head of `at` and proves all of it, headers too.
    #[inline]
    pub(crate) fn read(at: &mut Cursor<'a>) -> Result<Record<'a>, Malformed> {
        let fields = Fields::read(at)?;
        let length = usize::try_from(fields.header_bytes).unwrap_or_default();
        let header_bytes = fields.headers_at.get(..length).unwrap_or_default();
        Ok(Record {
            timestamp_delta: fields.timestamp_delta,
            offset_delta: fields.offset_delta,
            key: fields.key,
            value: fields.value,
            header_count: fields.header_count.unsigned_abs(),
            header_bytes,
        })
    }

    /// The headers in order.
    pub fn headers(&self) -> Headers<'a> {
        Headers { left: self.header_count, at: Cursor(self.header_bytes) }
    }

    /// Number and bytes of the headers, for copying.
    pub(crate) fn raw_headers(&self) -> (u32, &'a [u8]) {
        (self.header_count, self.header_bytes)
    }

    /// Its offset, given the batch's base offset.
    pub fn offset(&self, base_offset: i64) -> i64 {
        base_offset.wrapping_add(i64::from(self.offset_delta))
    }

    /// Its timestamp in ms: the batch's append time, or its own.
    pub fn timestamp(&self, batch: &Header) -> i64 {
        batch.record_timestamp(self.timestamp_delta)
    }
}

/// The fields of one record, from wherever they come.
pub(crate) struct Fields<F: Feed> {
    pub(crate) timestamp_delta: i64,
    pub(crate) offset_delta: i32,
    pub(crate) key: Option<F::Span>,
    pub(crate) value: Option<F::Span>,
    header_count: i32,
    /// What was left before the headers' first byte.
    headers_at: F::Mark,
    header_bytes: u64,
    /// What its length field says is what its fields take.
    pub(crate) fits: bool,
}

impl<F: Feed> Fields<F> {
    /// Reads one record and proves that all its fields are there and fill exactly its length.
    #[inline]
    pub(crate) fn read(feed: &mut F) -> Result<Fields<F>, Malformed> {
        let fields = Self::read_loosely(feed)?;
        if fields.fits { Ok(fields) } else { Err(Malformed::Length) }
    }

    /// As [`Self::read`], whatever the length field says.
    #[inline]
    pub(crate) fn read_loosely(feed: &mut F) -> Result<Fields<F>, Malformed> {
        let Some(length) = feed.varint() else {
            return Err(if feed.has_endless_varint() { Malformed::Endless } else { Malformed::Cut });
        };
        let length = u64::try_from(length).map_err(|_| Malformed::Length)?;
        if length > feed.longest() {
            return Err(Malformed::Long);
        }
        let start = feed.left();
        let mut fields = Self::before_headers(feed).ok_or(Malformed::Cut)?;
        let headers_start = feed.left();
        if fields.header_count != 0 {
            skip_headers(feed, fields.header_count)?;
        }
        fields.header_bytes = headers_start.wrapping_sub(feed.left());
        fields.fits = start.wrapping_sub(feed.left()) == length;
        Ok(fields)
    }

    #[inline]
    fn before_headers(feed: &mut F) -> Option<Fields<F>> {
        let _attributes = feed.i8()?;
        let timestamp_delta = feed.varlong()?;
        let offset_delta = feed.varint()?;
        let key = nullable(feed)?;
        let value = nullable(feed)?;
        let header_count = feed.varint()?;
        let headers_at = feed.mark();
        let (header_bytes, fits) = (0, false);
        Some(Fields {
            timestamp_delta,
            offset_delta,
            key,
            value,
            header_count,
            headers_at,
            header_bytes,
            fits,
        })
    }
}

fn skip_headers<F: Feed>(feed: &mut F, count: i32) -> Result<(), Malformed> {
    let count = u64::try_from(count).map_err(|_| Malformed::Headers)?;
    if count > feed.left() {
        return Err(Malformed::Headers);
    }
    for _ in 0..count {
        let key = feed.varint().ok_or(Malformed::Cut)?;
        let key = usize::try_from(key).map_err(|_| Malformed::HeaderKey)?;
        feed.span(key).ok_or(Malformed::Cut)?;
        nullable(feed).ok_or(Malformed::Cut)?;
    }
    Ok(())
}

/// Length and bytes; `Some(None)` is null.
#[inline]
fn nullable<F: Feed>(feed: &mut F) -> Option<Option<F::Span>> {
    match usize::try_from(feed.varint()?) {
        Ok(length) => feed.span(length).map(Some),
        Err(_) => Some(None),
    }
}

/// A record's headers.
#[derive(Clone, Debug)]
pub struct Headers<'a> {
    left: u32,
    at: Cursor<'a>,
}

impl<'a> Iterator for Headers<'a> {
    type Item = RecordHeader<'a>;

    fn next(&mut self) -> Option<RecordHeader<'a>> {
        self.left = self.left.checked_sub(1)?;
        let key = nullable(&mut self.at)??;
        let value = nullable(&mut self.at)?;
        Some(RecordHeader { key, value })
    }
}

/// The records of a batch; ends after the first fault.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    at: Cursor<'a>,
    left: i32,
    index: i32,
}

impl<'a> Records<'a> {
    /// Over the plain (decompressed) bytes of `count` records.
    pub(crate) fn over(plain: &'a [u8], count: i32) -> Records<'a> {
        Records { at: Cursor(plain), left: count.max(0), index: 0 }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let index = self.index;
        match Record::read(&mut self.at) {
            Ok(record) => {
                self.left -= 1;
                self.index = index.saturating_add(1);
                Some(Ok(record))
            }
            Err(what) => {
                self.left = 0;
                Some(Err(Fault::Record { index, what }))
            }
        }
    }
}

impl<'a> BatchView<'a> {
    /// Its records. Those of a compressed batch are decompressed into `scratch`, whole, up to the caps.
    pub fn records<'s>(&self, scratch: &'s mut Scratch, caps: Caps) -> Result<Records<'s>, Fault>
    where
        'a: 's,
    {
        let codec = self.header().attributes.codec().ok_or(Fault::UnknownCodec)?;
        let packed = self.bytes().get(HEADER_BYTES..).unwrap_or_default();
        let plain = scratch.plain(codec, packed, caps)?;
        Ok(Records::over(plain, self.header().record_count))
    }

    /// Timestamp (ms) and offset of the first record that has at least these. However much a compressed batch unpacks
    /// to, little of it is in memory at any time.
    pub fn find_time(
        &self,
        timestamp: i64,
        offset: i64,
        scratch: &mut Scratch,
    ) -> Result<Option<(i64, i64)>, Fault> {
        let codec = self.header().attributes.codec().ok_or(Fault::UnknownCodec)?;
        let packed = self.bytes().get(HEADER_BYTES..).unwrap_or_default();
        if codec == Codec::None {
            return find_time(self.header(), &mut Cursor(packed), timestamp, offset);
        }
        let caps = Caps { bytes: u64::MAX, ..Caps::default() };
        let mut stream = scratch.stream(codec, packed, caps)?;
        let found = find_time(self.header(), &mut stream, timestamp, offset);
        // That the stream broke explains why the record did.
        if found.is_err() {
            stream.finish()?;
        }
        found
    }
}

fn find_time<F: Feed>(
    header: &Header,
    feed: &mut F,
    timestamp: i64,
    offset: i64,
) -> Result<Option<(i64, i64)>, Fault> {
    for index in 0..header.record_count {
        let record = Fields::read(feed).map_err(|what| Fault::Record { index, what })?;
        let at = header.record_timestamp(record.timestamp_delta);
        let place = header.base_offset.wrapping_add(i64::from(record.offset_delta));
        if at >= timestamp && place >= offset {
            return Ok(Some((at, place)));
        }
    }
    Ok(None)
}
