//! Produce (key 0), versions 3 to 13: the request as a view into its frame, the answer written straight out.
//!
//! Version 5 adds the log start offset to the answer, 8 the record errors (KIP-467), 9 is flexible, 10 tells the
//! current leader (KIP-951), 13 names topics by id (KIP-516).

use crate::Uuid;
use crate::cursor::{Cursor, put_length, put_text, put_uvarint};
use crate::hot::{LeaderIdAndEpoch, Malformed, NodeEndpoint, TopicRef, put_endpoints};
use std::borrow::Cow;

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
}

impl<'a> ProduceRequest<'a> {
    /// Proves the body's structure up to its last field; what follows is ignored, as Kafka ignores it.
    pub fn read(version: i16, body: &'a mut [u8]) -> Result<ProduceRequest<'a>, Malformed> {
        let shape = Shape { version };
        let fixed = shape.walk(body).ok_or(Malformed)?;
        let (head, topics) = body.split_at_mut_checked(fixed.topics_at).ok_or(Malformed)?;
        let mut head = Cursor(head);
        let transactional_id = head.text(shape.flexible()).ok_or(Malformed)?.map(String::from_utf8_lossy);
        Ok(ProduceRequest {
            transactional_id,
            acks: fixed.acks,
            timeout_ms: fixed.timeout_ms,
            topics: Topics { shape, left: fixed.topics, rest: topics },
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    version: i16,
}

struct Fixed {
    acks: i16,
    timeout_ms: i32,
    topics: usize,
    topics_at: usize,
}

impl Shape {
    fn flexible(self) -> bool {
        self.version >= FLEXIBLE
    }

    /// The scalars, once the whole body is known to be sound.
    fn walk(self, body: &[u8]) -> Option<Fixed> {
        let mut at = Cursor(body);
        at.text(self.flexible())?;
        let (acks, timeout_ms) = (at.i16()?, at.i32()?);
        let topics = at.count(self.flexible())?;
        let topics_at = body.len() - at.0.len();
        for _ in 0..topics {
            self.topic(&mut at)?;
            let partitions = at.count(self.flexible())?;
            self.skip_partitions(&mut at, partitions)?;
            at.skip_tags(self.flexible())?;
        }
        at.skip_tags(self.flexible())?;
        Some(Fixed { acks, timeout_ms, topics, topics_at })
    }

    fn topic<'a>(self, at: &mut Cursor<'a>) -> Option<TopicRef<'a>> {
        TopicRef::read(at, self.flexible(), self.version >= BY_ID)
    }

    fn skip_partitions(self, at: &mut Cursor<'_>, count: usize) -> Option<()> {
        for _ in 0..count {
            at.i32()?;
            if let Some(length) = at.length(self.flexible())? {
                at.take(length)?;
            }
            at.skip_tags(self.flexible())?;
        }
        Some(())
    }
}

/// The topics of a request, in order.
#[derive(Debug)]
pub struct Topics<'a> {
    shape: Shape,
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

impl<'a> Iterator for Topics<'a> {
    type Item = TopicData<'a>;

    fn next(&mut self) -> Option<TopicData<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (shape, rest) = (self.shape, std::mem::take(&mut self.rest));
        let mut at = Cursor(rest);
        shape.topic(&mut at)?;
        let count = at.count(shape.flexible())?;
        let head = rest.len() - at.0.len();
        let mut after = at;
        shape.skip_partitions(&mut after, count)?;
        let body = at.0.len() - after.0.len();
        after.skip_tags(shape.flexible())?;
        let tags = at.0.len() - body - after.0.len();

        let (head, rest) = rest.split_at_mut_checked(head)?;
        let (body, rest) = rest.split_at_mut_checked(body)?;
        self.rest = rest.get_mut(tags..)?;
        let topic = shape.topic(&mut Cursor(head))?;
        Some(TopicData { topic, partitions: Partitions { shape, left: count, rest: body } })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Topics<'_> {}

/// The partitions of a topic, in order.
#[derive(Debug)]
pub struct Partitions<'a> {
    shape: Shape,
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

impl<'a> Iterator for Partitions<'a> {
    type Item = PartitionData<'a>;

    fn next(&mut self) -> Option<PartitionData<'a>> {
        self.left = self.left.checked_sub(1)?;
        let rest = std::mem::take(&mut self.rest);
        let mut at = Cursor(rest);
        let index = at.i32()?;
        let length = at.length(self.shape.flexible())?;
        let head = rest.len() - at.0.len();
        let mut after = at;
        after.take(length.unwrap_or(0))?;
        let records_end = rest.len() - after.0.len();
        after.skip_tags(self.shape.flexible())?;
        let tags = rest.len() - records_end - after.0.len();

        let (_, rest) = rest.split_at_mut_checked(head)?;
        let (records, rest) = rest.split_at_mut_checked(length.unwrap_or(0))?;
        self.rest = rest.get_mut(tags..)?;
        Some(PartitionData { index, records: length.map(|_| records) })
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
    out: &'o mut Vec<u8>,
    version: i16,
    topics_left: usize,
    partitions_left: usize,
}

impl<'o> ProduceResponseWriter<'o> {
    /// Begins a body for `topics` topics behind what `out` holds.
    pub fn begin(out: &'o mut Vec<u8>, version: i16, topics: usize) -> ProduceResponseWriter<'o> {
        put_length(out, Some(topics), version >= FLEXIBLE);
        ProduceResponseWriter { out, version, topics_left: topics, partitions_left: 0 }
    }

    fn flexible(&self) -> bool {
        self.version >= FLEXIBLE
    }

    /// The next topic; `partitions` calls of [`Self::partition`] follow.
    pub fn topic(&mut self, name: &str, id: Uuid, partitions: usize) {
        debug_assert_eq!(self.partitions_left, 0, "the topic before is not complete");
        self.topics_left = self.topics_left.saturating_sub(1);
        self.partitions_left = partitions;
        if self.version >= BY_ID {
            self.out.extend_from_slice(&id.0);
        } else {
            put_text(self.out, Some(name), self.flexible());
        }
        put_length(self.out, Some(partitions), self.flexible());
        self.end_topic();
    }

    fn end_topic(&mut self) {
        if self.flexible() && self.partitions_left == 0 {
            self.out.push(0);
        }
    }

    /// The next partition of the topic.
    pub fn partition(&mut self, answer: &PartitionAnswer<'_>) {
        debug_assert_ne!(self.partitions_left, 0, "more partitions than announced");
        self.partitions_left = self.partitions_left.saturating_sub(1);
        let flexible = self.flexible();
        let out = &mut *self.out;
        out.extend_from_slice(&answer.index.to_be_bytes());
        out.extend_from_slice(&answer.error_code.to_be_bytes());
        out.extend_from_slice(&answer.base_offset.to_be_bytes());
        if self.version >= 2 {
            out.extend_from_slice(&answer.log_append_time_ms.to_be_bytes());
        }
        if self.version >= 5 {
            out.extend_from_slice(&answer.log_start_offset.to_be_bytes());
        }
        if self.version >= 8 {
            put_length(out, Some(answer.record_errors.len()), flexible);
            for (index, text) in answer.record_errors {
                out.extend_from_slice(&index.to_be_bytes());
                put_text(out, Some(text), flexible);
                if flexible {
                    out.push(0);
                }
            }
            put_text(out, answer.error_message, flexible);
        }
        if flexible {
            match answer.current_leader {
                Some(leader) if self.version >= 10 => {
                    put_uvarint(out, 1);
                    leader.put_tagged(out, 0);
                }
                _ => out.push(0),
            }
        }
        self.end_topic();
    }

    /// Ends the body. The endpoints are those of the leaders named in it (version 10 and above).
    pub fn finish(self, throttle_time_ms: i32, endpoints: &[NodeEndpoint<'_>]) {
        debug_assert_eq!((self.topics_left, self.partitions_left), (0, 0), "less than announced");
        if self.version >= 1 {
            self.out.extend_from_slice(&throttle_time_ms.to_be_bytes());
        }
        if self.flexible() {
            put_endpoints(self.out, if self.version >= 10 { endpoints } else { &[] });
        }
    }
}
