//! The few pieces of Kafka's encoding that the load needs: growing a message, walking an answer.

use crate::error::{Error, Result};

/// Appends Kafka's primitive types to a buffer.
#[derive(Default)]
pub struct Writer {
    /// What was written so far.
    pub bytes: Vec<u8>,
}

impl Writer {
    /// Appends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub fn i8(&mut self, value: i8) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub fn i16(&mut self, value: i16) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub fn i32(&mut self, value: i32) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub fn i64(&mut self, value: i64) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// Unsigned base-128 number, low groups first.
    pub fn uvarint(&mut self, mut value: u64) -> &mut Self {
        loop {
            let [low, ..] = value.to_le_bytes();
            value >>= 7;
            if value == 0 {
                return self.raw(&[low & 0x7f]);
            }
            self.raw(&[low | 0x80]);
        }
    }

    /// Signed base-128 number in zigzag form, as inside records.
    pub fn varint(&mut self, value: i64) -> &mut Self {
        self.uvarint(((value << 1) ^ (value >> 63)).cast_unsigned())
    }

    /// A length of the compact forms: one more than it is.
    pub fn compact_len(&mut self, len: usize) -> &mut Self {
        self.uvarint(len as u64 + 1)
    }

    pub fn compact_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.compact_len(bytes.len()).raw(bytes)
    }

    /// No tagged fields.
    pub fn no_tags(&mut self) -> &mut Self {
        self.uvarint(0)
    }
}

/// Walks the bytes of an answer.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (head, rest) =
            self.0.split_at_checked(len).ok_or_else(|| Error::Answer("cut short".to_owned()))?;
        self.0 = rest;
        Ok(head)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| Error::Answer("cut short".to_owned()))
    }

    pub fn i16(&mut self) -> Result<i16> {
        self.array().map(i16::from_be_bytes)
    }

    pub fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    /// An unsigned base-128 number that counts something.
    pub fn uvarint(&mut self) -> Result<usize> {
        let mut value = 0;
        for shift in (0..28).step_by(7) {
            let [byte] = self.array::<1>()?;
            value |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Error::Answer("a length that is too long".to_owned()))
    }
}

/// The error code at a fixed place of an answer.
pub fn code_at(answer: &[u8], at: usize) -> Result<i16> {
    let mut reader = Reader(answer);
    reader.take(at)?;
    reader.i16()
}
