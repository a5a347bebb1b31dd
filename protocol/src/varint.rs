//! Kafka's variable-length integers: unsigned LEB128 of 32 bits, and zigzag of 32 and 64 bits.
//!
//! Readers take a slice and give the value and how many bytes it took. As in Kafka, bits beyond the
//! type's width in the last byte are dropped, and a longer encoding is an error.

use thiserror::Error;

/// Why a varint could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum VarintError {
    /// The bytes end before the varint does.
    #[error("a varint is cut short")]
    Truncated,
    /// More bytes than the type can have.
    #[error("a varint is longer than its type allows")]
    TooLong,
}

/// Reads an unsigned varint of at most five bytes.
pub fn read_unsigned(bytes: &[u8]) -> Result<(u32, usize), VarintError> {
    let (value, taken) = read_bits(bytes, 5)?;
    Ok((u32::try_from(value & u64::from(u32::MAX)).unwrap_or(u32::MAX), taken))
}

/// Reads a zigzag varint of at most five bytes.
pub fn read_signed(bytes: &[u8]) -> Result<(i32, usize), VarintError> {
    let (value, taken) = read_unsigned(bytes)?;
    Ok(((value >> 1).cast_signed() ^ -(value & 1).cast_signed(), taken))
}

/// Reads a zigzag varlong of at most ten bytes.
pub fn read_signed_long(bytes: &[u8]) -> Result<(i64, usize), VarintError> {
    let (value, taken) = read_bits(bytes, 10)?;
    Ok(((value >> 1).cast_signed() ^ -(value & 1).cast_signed(), taken))
}

fn read_bits(bytes: &[u8], longest: usize) -> Result<(u64, usize), VarintError> {
    let mut value = 0_u64;
    let mut shift = 0_u32;
    for (at, byte) in bytes.iter().take(longest).enumerate() {
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok((value, at + 1));
        }
        shift += 7;
    }
    if bytes.len() < longest { Err(VarintError::Truncated) } else { Err(VarintError::TooLong) }
}

/// Appends an unsigned varint.
pub fn write_unsigned(out: &mut Vec<u8>, value: u32) {
    write_unsigned_long(out, u64::from(value));
}

/// Appends a zigzag varint.
pub fn write_signed(out: &mut Vec<u8>, value: i32) {
    write_unsigned(out, zigzag(value));
}

/// Appends a zigzag varlong.
pub fn write_signed_long(out: &mut Vec<u8>, value: i64) {
    write_unsigned_long(out, zigzag_long(value));
}

fn write_unsigned_long(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap_or_default() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap_or_default());
}

/// How many bytes an unsigned varint takes.
pub fn len_unsigned(value: u32) -> usize {
    len_of_bits(32 - value.leading_zeros())
}

/// How many bytes a zigzag varint takes.
pub fn len_signed(value: i32) -> usize {
    len_unsigned(zigzag(value))
}

/// How many bytes a zigzag varlong takes.
pub fn len_signed_long(value: i64) -> usize {
    len_of_bits(64 - zigzag_long(value).leading_zeros())
}

fn len_of_bits(bits: u32) -> usize {
    usize::try_from(bits.div_ceil(7).max(1)).unwrap_or_default()
}

fn zigzag(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)).cast_unsigned()
}

fn zigzag_long(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(unsigned: u32, signed: i32, long: i64) {
            let mut out = Vec::new();
            write_unsigned(&mut out, unsigned);
            prop_assert_eq!(read_unsigned(&out), Ok((unsigned, out.len())));
            prop_assert_eq!(len_unsigned(unsigned), out.len());
            out.clear();
            write_signed(&mut out, signed);
            prop_assert_eq!(read_signed(&out), Ok((signed, out.len())));
            prop_assert_eq!(len_signed(signed), out.len());
            out.clear();
            write_signed_long(&mut out, long);
            prop_assert_eq!(read_signed_long(&out), Ok((long, out.len())));
            prop_assert_eq!(len_signed_long(long), out.len());
        }
    }

    #[test]
    fn the_limits_of_each_width_survive() {
        for value in [0, 1, -1, 63, -64, 64, i32::MAX, i32::MIN] {
            let mut out = Vec::new();
            write_signed(&mut out, value);
            assert_eq!(read_signed(&out), Ok((value, out.len())));
        }
        for value in [0, -1, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            write_signed_long(&mut out, value);
            assert_eq!(read_signed_long(&out), Ok((value, out.len())));
        }
    }

    #[test]
    fn too_long_and_cut_short_are_told_apart() {
        assert_eq!(read_unsigned(&[0x80, 0x80]), Err(VarintError::Truncated));
        assert_eq!(read_unsigned(&[0x80; 5]), Err(VarintError::TooLong));
        assert_eq!(read_unsigned(&[]), Err(VarintError::Truncated));
        assert_eq!(read_signed_long(&[0xff; 10]), Err(VarintError::TooLong));
    }

    #[test]
    fn bits_beyond_the_width_are_dropped() {
        assert_eq!(read_unsigned(&[0xff, 0xff, 0xff, 0xff, 0x7f]), Ok((u32::MAX, 5)));
    }
}
