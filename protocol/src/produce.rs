//! Produce (key 0), versions 3 to 13: the request as a view into its frame, the answer written straight out.
//!
//! Version 5 adds the log start offset to the answer, 8 the record errors (KIP-467), 9 is flexible, 10 tells the
//! current leader (KIP-951), 13 names topics by id (KIP-516).

use crate::codec::DECODED_SIZE_LIMIT;
use crate::hot::{Heads, count, i16, i32, nullable_text, put_endpoints, reader, skip_tags};
use crate::hot::{LeaderIdAndEpoch, NodeEndpoint, TopicRef};
use crate::messages::produce::TopicProduceData;
use crate::messages::{self, Message};
use crate::{DecodeError, Reader, Uuid, Writer};
use std::borrow::Cow;
use std::collections::HashMap;

/// The first flexible version.
const FLEXIBLE: i16 = 9;
/// The first version that names topics by id.
const BY_ID: i16 = 13;

/// A Produce request whose record bytes lie in the frame and may be patched there.
#[derive(Debug)]
pub struct ProduceRequest<'a> {
    /// Of the transactional producer, if it is one.
    pub transactional_id: Option<Cow<'a, str>>,
    /// -1, 0 or 1; what the client sent, unchecked.
    pub acks: i16,
    /// How long to wait for the other replicas, ms.
    pub timeout_ms: i32,
    /// What to append.
    pub topics: Topics<'a>,
    /// Topics with a partition: the others are not answered.
    pub topics_with_partitions: usize,
    /// There is more than one topic, or a topic with more than one partition: see [`without_repeats`].
    pub names_many: bool,
}

impl<'a> ProduceRequest<'a> {
    /// Proves the body's structure up to its last field; what follows is ignored, as Kafka ignores it.
    pub fn read(version: i16, body: &'a mut [u8]) -> Result<ProduceRequest<'a>, DecodeError> {
        ProduceRequest::read_looking(version, body, &mut |_| {})
    }

    /// As [`ProduceRequest::read`], showing `see` every partition's records on the way.
    pub fn read_looking(
        version: i16,
        body: &'a mut [u8],
        see: &mut dyn FnMut(&[u8]),
    ) -> Result<ProduceRequest<'a>, DecodeError> {
        let length = body.len();
        let mut r = reader(body, version, FLEXIBLE);
        nullable_text(&mut r)?;
        let (acks, timeout_ms) = (i16(&mut r)?, i32(&mut r)?);
        let topics = count(&mut r, 1)?;
        let topics_at = length.saturating_sub(r.rest().len());
        let mut names_many = topics > 1;
        let mut topics_with_partitions = 0_usize;
        for _ in 0..topics {
            read_topic(&mut r)?;
            let partitions = count(&mut r, 1)?;
            names_many |= partitions > 1;
            topics_with_partitions += usize::from(partitions > 0);
            skip_partitions(&mut r, partitions, see)?;
            skip_tags(&mut r)?;
        }
        skip_tags(&mut r)?;

        let (head, rest) = body.split_at_mut(topics_at.min(length));
        let transactional_id = nullable_text(&mut reader(head, version, FLEXIBLE))?;
        let topics = Topics { version, left: topics, rest };
        Ok(ProduceRequest { transactional_id, acks, timeout_ms, topics, topics_with_partitions, names_many })
    }
}

/// The request with every topic and every partition once, if it names one twice: of a partition's records the last
/// are taken, as in Kafka. `scratch` is a buffer to work in.
///
/// # Errors
/// The body does not follow its schema, or would take several times its size in memory.
pub fn without_repeats(
    version: i16,
    body: &[u8],
    scratch: &mut Vec<u64>,
) -> Result<Option<Vec<u8>>, DecodeError> {
    scratch.clear();
    fingerprints(version, body, scratch)?;
    scratch.sort_unstable();
    if !scratch.windows(2).any(|pair| matches!(pair, [one, other] if one == other)) {
        return Ok(None);
    }
    let budget = body.len().saturating_mul(2).saturating_add(DECODED_SIZE_LIMIT);
    let request = messages::ProduceRequest::decode(&mut Reader::with_budget(body, version, budget))?;
    let merged = messages::ProduceRequest { topic_data: merged(request.topic_data), ..request };
    let mut bytes = Vec::with_capacity(body.len());
    merged.encode(&mut Writer::new(&mut bytes, version));
    Ok(Some(bytes))
}

/// A number for each topic and each partition of the request; equal ones are probably the same.
fn fingerprints(version: i16, body: &[u8], found: &mut Vec<u64>) -> Result<(), DecodeError> {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let mut r = reader(body, version, FLEXIBLE);
    nullable_text(&mut r)?;
    i16(&mut r)?;
    i32(&mut r)?;
    for _ in 0..count(&mut r, 1)? {
        let topic = match read_topic(&mut r)? {
            TopicRef::Name(name) => name.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix),
            TopicRef::Id(id) => id.0.iter().fold(0xcbf2_9ce4_8422_2325, mix),
        };
        found.push(topic);
        for _ in 0..count(&mut r, 1)? {
            found.push(i32(&mut r)?.to_be_bytes().iter().fold(topic, mix));
            let length = r.bytes_length()?;
            r.take(length.unwrap_or(0))?;
            skip_tags(&mut r)?;
        }
        skip_tags(&mut r)?;
    }
    Ok(())
}

fn merged(topics: Vec<TopicProduceData>) -> Vec<TopicProduceData> {
    let mut places = HashMap::new();
    let mut partitions: Vec<HashMap<i32, usize>> = Vec::new();
    let mut merged: Vec<TopicProduceData> = Vec::new();
    for topic in topics {
        let at = *places.entry((topic.name.clone(), topic.topic_id)).or_insert(merged.len());
        if at == merged.len() {
            let (name, topic_id) = (topic.name, topic.topic_id);
            merged.push(TopicProduceData { name, topic_id, partition_data: Vec::new() });
            partitions.push(HashMap::new());
        }
        let (Some(into), Some(seen)) = (merged.get_mut(at), partitions.get_mut(at)) else { continue };
        for data in topic.partition_data {
            let at = *seen.entry(data.index).or_insert(into.partition_data.len());
            match into.partition_data.get_mut(at) {
                Some(known) => *known = data,
                None => into.partition_data.push(data),
            }
        }
    }
    merged
}

fn read_topic<'a>(r: &mut Reader<'a>) -> Result<TopicRef<'a>, DecodeError> {
    TopicRef::read(r, r.version() >= BY_ID)
}

fn skip_partitions(r: &mut Reader<'_>, count: usize, see: &mut dyn FnMut(&[u8])) -> Result<(), DecodeError> {
    for _ in 0..count {
        i32(r)?;
        let length = r.bytes_length()?;
        see(r.take(length.unwrap_or(0))?);
        skip_tags(r)?;
    }
    Ok(())
}

/// The topics of a request, in order.
#[derive(Debug)]
pub struct Topics<'a> {
    version: i16,
    left: usize,
    rest: &'a mut [u8],
}

/// One topic and what to append to it.
#[derive(Debug)]
pub struct TopicData<'a> {
    /// Name below version 13, id from there on.
    pub topic: TopicRef<'a>,
    /// Its partitions.
    pub partitions: Partitions<'a>,
}

impl<'a> Topics<'a> {
    fn advance(&mut self) -> Result<TopicData<'a>, DecodeError> {
        let (version, rest) = (self.version, std::mem::take(&mut self.rest));
        let mut r = reader(rest, version, FLEXIBLE);
        read_topic(&mut r)?;
        let left = count(&mut r, 1)?;
        let from = rest.len().saturating_sub(r.rest().len());
        skip_partitions(&mut r, left, &mut |_| {})?;
        let to = rest.len().saturating_sub(r.rest().len());
        skip_tags(&mut r)?;
        let end = rest.len().saturating_sub(r.rest().len());

        let (topic, rest) = rest.split_at_mut(end);
        self.rest = rest;
        let (head, partitions) = topic.split_at_mut(from);
        let partitions = partitions.get_mut(..to.saturating_sub(from)).unwrap_or_default();
        let topic = read_topic(&mut reader(head, version, FLEXIBLE))?;
        Ok(TopicData { topic, partitions: Partitions { version, left, rest: partitions } })
    }
}

impl<'a> Iterator for Topics<'a> {
    type Item = TopicData<'a>;

    fn next(&mut self) -> Option<TopicData<'a>> {
        self.left = self.left.checked_sub(1)?;
        self.advance().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Topics<'_> {}

/// The partitions of a topic, in order.
#[derive(Debug)]
pub struct Partitions<'a> {
    version: i16,
    left: usize,
    rest: &'a mut [u8],
}

/// What to append to one partition.
#[derive(Debug)]
pub struct PartitionData<'a> {
    /// The partition's number, unchecked.
    pub index: i32,
    /// The bytes that should be one batch; `None` is null.
    pub records: Option<&'a mut [u8]>,
}

impl<'a> Partitions<'a> {
    fn advance(&mut self) -> Result<PartitionData<'a>, DecodeError> {
        let rest = std::mem::take(&mut self.rest);
        let mut r = reader(rest, self.version, FLEXIBLE);
        let index = i32(&mut r)?;
        let length = r.bytes_length()?;
        let from = rest.len().saturating_sub(r.rest().len());
        r.take(length.unwrap_or(0))?;
        skip_tags(&mut r)?;
        let end = rest.len().saturating_sub(r.rest().len());

        let (partition, rest) = rest.split_at_mut(end);
        self.rest = rest;
        let records = partition.get_mut(from..).unwrap_or_default();
        let records = length.and_then(|length| records.get_mut(..length));
        Ok(PartitionData { index, records })
    }
}

impl<'a> Iterator for Partitions<'a> {
    type Item = PartitionData<'a>;

    fn next(&mut self) -> Option<PartitionData<'a>> {
        self.left = self.left.checked_sub(1)?;
        self.advance().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Partitions<'_> {}

/// The answer for one partition.
#[derive(Clone, Copy, Debug)]
pub struct PartitionAnswer<'a> {
    /// The partition's number.
    pub index: i32,
    /// Kafka's error code.
    pub error_code: i16,
    /// Offset of the first record appended, or -1.
    pub base_offset: i64,
    /// The append time in ms where the topic has it, else -1.
    pub log_append_time_ms: i64,
    /// The log's first offset, or -1.
    pub log_start_offset: i64,
    /// Records that were refused: position in the batch and text.
    pub record_errors: &'a [(i32, String)],
    /// Text for the whole batch.
    pub error_message: Option<&'a str>,
    /// Who leads now, if it is not us.
    pub current_leader: Option<LeaderIdAndEpoch>,
}

impl PartitionAnswer<'_> {
    /// A refusal without offsets or texts.
    pub fn refused(index: i32, error_code: i16) -> PartitionAnswer<'static> {
        PartitionAnswer {
            index,
            error_code,
            base_offset: -1,
            log_append_time_ms: -1,
            log_start_offset: -1,
            record_errors: &[],
            error_message: None,
            current_leader: None,
        }
    }
}

/// Writes a Produce response's body, field after field, in the order of the calls.
#[derive(Debug)]
pub struct ProduceResponseWriter<'o> {
    w: Writer<'o>,
    heads: Heads,
}

/// Where a [`ProduceResponseWriter`] stopped.
#[derive(Clone, Copy, Debug)]
pub struct PausedAnswer(Heads);

/// Turns a written answer that grants an append, at `start` of `body`, into a refusal.
pub fn refuse_written(body: &mut [u8], start: usize, version: i16, error_code: i16) {
    let offsets = if version >= 5 { 3 } else { 2 };
    let (_, fields) = body.split_at_mut_checked(start.saturating_add(4)).unwrap_or_default();
    if let Some((code, rest)) = fields.split_first_chunk_mut::<2>() {
        *code = error_code.to_be_bytes();
        rest.iter_mut().take(offsets * 8).for_each(|byte| *byte = 0xff);
    }
}

impl<'o> ProduceResponseWriter<'o> {
    /// Begins a body for `topics` topics behind what `out` holds.
    pub fn begin(out: &'o mut Vec<u8>, version: i16, topics: usize) -> ProduceResponseWriter<'o> {
        let mut w = Writer::new(out, version);
        w.set_flexible(version >= FLEXIBLE);
        ProduceResponseWriter { heads: Heads::begin(&mut w, topics), w }
    }

    /// Stops between two partitions: what was written may be put in front of the rest later.
    pub fn pause(self) -> PausedAnswer {
        PausedAnswer(self.heads)
    }

    /// Goes on behind what was written before the pause, which `out` ends with.
    pub fn resume(out: &'o mut Vec<u8>, version: i16, paused: PausedAnswer) -> ProduceResponseWriter<'o> {
        let mut w = Writer::new(out, version);
        w.set_flexible(version >= FLEXIBLE);
        ProduceResponseWriter { heads: paused.0, w }
    }

    /// The next topic; `partitions` calls of [`Self::partition`] follow.
    pub fn topic(&mut self, name: &str, id: Uuid, partitions: usize) {
        let by_id = self.w.version() >= BY_ID;
        self.heads.topic(&mut self.w, name, id, by_id, partitions);
    }

    /// The next partition of the topic; where its answer begins, from the start of the body's buffer.
    pub fn partition(&mut self, answer: &PartitionAnswer<'_>) -> usize {
        self.heads.partition();
        let w = &mut self.w;
        let version = w.version();
        let start = w.buffer().len();
        w.put(&answer.index.to_be_bytes());
        w.put(&answer.error_code.to_be_bytes());
        w.put(&answer.base_offset.to_be_bytes());
        w.put(&answer.log_append_time_ms.to_be_bytes());
        if version >= 5 {
            w.put(&answer.log_start_offset.to_be_bytes());
        }
        if version >= 8 {
            put_record_errors(w, answer.record_errors);
            w.string(answer.error_message);
        }
        if w.flexible() {
            let leader = answer.current_leader.filter(|_| version >= 10);
            w.unsigned_varint(u32::from(leader.is_some()));
            if let Some(leader) = leader {
                leader.put_tagged(w, 0);
            }
        }
        self.heads.end_topic(&mut self.w);
        start
    }

    /// Ends the body. The endpoints are those of the leaders named in it (version 10 and above).
    pub fn finish(mut self, throttle_time_ms: i32, endpoints: &[NodeEndpoint<'_>]) {
        self.heads.finish();
        self.w.put(&throttle_time_ms.to_be_bytes());
        if self.w.flexible() {
            let endpoints = if self.w.version() >= 10 { endpoints } else { &[] };
            put_endpoints(&mut self.w, endpoints);
        }
    }
}

fn put_record_errors(w: &mut Writer<'_>, errors: &[(i32, String)]) {
    w.length(Some(errors.len()));
    for (index, text) in errors {
        w.put(&index.to_be_bytes());
        w.string(Some(text));
        if w.flexible() {
            w.unsigned_varint(0);
        }
    }
}

#[cfg(test)]
mod produce_test;
