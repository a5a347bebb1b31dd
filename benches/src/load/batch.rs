//! Record batches (magic 2) made once, sent many times.

use super::wire::Writer;

/// What a batch is filled with.
#[derive(Clone, Copy)]
pub struct Filling {
    /// Records per batch.
    pub records: u16,
    /// Bytes of each record's value; keys are null.
    pub value_bytes: usize,
}

/// 250 records of 1 KB: what a busy producer sends.
pub const LARGE: Filling = Filling { records: 250, value_bytes: 1000 };
/// One record of 100 bytes: what a producer sends that does not batch.
pub const SMALL: Filling = Filling { records: 1, value_bytes: 100 };

/// The producer of a batch in a transaction; its sequence is the first of its epoch.
#[derive(Clone, Copy)]
pub struct Producer {
    /// Its id.
    pub id: i64,
    /// Its epoch.
    pub epoch: i16,
}

/// No idempotent producer.
pub const NOBODY: Producer = Producer { id: -1, epoch: -1 };

/// A record batch as a producer without idempotence sends it.
pub fn batch(filling: Filling) -> Vec<u8> {
    encode(filling, 0, NOBODY, -1)
}

/// The first batch of a transaction in a partition.
pub fn transactional(filling: Filling, producer: Producer) -> Vec<u8> {
    encode(filling, 0x10, producer, 0)
}

fn encode(filling: Filling, attributes: i16, producer: Producer, sequence: i32) -> Vec<u8> {
    let mut records = Writer::default();
    let noise = noise(filling.value_bytes.saturating_mul(filling.records.into()));
    for (delta, value) in (0..filling.records).zip(noise.chunks(filling.value_bytes)) {
        let mut record = Writer::default();
        record.i8(0).varint(0).varint(i64::from(delta)).varint(-1);
        record.varint(filling.value_bytes.try_into().unwrap_or(i64::MAX));
        record.raw(value).varint(0);
        records.varint(record.bytes.len().try_into().unwrap_or(i64::MAX)).raw(&record.bytes);
    }
    checksummed(i32::from(filling.records), &records.bytes, attributes, producer, sequence)
}

/// Bytes that no compression makes smaller.
pub fn noise(bytes: usize) -> Vec<u8> {
    let mut noise = 0x9e37_79b9_7f4a_7c15_u64;
    let mut made = Vec::with_capacity(bytes + 8);
    while made.len() < bytes {
        // xorshift
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        made.extend_from_slice(&noise.to_le_bytes());
    }
    made.truncate(bytes);
    made
}

/// A batch around records.
pub fn checksummed(
    count: i32,
    records: &[u8],
    attributes: i16,
    producer: Producer,
    sequence: i32,
) -> Vec<u8> {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_millis());
    let now = i64::try_from(now).unwrap_or(0);
    let mut checked = Writer::default();
    checked
        .i16(attributes)
        .i32(count - 1)
        .i64(now)
        .i64(now)
        .i64(producer.id)
        .i16(producer.epoch)
        .i32(sequence)
        .i32(count)
        .raw(records);
    let mut whole = Writer::default();
    whole
        .i64(0)
        .i32((4 + 1 + 4 + checked.bytes.len()).try_into().unwrap_or(i32::MAX))
        .i32(-1)
        .i8(2)
        .i32(0)
        .raw(&checked.bytes);
    set_checksum(&mut whole.bytes);
    whole.bytes
}

/// Makes a batch's checksum that of its content.
pub fn set_checksum(batch: &mut [u8]) {
    let Some((head, content)) = batch.split_at_mut_checked(21) else { return };
    if let Some(place) = head.get_mut(17..) {
        place.copy_from_slice(&crc32c::crc32c(content).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_states_its_own_length_and_checksum() {
        let bytes = batch(SMALL);
        let length = u32::from_be_bytes(bytes[8..12].try_into().unwrap());
        assert_eq!(length as usize, bytes.len() - 12);
        let crc = u32::from_be_bytes(bytes[17..21].try_into().unwrap());
        assert_eq!(crc, crc32c::crc32c(&bytes[21..]));
        assert_eq!(bytes.len(), 61 + 2 + 108 - 1);
    }

    #[test]
    fn a_large_batch_is_what_the_figures_are_quoted_for() {
        let len = batch(LARGE).len();
        assert!((250_000..256_000).contains(&len), "{len}");
    }
}
