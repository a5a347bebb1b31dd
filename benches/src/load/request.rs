//! The requests of the load, encoded once; only correlation ids and fetch offsets are patched later.
//!
//! Versions are ones that clients of today use: topics by id in Produce and Fetch.

use super::batch::Producer;
use super::wire::{Reader, Writer, code_at};
use crate::error::{Error, Result};

/// A topic's id as it stands on the wire.
pub type TopicId = [u8; 16];

/// A request as it goes over the wire, length prefix included, with what may change in it and what to expect.
#[derive(Clone)]
pub struct Frame {
    /// The encoded request.
    pub bytes: Vec<u8>,
    /// The offset that moves on with every sending, if any.
    pub step: Option<Step>,
    /// The sequence that moves on with every sending, if there is an idempotent producer.
    pub sequence: Option<Sequence>,
    /// The API's name, for errors.
    pub api: &'static str,
    /// Where the answer (after its length) has its error code.
    pub code_at: usize,
    /// Fewer bytes than this are not a complete answer.
    pub min_answer: usize,
}

/// A number of eight bytes that advances each time a frame is sent.
#[derive(Clone, Copy)]
pub struct Step {
    /// Position in the frame.
    pub at: usize,
    /// Value of the first sending.
    pub next: i64,
    /// Added for each further sending.
    pub by: i64,
    /// Where it starts again at zero.
    pub wrap: i64,
}

/// The next sequence of an idempotent producer, which is under its batch's checksum.
#[derive(Clone, Copy)]
pub struct Sequence {
    /// Where the batch begins and ends in the frame.
    batch: (usize, usize),
    next: i32,
    by: i32,
}

// Places in a batch.
const CRC_AT: usize = 17;
const CHECKED_AT: usize = 21;
const PRODUCER_ID_AT: usize = 43;
const PRODUCER_EPOCH_AT: usize = 51;
const SEQUENCE_AT: usize = 53;
const COUNT_AT: usize = 57;
/// What stands behind the batch in the request of [`produce`].
const BEHIND_BATCH: usize = 3;

/// Between two fields of a fetch: isolation, session id and epoch, topics, topic, partitions, partition, leader epoch.
const FROM_ISOLATION_TO_OFFSET: usize = 1 + 4 + 4 + 1 + 16 + 1 + 4 + 4;
/// Position of the correlation id in a frame.
pub const CORRELATION_AT: usize = 8;
const CLIENT_ID: &[u8] = b"benches";

impl Frame {
    /// A request of these bytes behind its header.
    pub fn new(
        api: &'static str,
        key: i16,
        version: i16,
        flexible: bool,
        body: &[u8],
        code_at: usize,
    ) -> Frame {
        let mut header = Writer::default();
        header.i16(key).i16(version).i32(0).i16(7).raw(CLIENT_ID);
        if flexible {
            header.no_tags();
        }
        let length = header.bytes.len().saturating_add(body.len());
        let mut frame = Writer::default();
        frame.i32(length.try_into().unwrap_or(i32::MAX)).raw(&header.bytes).raw(body);
        Frame { bytes: frame.bytes, step: None, sequence: None, api, code_at, min_answer: code_at + 2 }
    }

    /// Makes the frame ready for one sending.
    pub fn prepare(&mut self, correlation: i32) {
        patch(&mut self.bytes, CORRELATION_AT, &correlation.to_be_bytes());
        if let Some(step) = &mut self.step {
            patch(&mut self.bytes, step.at, &step.next.to_be_bytes());
            step.next = step.next.saturating_add(step.by);
            if step.next >= step.wrap {
                step.next = 0;
            }
        }
        if let Some(sequence) = &mut self.sequence {
            let (from, to) = sequence.batch;
            patch(&mut self.bytes, from + SEQUENCE_AT, &sequence.next.to_be_bytes());
            let crc = crc32c::crc32c(self.bytes.get(from + CHECKED_AT..to).unwrap_or_default());
            patch(&mut self.bytes, from + CRC_AT, &crc.to_be_bytes());
            sequence.next = sequence.next.checked_add(sequence.by).unwrap_or(0);
        }
    }

    /// Puts another batch of the same size into a Produce.
    pub fn set_batch(&mut self, batch: &[u8]) {
        // Only the tags of partition, topic and request follow it.
        let at = self.bytes.len().saturating_sub(3 + batch.len());
        patch(&mut self.bytes, at, batch);
    }

    /// Looks at the beginning of an answer of `len` bytes.
    pub fn check(&self, head: &[u8], len: usize) -> Result<()> {
        match code_at(head, self.code_at)? {
            0 if len < self.min_answer => {
                Err(Error::Answer(format!("{} gave {len} bytes, {} expected", self.api, self.min_answer)))
            }
            0 => Ok(()),
            code => Err(Error::Refused { api: self.api, code }),
        }
    }
}

fn patch(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at.saturating_add(value.len())) {
        place.copy_from_slice(value);
    }
}

/// ApiVersions v0.
pub fn api_versions() -> Frame {
    Frame::new("ApiVersions", 18, 0, false, &[], 4)
}

/// CreateTopics v7 for one topic.
pub fn create_topic(name: &str, partitions: i32, configs: &[(&str, &str)]) -> Frame {
    let mut body = Writer::default();
    body.compact_len(1).compact_bytes(name.as_bytes()).i32(partitions).i16(1).compact_len(0);
    body.compact_len(configs.len());
    for (key, value) in configs {
        body.compact_bytes(key.as_bytes()).compact_bytes(value.as_bytes()).no_tags();
    }
    body.no_tags().i32(30_000).i8(0).no_tags();
    let code_at = 4 + 1 + 4 + 1 + 1 + name.len() + 16;
    Frame::new("CreateTopics", 19, 7, true, &body.bytes, code_at)
}

/// Where the answer to [`create_topic`] has the new topic's id.
pub fn created_id_at(name: &str) -> usize {
    4 + 1 + 4 + 1 + 1 + name.len()
}

/// DeleteTopics v6 for one topic by its name.
pub fn delete_topic(name: &str) -> Frame {
    let mut body = Writer::default();
    body.compact_len(1).compact_bytes(name.as_bytes()).raw(&[0; 16]).no_tags();
    body.i32(30_000).no_tags();
    let code_at = 4 + 1 + 4 + 1 + 1 + name.len() + 16;
    Frame::new("DeleteTopics", 20, 6, true, &body.bytes, code_at)
}

/// IncrementalAlterConfigs v1 of one setting of a topic.
pub fn alter_topic(name: &str, key: &str, value: &str) -> Frame {
    const TOPIC: i8 = 2;
    const SET: i8 = 0;
    let mut body = Writer::default();
    body.compact_len(1).i8(TOPIC).compact_bytes(name.as_bytes()).compact_len(1);
    body.compact_bytes(key.as_bytes()).i8(SET).compact_bytes(value.as_bytes()).no_tags();
    body.no_tags().i8(0).no_tags();
    Frame::new("IncrementalAlterConfigs", 44, 1, true, &body.bytes, 4 + 1 + 4 + 1)
}

/// Produce v13 of one batch to one partition.
pub fn produce(topic: TopicId, partition: i32, acks: i16, batch: &[u8]) -> Frame {
    let mut body = Writer::default();
    body.uvarint(0).i16(acks).i32(30_000);
    body.compact_len(1).raw(&topic).compact_len(1).i32(partition).compact_bytes(batch);
    body.no_tags().no_tags().no_tags();
    Frame::new("Produce", 0, 13, true, &body.bytes, 4 + 1 + 1 + 16 + 1 + 4)
}

/// FindCoordinator v1 of a transactional id; the first one makes the topic of transactions.
pub fn find_coordinator(id: &str) -> Frame {
    let mut body = Writer::default();
    body.i16(id.len().try_into().unwrap_or(i16::MAX)).raw(id.as_bytes()).i8(1);
    Frame::new("FindCoordinator", 10, 1, false, &body.bytes, 4 + 4)
}

/// InitProducerId v4; the answer has a [`producer_of`].
pub fn init_producer_id(id: &str) -> Frame {
    let mut body = Writer::default();
    body.compact_bytes(id.as_bytes()).i32(900_000).i64(-1).i16(-1).no_tags();
    Frame::new("InitProducerId", 22, 4, true, &body.bytes, 4 + 1 + 4)
}

/// AddPartitionsToTxn v3 of one partition.
pub fn add_partition(id: &str, producer: Producer, topic: &str, partition: i32) -> Frame {
    let mut body = Writer::default();
    body.compact_bytes(id.as_bytes()).i64(producer.id).i16(producer.epoch);
    body.compact_len(1).compact_bytes(topic.as_bytes()).compact_len(1).i32(partition).no_tags().no_tags();
    let code_at = 4 + 1 + 4 + 1 + 1 + topic.len() + 1 + 4;
    Frame::new("AddPartitionsToTxn", 24, 3, true, &body.bytes, code_at)
}

/// Produce v13 of a transaction's batches, one to each of the first partitions, which join it by themselves.
pub fn produce_in_transaction(topic: TopicId, id: &str, batches: &[Vec<u8>]) -> Frame {
    let mut body = Writer::default();
    body.compact_bytes(id.as_bytes())
        .i16(-1)
        .i32(30_000)
        .compact_len(1)
        .raw(&topic)
        .compact_len(batches.len());
    for (partition, batch) in (0..).zip(batches) {
        body.i32(partition).compact_bytes(batch).no_tags();
    }
    body.no_tags().no_tags();
    Frame::new("Produce", 0, 13, true, &body.bytes, 4 + 1 + 1 + 16 + 1 + 4)
}

/// EndTxn v5; the answer has the [`producer_of`] the next transaction.
pub fn end_transaction(id: &str, producer: Producer, commit: bool) -> Frame {
    let mut body = Writer::default();
    body.compact_bytes(id.as_bytes()).i64(producer.id).i16(producer.epoch).i8(commit.into()).no_tags();
    Frame::new("EndTxn", 26, 5, true, &body.bytes, 4 + 1 + 4)
}

/// The producer in an answer to InitProducerId or EndTxn.
pub fn producer_of(answer: &[u8]) -> Result<Producer> {
    let mut reader = Reader(answer);
    reader.take(4 + 1 + 4 + 2)?;
    Ok(Producer { id: i64::from_be_bytes(reader.array()?), epoch: reader.i16()? })
}

/// What a fetch asks for.
#[derive(Clone, Copy)]
pub struct Fetching {
    /// First offset wanted.
    pub offset: i64,
    /// Limit of the answer, in bytes; at least one batch comes.
    pub max_bytes: i32,
    /// How long the broker may wait for one byte, in ms.
    pub max_wait_ms: i32,
}

/// Fetch v13 of one partition without a fetch session.
pub fn fetch(topic: TopicId, partition: i32, fetching: Fetching) -> Frame {
    let Fetching { offset, max_bytes, max_wait_ms } = fetching;
    let mut body = Writer::default();
    body.i32(-1).i32(max_wait_ms).i32(1).i32(max_bytes).i8(0).i32(0).i32(-1);
    body.compact_len(1).raw(&topic).compact_len(1).i32(partition).i32(-1);
    let offset_in_body = body.bytes.len();
    body.i64(offset).i32(-1).i64(-1).i32(max_bytes).no_tags().no_tags();
    body.compact_len(0).compact_len(0).no_tags();
    let code_at = 4 + 1 + 4 + 2 + 4 + 1 + 16 + 1 + 4;
    let mut frame = Frame::new("Fetch", 1, 13, true, &body.bytes, code_at);
    let at = frame.bytes.len() - body.bytes.len() + offset_in_body;
    frame.step = Some(Step { at, next: offset, by: 0, wrap: i64::MAX });
    frame
}

impl Frame {
    /// Lets a fetch walk through the first `records` offsets in steps, again and again.
    pub fn walking(mut self, by: i64, records: i64) -> Frame {
        if let Some(step) = &mut self.step {
            step.by = by;
            step.wrap = records;
        }
        self
    }

    /// Makes the one batch of a [`produce`], of so many bytes, that of an idempotent producer.
    pub fn by_producer(mut self, id: i64, batch_bytes: usize) -> Frame {
        let to = self.bytes.len().saturating_sub(BEHIND_BATCH);
        let from = to.saturating_sub(batch_bytes);
        patch(&mut self.bytes, from + PRODUCER_ID_AT, &id.to_be_bytes());
        patch(&mut self.bytes, from + PRODUCER_EPOCH_AT, &0_i16.to_be_bytes());
        let count = self.bytes.get(from + COUNT_AT..).and_then(|rest| rest.first_chunk());
        let by = count.map_or(1, |count| i32::from_be_bytes(*count));
        self.sequence = Some(Sequence { batch: (from, to), next: 0, by });
        self
    }

    /// Lets a fetch read what is committed.
    pub fn committed(mut self) -> Frame {
        if let Some(step) = self.step {
            patch(&mut self.bytes, step.at.saturating_sub(FROM_ISOLATION_TO_OFFSET), &[1]);
        }
        self
    }

    /// An answer must have at least so many bytes.
    pub fn at_least(mut self, bytes: usize) -> Frame {
        self.min_answer = bytes;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preparing_patches_the_correlation_id_and_moves_the_offset_round() {
        let fetching = Fetching { offset: 0, max_bytes: 1024, max_wait_ms: 0 };
        let mut frame = fetch([7; 16], 0, fetching).walking(4, 8);
        let at = frame.step.unwrap().at;
        let mut offsets = Vec::new();
        for correlation in 1..=3 {
            frame.prepare(correlation);
            assert_eq!(frame.bytes[CORRELATION_AT..][..4], correlation.to_be_bytes());
            offsets.push(i64::from_be_bytes(frame.bytes[at..at + 8].try_into().unwrap()));
        }
        assert_eq!(offsets, [0, 4, 0]);
    }

    #[test]
    fn the_sequence_of_a_producer_moves_on_under_a_right_checksum() {
        let batch = super::super::batch::batch(super::super::batch::Filling { records: 3, value_bytes: 10 });
        let mut frame = produce([7; 16], 0, -1, &batch).by_producer(42, batch.len());
        let (from, to) = frame.sequence.unwrap().batch;
        for expected in [0, 3, 6] {
            frame.prepare(1);
            let view = barnabas_protocol::batch::BatchView::first(&frame.bytes[from..to]).unwrap().unwrap();
            view.check_crc().unwrap();
            assert_eq!(view.header().producer_id, 42);
            assert_eq!((view.header().producer_epoch, view.header().base_sequence), (0, expected));
        }
    }

    #[test]
    fn an_error_code_and_a_short_answer_are_noticed() {
        let frame = api_versions().at_least(10);
        assert!(frame.check(&[0, 0, 0, 1, 0, 0], 10).is_ok());
        assert!(matches!(frame.check(&[0, 0, 0, 1, 0, 35], 10), Err(Error::Refused { code: 35, .. })));
        assert!(matches!(frame.check(&[0, 0, 0, 1, 0, 0], 6), Err(Error::Answer(_))));
    }
}
