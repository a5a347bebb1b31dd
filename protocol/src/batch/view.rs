//! Batches in a row of bytes: what a file or a request holds, before or after its checks.

use super::cursor::Cursor;
use super::fault::Fault;
use super::header::{ATTRIBUTES_AT, Attributes, Header, MAGIC, OVERHEAD_BYTES, PREFIX_BYTES};

/// Kafka's least value of a length field: that of an empty record of magic 0.
const LEAST_LENGTH: i32 = 14;

/// One complete v2 batch, read only. Header and size agree; nothing else has been checked.
#[derive(Clone, Copy, Debug)]
pub struct BatchView<'a> {
    header: Header,
    bytes: &'a [u8],
}

impl<'a> BatchView<'a> {
    /// The batch at the head of `bytes`; `None` if they end before it does.
    pub fn first(bytes: &'a [u8]) -> Result<Option<BatchView<'a>>, Fault> {
        let Some(prefix) = Prefix::read(bytes)? else { return Ok(None) };
        let Some(batch) = bytes.get(..prefix.total_bytes) else { return Ok(None) };
        if prefix.magic != MAGIC {
            return Err(Fault::OldMagic(prefix.magic));
        }
        let header = Header::parse(batch).ok_or(Fault::Short(batch.len()))?;
        Ok(Some(BatchView { header, bytes: batch }))
    }

    /// The decoded header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The whole batch.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Does the stored checksum match?
    pub fn check_crc(&self) -> Result<(), Fault> {
        check_crc(&self.header, self.bytes)
    }
}

pub(crate) fn check_crc(header: &Header, bytes: &[u8]) -> Result<(), Fault> {
    let computed = crc32c::crc32c(bytes.get(ATTRIBUTES_AT..).unwrap_or_default());
    if computed != header.crc {
        return Err(Fault::Crc { stored: header.crc, computed });
    }
    Ok(())
}

/// Batches one after the other, as a segment or a fetch answer has them. Ends quietly at a cut batch.
#[derive(Clone, Debug)]
pub struct Batches<'a> {
    rest: &'a [u8],
    failed: bool,
}

impl<'a> Batches<'a> {
    /// Over all of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Batches<'a> {
        Batches { rest: bytes, failed: false }
    }

    /// What has not been read: a cut batch's start, or the faulty batch.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Batches<'a> {
    type Item = Result<BatchView<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let batch = BatchView::first(self.rest).transpose()?;
        match &batch {
            Ok(batch) => self.rest = self.rest.get(batch.bytes.len()..).unwrap_or_default(),
            Err(_) => self.failed = true,
        }
        Some(batch)
    }
}

/// One complete v2 batch in a buffer that will be patched. Not yet checked: [`RawBatch::validate`].
#[derive(Debug)]
pub struct RawBatch<'a> {
    pub(crate) header: Header,
    pub(crate) bytes: &'a mut [u8],
}

impl<'a> RawBatch<'a> {
    /// The decoded header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The whole batch.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// The one batch that a client may send for a partition. What follows it is dropped if it is cut.
    ///
    /// `zstd` says if this version of Produce may carry it (7 and above).
    pub fn sole(records: &'a mut [u8], zstd: bool) -> Result<RawBatch<'a>, Fault> {
        let prefix = Prefix::read(records)?.ok_or(Fault::NoBatch)?;
        let (batch, tail) = records.split_at_mut_checked(prefix.total_bytes).ok_or(Fault::NoBatch)?;
        if prefix.magic != MAGIC {
            return Err(Fault::OldMagic(prefix.magic));
        }
        let header = Header::parse(batch).ok_or(Fault::Short(batch.len()))?;
        if !zstd && header.attributes.codec() == Some(super::Codec::Zstd) {
            return Err(Fault::ZstdTooEarly);
        }
        if Prefix::read(tail)?.is_some_and(|next| next.total_bytes <= tail.len()) {
            return Err(Fault::SeveralBatches);
        }
        Ok(RawBatch { header, bytes: batch })
    }

    /// The batch at the head of `bytes` and what follows it; `None` if they end before it does.
    pub fn split_first(bytes: &'a mut [u8]) -> Result<Option<(RawBatch<'a>, &'a mut [u8])>, Fault> {
        let Some(view) = BatchView::first(bytes)? else { return Ok(None) };
        let (header, length) = (view.header, view.bytes.len());
        let Some((batch, rest)) = bytes.split_at_mut_checked(length) else { return Ok(None) };
        Ok(Some((RawBatch { header, bytes: batch }, rest)))
    }
}

/// Length and magic: the same place in every version of the format.
struct Prefix {
    total_bytes: usize,
    magic: i8,
}

impl Prefix {
    /// `None` if there are not enough bytes to tell; the batch itself may still be cut.
    fn read(bytes: &[u8]) -> Result<Option<Prefix>, Fault> {
        if bytes.len() < OVERHEAD_BYTES {
            return Ok(None);
        }
        let length = bytes.get(8..).and_then(|at| Cursor(at).i32()).unwrap_or_default();
        if length < LEAST_LENGTH {
            return Err(Fault::Length(length));
        }
        if bytes.len() < PREFIX_BYTES {
            return Ok(None);
        }
        let magic = bytes.get(16..).and_then(|at| Cursor(at).i8()).unwrap_or_default();
        if !(0..=MAGIC).contains(&magic) {
            return Err(Fault::Magic(magic));
        }
        let total_bytes = usize::try_from(length).unwrap_or_default().saturating_add(OVERHEAD_BYTES);
        if i32::try_from(total_bytes).is_err() {
            return Err(Fault::Endless(length));
        }
        Ok(Some(Prefix { total_bytes, magic }))
    }
}

/// Kafka looks at the first batch of every partition before anything else: is it part of a transaction?
///
/// A fault here fails the request as a whole, with the fault's own text as every partition's message.
pub fn peek_transactional(records: &[u8]) -> Result<bool, Fault> {
    match Prefix::read(records)? {
        Some(prefix) if prefix.magic == MAGIC && prefix.total_bytes <= records.len() => {
            let attributes = records.get(ATTRIBUTES_AT..).and_then(|at| Cursor(at).i16()).unwrap_or_default();
            Ok(Attributes(attributes).transactional())
        }
        _ => Ok(false),
    }
}
