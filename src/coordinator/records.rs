//! Records of a machine as batches of its log, and back.

use std::sync::Arc;

use barnabas_protocol::batch::{BatchBuilder, Batches, BuildError, Caps, Codec, Scratch};

use super::log::{LogFault, ShardLog};
use super::machine::Machine;

/// A machine whose records have a form on disk.
pub trait Stored: Machine {
    /// Base sequence of its batches, which have no producer or one that is not counted: Kafka's habit.
    const BASE_SEQUENCE: i32;

    /// Writes a record's key and value; false if it has no value (a tombstone).
    fn encode(record: &Self::Record, key: &mut Vec<u8>, value: &mut Vec<u8>) -> bool;

    /// Reads a record. `producer` wrote it in a transaction that had not ended.
    fn decode(
        key: &[u8],
        value: Option<&[u8]>,
        producer: Option<i64>,
        names: &mut Names,
    ) -> Result<Self::Record, String>;

    /// How its batches are compressed.
    fn codec(view: &Self::View) -> Codec;

    /// A transaction's end, if that means anything to the machine.
    fn marker(producer: i64, commit: bool) -> Option<Self::Record>;
}

/// What a record calls something by.
#[derive(Clone, Copy, Debug)]
pub enum Naming {
    /// A group.
    Group,
    /// A topic.
    Topic,
    /// What a client has put beside an offset.
    Metadata,
}

/// Names as they were read last. A log says the same few over and over: neighbours share one allocation.
#[derive(Debug, Default)]
pub struct Names {
    group: Arc<str>,
    topic: Arc<str>,
    metadata: Arc<str>,
}

impl Names {
    /// The name as shared text.
    pub fn shared(&mut self, naming: Naming, text: &str) -> Arc<str> {
        let last = match naming {
            Naming::Group => &mut self.group,
            Naming::Topic => &mut self.topic,
            Naming::Metadata => &mut self.metadata,
        };
        if &**last != text {
            *last = Arc::from(text);
        }
        last.clone()
    }
}

/// One batch of records, in Kafka's form.
pub fn encode_batch<M: Stored>(
    records: &[M::Record],
    producer: Option<(i64, i16)>,
    view: &M::View,
    wall_ms: i64,
) -> Result<Vec<u8>, BuildError> {
    let (id, epoch) = producer.unwrap_or((-1, -1));
    let mut batch = BatchBuilder::new().producer(id, epoch, M::BASE_SEQUENCE).codec(M::codec(view), None);
    if producer.is_some() {
        batch = batch.transactional();
    }
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for record in records {
        key.clear();
        value.clear();
        let has_value = M::encode(record, &mut key, &mut value);
        batch.append(wall_ms, Some(&key), has_value.then_some(&value));
    }
    batch.finish()
}

/// Bytes read at once while loading (`offsets.load.buffer.size`).
const LOAD_BYTES: usize = 5 * 1024 * 1024;

/// Replays a whole log; returns how many records it has. A record that a newer version wrote is skipped.
pub fn replay<M: Stored>(log: &dyn ShardLog, hard: &mut M::Hard) -> Result<u64, LogFault> {
    let (mut next, end) = (log.start(), log.end());
    let mut scratch = Scratch::default();
    let mut names = Names::default();
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
                    match M::decode(key, record.value, producer, &mut names) {
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
