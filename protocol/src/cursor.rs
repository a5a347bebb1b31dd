//! Reading and writing the primitives of the hot messages and of batches.
//!
//! Every read proves its bounds; `None` means that the bytes end or cannot be what they should be.

use crate::Uuid;

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

    /// 128 bits.
    pub(crate) fn uuid(&mut self) -> Option<Uuid> {
        self.chunk().map(Uuid)
    }

    /// A length or count before `content`: a varint one too large if `flexible`, else `i32`. `Some(None)` is null.
    pub(crate) fn length(&mut self, flexible: bool) -> Option<Option<usize>> {
        let length = if flexible { self.uvarint()?.cast_signed().wrapping_sub(1) } else { self.i32()? };
        Some(usize::try_from(length).ok())
    }

    /// The count of an array that may not be null; each element takes a byte at least.
    pub(crate) fn count(&mut self, flexible: bool) -> Option<usize> {
        let count = self.length(flexible)??;
        (count <= self.0.len()).then_some(count)
    }

    /// A string's bytes; `Some(None)` is null.
    pub(crate) fn text(&mut self, flexible: bool) -> Option<Option<&'a [u8]>> {
        let length = if flexible { self.length(true)? } else { usize::try_from(self.i16()?).ok() };
        match length {
            None => Some(None),
            Some(length) if length > 0x7fff => None,
            Some(length) => self.take(length).map(Some),
        }
    }

    /// Tagged fields: `known` is asked about each and may leave it alone; it fails by answering `None`.
    pub(crate) fn tags(&mut self, mut known: impl FnMut(u32, Cursor<'a>) -> Option<()>) -> Option<()> {
        for _ in 0..self.uvarint()? {
            let tag = self.uvarint()?;
            let size = usize::try_from(self.uvarint()?).ok()?;
            known(tag, Cursor(self.take(size)?))?;
        }
        Some(())
    }

    /// Skips tagged fields, if the version has them.
    pub(crate) fn skip_tags(&mut self, flexible: bool) -> Option<()> {
        if flexible { self.tags(|_, _| Some(())) } else { Some(()) }
    }

    /// An unsigned varint of at most five bytes; bits above the 32nd are dropped, as Kafka drops them.
    #[inline]
    pub(crate) fn uvarint(&mut self) -> Option<u32> {
        let (&first, rest) = self.0.split_first()?;
        if first < 0x80 {
            self.0 = rest;
            return Some(u32::from(first));
        }
        self.uvarint_long()
    }

    fn uvarint_long(&mut self) -> Option<u32> {
        let mut value = 0_u32;
        for (at, &byte) in self.0.iter().enumerate().take(5) {
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

/// Appends an unsigned varint.
pub(crate) fn put_uvarint(out: &mut Vec<u8>, mut value: u32) {
    while let Some(byte) = low_seven(u64::from(value), value > 0x7f) {
        out.push(byte);
        if value <= 0x7f {
            return;
        }
        value >>= 7;
    }
}

/// Appends a zigzag varint.
pub(crate) fn put_varint(out: &mut Vec<u8>, value: i32) {
    put_uvarint(out, (value.cast_unsigned() << 1) ^ (value >> 31).cast_unsigned());
}

/// Appends a zigzag varint of 64 bits.
pub(crate) fn put_varlong(out: &mut Vec<u8>, value: i64) {
    let mut raw = (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned();
    while let Some(byte) = low_seven(raw, raw > 0x7f) {
        out.push(byte);
        if raw <= 0x7f {
            return;
        }
        raw >>= 7;
    }
}

/// Appends a length or count as the version writes it; `None` is null.
pub(crate) fn put_length(out: &mut Vec<u8>, length: Option<usize>, flexible: bool) {
    let length = length.map_or(-1, |length| i32::try_from(length).unwrap_or(i32::MAX));
    if flexible {
        put_uvarint(out, length.wrapping_add(1).cast_unsigned());
    } else {
        out.extend_from_slice(&length.to_be_bytes());
    }
}

/// Appends a string as the version writes it; `None` is null. What is longer than a string may be is cut.
pub(crate) fn put_text(out: &mut Vec<u8>, text: Option<&str>, flexible: bool) {
    const LONGEST: usize = 0x7fff;
    let text = text.map(|text| text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default());
    let length = text.map(str::len);
    if flexible {
        put_length(out, length, true);
    } else {
        let length = length.map_or(-1, |length| i16::try_from(length).unwrap_or(i16::MAX));
        out.extend_from_slice(&length.to_be_bytes());
    }
    out.extend_from_slice(text.unwrap_or_default().as_bytes());
}

/// The lowest seven bits, with the eighth set if more follow.
fn low_seven(value: u64, more: bool) -> Option<u8> {
    u8::try_from(value & 0x7f).ok().map(|byte| byte | (u8::from(more) << 7))
}

/// Bytes that `value` takes as a zigzag varint.
pub(crate) fn varint_bytes(value: i64) -> usize {
    let raw = (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned();
    usize::try_from((64 - (raw | 1).leading_zeros()).div_ceil(7)).unwrap_or(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_come_back() {
        for value in [0, 1, -1, 63, -64, 64, 8191, -8192, 8192, i32::MAX, i32::MIN] {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(out.len(), varint_bytes(i64::from(value)));
            assert_eq!(Cursor(&out).varint(), Some(value));
            assert_eq!(Cursor(&out[..out.len() - 1]).varint(), None);
        }
        for value in [0, -1, 1 << 20, -(1 << 40), i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            put_varlong(&mut out, value);
            assert_eq!(out.len(), varint_bytes(value));
            assert_eq!(Cursor(&out).varlong(), Some(value));
        }
    }

    #[test]
    fn a_varint_that_never_ends_is_refused() {
        assert_eq!(Cursor(&[0x80; 6]).varint(), None);
        assert_eq!(Cursor(&[0x80; 11]).varlong(), None);
    }
}
