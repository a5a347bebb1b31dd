//! A batch of keyed records whose keys change from sending to sending.

use super::batch::{self, NOBODY, checksummed};
use super::wire::Writer;

const KEY_BYTES: usize = 8;

/// See the module.
pub struct Keyed {
    bytes: Vec<u8>,
    /// Where each record's key is.
    keys_at: Vec<usize>,
}

impl Keyed {
    /// So many records, each with a key of 8 bytes and a value of so many.
    pub fn new(records: u64, value_bytes: usize) -> Keyed {
        let mut body = Writer::default();
        let mut keys_at = Vec::new();
        let noise = batch::noise(value_bytes);
        for delta in 0..i64::try_from(records).unwrap_or(0) {
            let mut record = Writer::default();
            record.i8(0).varint(0).varint(delta).varint(KEY_BYTES.try_into().unwrap_or(0));
            let key_at = record.bytes.len();
            record.raw(&[0; KEY_BYTES]).varint(value_bytes.try_into().unwrap_or(0)).raw(&noise).varint(0);
            body.varint(record.bytes.len().try_into().unwrap_or(i64::MAX));
            keys_at.push(body.bytes.len() + key_at);
            body.raw(&record.bytes);
        }
        let bytes = checksummed(i32::try_from(records).unwrap_or(0), &body.bytes, 0, NOBODY, -1);
        let head = bytes.len() - body.bytes.len();
        keys_at.iter_mut().for_each(|at| *at += head);
        Keyed { bytes, keys_at }
    }

    /// Gives every record its key, by its place in the batch.
    pub fn set_keys(&mut self, key: impl Fn(u64) -> u64) {
        for (number, at) in self.keys_at.iter().enumerate() {
            if let Some(place) = self.bytes.get_mut(*at..*at + KEY_BYTES) {
                place.copy_from_slice(&key(number as u64).to_be_bytes());
            }
        }
        batch::set_checksum(&mut self.bytes);
    }

    /// The batch.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_where_they_should_be() {
        let mut keyed = Keyed::new(3, 100);
        keyed.set_keys(|at| at + 7);
        for (number, at) in keyed.keys_at.iter().enumerate() {
            assert_eq!(keyed.bytes[*at..*at + 8], (number as u64 + 7).to_be_bytes());
            // The key's length before, the value's behind.
            assert_eq!((keyed.bytes[at - 1], keyed.bytes[at + 8]), (16, 200));
        }
        let crc = u32::from_be_bytes(keyed.bytes[17..21].try_into().unwrap());
        assert_eq!(crc, crc32c::crc32c(&keyed.bytes[21..]));
    }
}
