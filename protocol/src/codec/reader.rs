use std::borrow::Cow;

use super::DecodeError;
use crate::varint;

/// What a message may take in memory once it is decoded, unless the caller says otherwise (bytes).
pub const DECODED_SIZE_LIMIT: usize = 16 << 20;

/// The longest string the protocol can carry (bytes).
const LONGEST_STRING: usize = 0x7fff;

/// A cursor over the bytes of one message.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    version: i16,
    flexible: bool,
    budget: usize,
    limit: usize,
}

impl<'a> Reader<'a> {
    /// Reads a message of this version; what it decodes to may take [`DECODED_SIZE_LIMIT`] bytes.
    pub fn new(bytes: &'a [u8], version: i16) -> Reader<'a> {
        Reader::with_budget(bytes, version, DECODED_SIZE_LIMIT)
    }

    /// Reads a message of this version; what it decodes to may take `budget` bytes.
    pub fn with_budget(bytes: &'a [u8], version: i16, budget: usize) -> Reader<'a> {
        Reader { rest: bytes, version, flexible: false, budget, limit: budget }
    }

    /// The version of the message.
    pub fn version(&self) -> i16 {
        self.version
    }

    /// Whether lengths are compact and structs end with tagged fields.
    pub fn flexible(&self) -> bool {
        self.flexible
    }

    /// Sets whether the version is a flexible one; a message does so when its decoding starts.
    pub fn set_flexible(&mut self, flexible: bool) {
        self.flexible = flexible;
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// What is left of the budget (bytes).
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Takes decoded bytes from the budget. Call it before the memory is reserved.
    pub fn charge(&mut self, bytes: usize) -> Result<(), DecodeError> {
        match self.budget.checked_sub(bytes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(DecodeError::OverBudget { limit: self.limit }),
        }
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        match self.rest.split_at_checked(count) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(DecodeError::Truncated { needed: count, left: self.rest.len() }),
        }
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.rest.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(DecodeError::Truncated { needed: N, left: self.rest.len() }),
        }
    }

    /// An unsigned varint.
    pub fn unsigned_varint(&mut self) -> Result<u32, DecodeError> {
        let (value, taken) = varint::read_unsigned(self.rest)
            .map_err(|error| DecodeError::from_varint(error, self.rest.len()))?;
        self.take(taken)?;
        Ok(value)
    }

    /// A string's length in bytes; `None` is null.
    pub fn string_length(&mut self) -> Result<Option<usize>, DecodeError> {
        let length =
            if self.flexible { self.compact_length()? } else { i32::from(i16::from_be_bytes(self.array()?)) };
        match usize::try_from(length) {
            Ok(length) if length > LONGEST_STRING => Err(DecodeError::StringTooLong(length)),
            length => Ok(length.ok()),
        }
    }

    /// A byte field's length; `None` is null.
    pub fn bytes_length(&mut self) -> Result<Option<usize>, DecodeError> {
        let length = if self.flexible { self.compact_length()? } else { i32::from_be_bytes(self.array()?) };
        Ok(usize::try_from(length).ok())
    }

    /// An array's element count; `None` is null, as is every negative count. The count is believed only if
    /// that many elements of `min_size` wire bytes can follow and their `memory` bytes each are in the budget.
    pub fn count(&mut self, min_size: usize, memory: usize) -> Result<Option<usize>, DecodeError> {
        let Some(count) = self.bytes_length()? else { return Ok(None) };
        let left = self.rest.len();
        if count.saturating_mul(min_size.max(1)) > left {
            return Err(DecodeError::CountTooLarge { count, left });
        }
        self.charge(count.saturating_mul(memory))?;
        Ok(Some(count))
    }

    /// A length stored as itself plus one; zero is null. Wraps as Kafka's does.
    fn compact_length(&mut self) -> Result<i32, DecodeError> {
        Ok(self.unsigned_varint()?.cast_signed().wrapping_sub(1))
    }

    /// A string of `length` bytes. What is not UTF-8 is read with U+FFFD, as Kafka does. Not charged.
    pub fn text(&mut self, length: usize) -> Result<Cow<'a, str>, DecodeError> {
        let bytes = self.take(length)?;
        Ok(match str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(replace_malformed(bytes)),
        })
    }

    /// The tagged fields that end a struct of a flexible version. `known` reads the value of a tag it knows
    /// (its size is not looked at, as in Kafka) and says true; others are skipped.
    pub fn tagged_fields(
        &mut self,
        known: &mut dyn FnMut(u32, &mut Reader<'a>) -> Result<bool, DecodeError>,
    ) -> Result<(), DecodeError> {
        for _ in 0..self.size()? {
            let tag = self.unsigned_varint()?;
            let size = self.unsigned_varint()?;
            if !known(tag, self)? {
                self.take(usize::try_from(size).unwrap_or(usize::MAX))?;
            }
        }
        Ok(())
    }

    /// An unsigned varint that Kafka counts with as a signed number, and refuses if it is negative.
    fn size(&mut self) -> Result<usize, DecodeError> {
        usize::try_from(self.unsigned_varint()?.cast_signed()).map_err(|_| DecodeError::NegativeLength)
    }
}

/// Puts U+FFFD where bytes are not UTF-8. Java and Rust agree how many, except for an encoded surrogate (ED A0
/// to ED BF, and a third byte): it is one for Java.
fn replace_malformed(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    // The bytes that may still belong to an encoded surrogate.
    let mut surrogate = 0;
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() {
            surrogate = 0;
            text.push_str(chunk.valid());
        }
        surrogate = match (surrogate, chunk.invalid()) {
            (_, []) => 0,
            (2, [0xa0..=0xbf]) => 1,
            (1, [0x80..=0xbf]) => 0,
            (_, malformed) => {
                text.push(char::REPLACEMENT_CHARACTER);
                if malformed == [0xed] { 2 } else { 0 }
            }
        };
    }
    text
}
