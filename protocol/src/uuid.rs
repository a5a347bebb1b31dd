//! Kafka's 128-bit ids.

use std::fmt;

/// 128 bits as Kafka writes them: topic ids, directory ids, incarnation ids, cluster ids.
///
/// Its text form is Kafka's: the 16 bytes in URL-safe base64 without padding (22 characters).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// All zero: "no id".
    pub const ZERO: Uuid = Uuid([0; 16]);

    /// True for the all-zero id.
    pub fn is_zero(self) -> bool {
        self == Uuid::ZERO
    }

    /// Reads Kafka's text form.
    pub fn parse(text: &str) -> Option<Uuid> {
        let mut bits: u128 = 0;
        let digits = text.as_bytes();
        if digits.len() != 22 {
            return None;
        }
        let (last, head) = digits.split_last()?;
        for digit in head {
            bits = (bits << 6) | u128::from(value_of(*digit)?);
        }
        // The last digit carries two bits; the other four must be zero.
        let tail = value_of(*last)?;
        if tail & 0b1111 != 0 {
            return None;
        }
        Some(Uuid(((bits << 2) | u128::from(tail >> 4)).to_be_bytes()))
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn value_of(digit: u8) -> Option<u8> {
    DIGITS.iter().position(|d| *d == digit).and_then(|at| u8::try_from(at).ok())
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = u128::from_be_bytes(self.0);
        for place in 0..22_u32 {
            let digit = if place == 21 { (bits << 4) & 63 } else { (bits >> (122 - 6 * place)) & 63 };
            let at = usize::try_from(digit).unwrap_or_default();
            write!(f, "{}", char::from(DIGITS.get(at).copied().unwrap_or(b'A')))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_have_kafkas_text_form() {
        // The ids Kafka reserves: zero and one.
        assert_eq!(Uuid::ZERO.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
        let mut one = [0; 16];
        one[15] = 1;
        assert_eq!(Uuid(one).to_string(), "AAAAAAAAAAAAAAAAAAAAAQ");
        assert_eq!(Uuid::parse("AAAAAAAAAAAAAAAAAAAAAQ"), Some(Uuid(one)));
        let all = Uuid([0xfb; 16]);
        assert_eq!(Uuid::parse(&all.to_string()), Some(all));
        assert_eq!(Uuid::parse("AAAAAAAAAAAAAAAAAAAAAR"), None, "padding bits must be zero");
        assert_eq!(Uuid::parse("short"), None);
    }
}
