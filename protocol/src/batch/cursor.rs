//! Reading the primitives of a batch: [`crate::varint`] with the common case in line, for a million records a second.
//!
//! Every read proves its bounds; `None` means that the bytes end or cannot be what they should be.

/// The longest varint.
const VARINT_BYTES: usize = 5;

/// Where the fields of records are read from: plain bytes, or bytes that come out of a decompressor.
pub(crate) trait Feed {
    /// What stands for a run of bytes.
    type Span: Copy;
    /// What stands for a place.
    type Mark;

    fn i8(&mut self) -> Option<i8>;
    fn varint(&mut self) -> Option<i32>;
    fn varlong(&mut self) -> Option<i64>;
    fn span(&mut self, count: usize) -> Option<Self::Span>;
    /// A number that goes down by one with each byte read.
    fn left(&self) -> u64;
    fn mark(&self) -> Self::Mark;
    /// How many bytes a record may have.
    fn longest(&self) -> u64;
    /// After a varint could not be read: because it does not end within its five bytes, all of which are there?
    fn has_endless_varint(&self) -> bool;
    /// The bytes of a run.
    fn length_of(span: Self::Span) -> usize;
}

impl<'a> Feed for Cursor<'a> {
    type Span = &'a [u8];
    type Mark = &'a [u8];

    #[inline]
    fn i8(&mut self) -> Option<i8> {
        Cursor::i8(self)
    }

    #[inline]
    fn varint(&mut self) -> Option<i32> {
        Cursor::varint(self)
    }

    #[inline]
    fn varlong(&mut self) -> Option<i64> {
        Cursor::varlong(self)
    }

    #[inline]
    fn span(&mut self, count: usize) -> Option<&'a [u8]> {
        self.take(count)
    }

    #[inline]
    fn left(&self) -> u64 {
        self.0.len() as u64
    }

    #[inline]
    fn mark(&self) -> &'a [u8] {
        self.0
    }

    #[inline]
    fn longest(&self) -> u64 {
        u64::MAX
    }

    fn has_endless_varint(&self) -> bool {
        self.0.len() >= VARINT_BYTES
    }

    fn length_of(span: &'a [u8]) -> usize {
        span.len()
    }
}

/// A shrinking slice: what is left to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    #[inline]
    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    #[inline]
    pub(crate) fn i8(&mut self) -> Option<i8> {
        self.chunk().map(i8::from_be_bytes)
    }

    #[inline]
    pub(crate) fn i16(&mut self) -> Option<i16> {
        self.chunk().map(i16::from_be_bytes)
    }

    #[inline]
    pub(crate) fn i32(&mut self) -> Option<i32> {
        self.chunk().map(i32::from_be_bytes)
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.chunk().map(u32::from_be_bytes)
    }

    #[inline]
    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.chunk().map(i64::from_be_bytes)
    }

    /// The next `count` bytes.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    /// An unsigned varint of at most five bytes; bits above the 32nd are dropped, as Kafka drops them.
    #[inline]
    pub(crate) fn uvarint(&mut self) -> Option<u32> {
        match self.0 {
            [first @ 0..0x80, rest @ ..] => {
                self.0 = rest;
                Some(u32::from(*first))
            }
            [low, high @ 0..0x80, rest @ ..] => {
                self.0 = rest;
                Some(u32::from(low & 0x7f) | u32::from(*high) << 7)
            }
            _ => self.uvarint_long(),
        }
    }

    fn uvarint_long(&mut self) -> Option<u32> {
        let mut value = 0_u32;
        for (at, &byte) in self.0.iter().enumerate().take(VARINT_BYTES) {
            value |= u32::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.0 = self.0.get(at + 1..)?;
                return Some(value);
            }
        }
        None
    }

    /// A zigzag varint.
    #[inline]
    pub(crate) fn varint(&mut self) -> Option<i32> {
        let raw = self.uvarint()?;
        Some((raw >> 1).cast_signed() ^ (raw & 1).cast_signed().wrapping_neg())
    }

    /// A zigzag varint of at most ten bytes.
    #[inline]
    pub(crate) fn varlong(&mut self) -> Option<i64> {
        if let [first @ 0..0x80, rest @ ..] = self.0 {
            self.0 = rest;
            return Some(i64::from(first >> 1) ^ i64::from(first & 1).wrapping_neg());
        }
        self.varlong_long()
    }

    fn varlong_long(&mut self) -> Option<i64> {
        let mut raw = 0_u64;
        for (at, &byte) in self.0.iter().enumerate().take(10) {
            raw |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.0 = self.0.get(at + 1..)?;
                return Some((raw >> 1).cast_signed() ^ (raw & 1).cast_signed().wrapping_neg());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::varint;

    #[test]
    fn varints_are_those_of_the_protocol() {
        for value in [0, 1, -1, 63, -64, 64, 8191, -8192, 8192, i32::MAX, i32::MIN] {
            let mut out = Vec::new();
            varint::write_signed(&mut out, value);
            assert_eq!(Cursor(&out).varint(), Some(value));
            assert_eq!(Cursor(&out[..out.len() - 1]).varint(), None);
        }
        for value in [0, -1, 1 << 20, -(1 << 40), i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            varint::write_signed_long(&mut out, value);
            assert_eq!(Cursor(&out).varlong(), Some(value));
        }
    }

    #[test]
    fn a_varint_that_never_ends_is_refused() {
        assert_eq!(Cursor(&[0x80; 6]).varint(), None);
        assert_eq!(Cursor(&[0x80; 11]).varlong(), None);
    }
}
