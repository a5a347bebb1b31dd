//! What the hot messages, Produce and Fetch, have in common.

use crate::{DecodeError, Reader, Uuid, Writer};
use std::borrow::Cow;

/// A reader of a body whose decoding takes no memory.
pub(crate) fn reader(bytes: &[u8], version: i16, first_flexible: i16) -> Reader<'_> {
    let mut reader = Reader::with_budget(bytes, version, 0);
    reader.set_flexible(version >= first_flexible);
    reader
}

/// The count of an array that may not be null, of elements of at least `min_size` bytes.
pub(crate) fn count(r: &mut Reader<'_>, min_size: usize) -> Result<usize, DecodeError> {
    r.count(min_size, 0)?.ok_or(DecodeError::NullNotAllowed)
}

/// A string that may not be null.
pub(crate) fn text<'a>(r: &mut Reader<'a>) -> Result<Cow<'a, str>, DecodeError> {
    nullable_text(r)?.ok_or(DecodeError::NullNotAllowed)
}

/// A string; `None` is null.
pub(crate) fn nullable_text<'a>(r: &mut Reader<'a>) -> Result<Option<Cow<'a, str>>, DecodeError> {
    r.string_length()?.map(|length| r.text(length)).transpose()
}

/// The end of a struct all of whose fields have been read.
pub(crate) fn skip_tags(r: &mut Reader<'_>) -> Result<(), DecodeError> {
    if r.flexible() { r.tagged_fields(&mut |_, _| Ok(false)) } else { Ok(()) }
}

pub(crate) fn i16(r: &mut Reader<'_>) -> Result<i16, DecodeError> {
    r.array().map(i16::from_be_bytes)
}

pub(crate) fn i32(r: &mut Reader<'_>) -> Result<i32, DecodeError> {
    r.array().map(i32::from_be_bytes)
}

pub(crate) fn i64(r: &mut Reader<'_>) -> Result<i64, DecodeError> {
    r.array().map(i64::from_be_bytes)
}

/// How a request names a topic: by name, or by id from some version on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicRef<'a> {
    /// By name; what is not UTF-8 is replaced, as Kafka does.
    Name(Cow<'a, str>),
    /// By id.
    Id(Uuid),
}

impl<'a> TopicRef<'a> {
    pub(crate) fn read(r: &mut Reader<'a>, by_id: bool) -> Result<TopicRef<'a>, DecodeError> {
        if by_id { r.array().map(|id| TopicRef::Id(Uuid(id))) } else { text(r).map(TopicRef::Name) }
    }

    /// The name, where it goes by name.
    pub fn name(&self) -> Option<&str> {
        match self {
            TopicRef::Name(name) => Some(name),
            TopicRef::Id(_) => None,
        }
    }
}

/// Who leads a partition (KIP-951).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaderIdAndEpoch {
    /// -1: nobody.
    pub leader_id: i32,
    /// Its epoch, or -1.
    pub leader_epoch: i32,
}

impl LeaderIdAndEpoch {
    pub(crate) fn put_tagged(self, w: &mut Writer<'_>, tag: u32) {
        w.tagged_field(tag, &mut |w| {
            w.put(&self.leader_id.to_be_bytes());
            w.put(&self.leader_epoch.to_be_bytes());
            w.unsigned_varint(0);
        });
    }
}

/// Where a leader named in an answer listens (KIP-951).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeEndpoint<'a> {
    /// The broker's id.
    pub node_id: i32,
    /// Its host on the listener of the request.
    pub host: &'a str,
    /// Its port.
    pub port: i32,
    /// Its rack, if it has one.
    pub rack: Option<&'a str>,
}

/// The name or the id, as the version has it.
fn put_topic(w: &mut Writer<'_>, name: &str, id: Uuid, by_id: bool) {
    if by_id { w.put(&id.0) } else { w.string(Some(name)) }
}

/// The heads of topics in both answers: an array of topics, in each an array of partitions, all announced by their
/// counts before they are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads {
    topics_left: usize,
    partitions_left: usize,
}

impl Heads {
    /// Announces the topics.
    pub(crate) fn begin(w: &mut Writer<'_>, topics: usize) -> Heads {
        w.length(Some(topics));
        Heads { topics_left: topics, partitions_left: 0 }
    }

    /// Begins a topic; so many partitions follow.
    pub(crate) fn topic(&mut self, w: &mut Writer<'_>, name: &str, id: Uuid, by_id: bool, partitions: usize) {
        debug_assert_eq!(self.partitions_left, 0, "the topic before is not complete");
        self.topics_left = self.topics_left.saturating_sub(1);
        self.partitions_left = partitions;
        put_topic(w, name, id, by_id);
        w.length(Some(partitions));
        self.end_topic(w);
    }

    /// Counts a partition, which is written next.
    pub(crate) fn partition(&mut self) {
        debug_assert_ne!(self.partitions_left, 0, "more partitions than announced");
        self.partitions_left = self.partitions_left.saturating_sub(1);
    }

    /// Behind a partition, and behind the head of a topic that has none.
    pub(crate) fn end_topic(&self, w: &mut Writer<'_>) {
        if w.flexible() && self.partitions_left == 0 {
            w.unsigned_varint(0);
        }
    }

    /// Behind the last topic.
    pub(crate) fn finish(&self) {
        debug_assert_eq!((self.topics_left, self.partitions_left), (0, 0), "less than announced");
    }
}

/// The tagged fields at the end of both answers: nothing, or the endpoints as tag 0.
pub(crate) fn put_endpoints(w: &mut Writer<'_>, endpoints: &[NodeEndpoint<'_>]) {
    if endpoints.is_empty() {
        w.unsigned_varint(0);
        return;
    }
    w.unsigned_varint(1);
    w.tagged_field(0, &mut |w| {
        w.length(Some(endpoints.len()));
        for endpoint in endpoints {
            w.put(&endpoint.node_id.to_be_bytes());
            w.string(Some(endpoint.host));
            w.put(&endpoint.port.to_be_bytes());
            w.string(endpoint.rack);
            w.unsigned_varint(0);
        }
    });
}
