//! Records of a machine as batches of its log, and back.

use barnabas_protocol::batch::{
    Attributes, Batches, Caps, HEADER_BYTES, Header, MAGIC, OVERHEAD_BYTES, Scratch,
};

use super::log::{LogFault, ShardLog};
use super::machine::Machine;

/// A machine whose records have a form on disk.
pub trait Stored: Machine {
    /// Writes a record's key and value; false if it has no value (a tombstone).
    fn encode(record: &Self::Record, key: &mut Vec<u8>, value: &mut Vec<u8>) -> bool;

    /// Reads a record. `producer` wrote it in a transaction that had not ended.
    fn decode(key: &[u8], value: Option<&[u8]>, producer: Option<i64>) -> Result<Self::Record, String>;

    /// A transaction's end, if that means anything to the machine.
    fn marker(producer: i64, commit: bool) -> Option<Self::Record>;
}

/// One batch of records, in Kafka's form: no producer, but base sequence 0.
pub fn encode_batch<M: Stored>(records: &[M::Record], wall_ms: i64) -> Vec<u8> {
    let mut batch = vec![0; HEADER_BYTES];
    let (mut key, mut value, mut body) = (Vec::new(), Vec::new(), Vec::new());
    for (delta, record) in (0_i64..).zip(records) {
        key.clear();
        value.clear();
        body.clear();
        let has_value = M::encode(record, &mut key, &mut value);
        // Attributes and the timestamp's delta are zero.
        body.extend_from_slice(&[0, 0]);
        put_varint(&mut body, delta);
        put_varint(&mut body, length(key.len()));
        body.extend_from_slice(&key);
        put_varint(&mut body, if has_value { length(value.len()) } else { -1 });
        body.extend_from_slice(&value);
        body.push(0);
        put_varint(&mut batch, length(body.len()));
        batch.extend_from_slice(&body);
    }
    let count = i32::try_from(records.len()).unwrap_or(i32::MAX);
    let mut header = Header {
        base_offset: 0,
        length: i32::try_from(batch.len() - OVERHEAD_BYTES).unwrap_or(i32::MAX),
        leader_epoch: -1,
        magic: MAGIC,
        crc: 0,
        attributes: Attributes(0),
        last_offset_delta: count.saturating_sub(1),
        base_timestamp: wall_ms,
        max_timestamp: wall_ms,
        producer_id: -1,
        producer_epoch: -1,
        base_sequence: 0,
        record_count: count,
    };
    set_header(&mut batch, &header);
    header.crc = crc32c::crc32c(batch.get(CHECKED_FROM..).unwrap_or_default());
    set_header(&mut batch, &header);
    batch
}

/// The checksum covers everything behind itself.
const CHECKED_FROM: usize = 21;

fn set_header(batch: &mut [u8], header: &Header) {
    if let Some(place) = batch.first_chunk_mut::<HEADER_BYTES>() {
        *place = header.to_bytes();
    }
}

fn length(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Zigzag, seven bits a byte.
fn put_varint(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    loop {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        if rest == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

/// Bytes read at once while loading (`offsets.load.buffer.size`).
const LOAD_BYTES: usize = 5 * 1024 * 1024;

/// Replays a whole log; returns how many records it has. A record that a newer version wrote is skipped.
pub fn replay<M: Stored>(log: &dyn ShardLog, hard: &mut M::Hard) -> Result<u64, LogFault> {
    let (mut next, end) = (log.start(), log.end());
    let mut scratch = Scratch::default();
    let mut records = 0;
    while next < end {
        let bytes = log.read(next, LOAD_BYTES)?;
        let before = next;
        for batch in Batches::new(&bytes) {
            let corrupt = |what: String| LogFault::Corrupt { offset: next, what };
            let batch = batch.map_err(|fault| corrupt(fault.to_string()))?;
            let header = *batch.header();
            if header.next_offset() <= next {
                continue;
            }
            let list = batch.records(&mut scratch, Caps::default());
            for record in list.map_err(|fault| corrupt(fault.to_string()))? {
                let record = record.map_err(|fault| corrupt(fault.to_string()))?;
                let key = record.key.unwrap_or_default();
                let decoded = if header.attributes.control() {
                    marker_of(key).and_then(|commit| M::marker(header.producer_id, commit))
                } else {
                    let producer = header.attributes.transactional().then_some(header.producer_id);
                    match M::decode(key, record.value, producer) {
                        Ok(record) => Some(record),
                        Err(what) => {
                            let offset = record.offset(header.base_offset);
                            tracing::warn!(offset, what, "a record is not understood and skipped");
                            None
                        }
                    }
                };
                if let Some(decoded) = decoded {
                    M::apply(hard, decoded);
                    records += 1;
                }
            }
            next = header.next_offset();
        }
        if next == before {
            // Compaction may have removed what the last offsets were.
            break;
        }
    }
    Ok(records)
}

/// Commit or abort, from a control record's key; none for other control records.
fn marker_of(key: &[u8]) -> Option<bool> {
    match key {
        [_, _, 0, 0, ..] => Some(false),
        [_, _, 0, 1, ..] => Some(true),
        _ => None,
    }
}
