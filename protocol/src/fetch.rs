//! Fetch (key 1), versions 4 to 18: the request as a view into its frame, the answer with gaps for record bytes.
//!
//! Version 5 adds log start offsets, 7 sessions, 9 leader epochs, 11 racks and the preferred replica, 12 is flexible
//! and tells of divergence, 13 names topics by id, 15 moves the replica into a tag, 16 adds endpoints (KIP-951),
//! 17 directory ids, 18 the follower's high watermark (KIP-1166).

use crate::hot::{Heads, count, i32, i64, nullable_text, put_endpoints, reader, skip_tags, text};
use crate::hot::{LeaderIdAndEpoch, NodeEndpoint, TopicRef};
use crate::{DecodeError, Reader, Uuid, Writer};
use std::borrow::Cow;

/// The first flexible version.
const FLEXIBLE: i16 = 12;
/// The first version that names topics by id.
const BY_ID: i16 = 13;

/// A Fetch request.
#[derive(Clone, Debug)]
pub struct FetchRequest<'a> {
    /// The cluster that a controller believes to be in.
    pub cluster_id: Option<Cow<'a, str>>,
    /// The follower, or -1 for a consumer.
    pub replica_id: i32,
    /// The follower's broker epoch, or -1.
    pub replica_epoch: i64,
    /// How long to wait for `min_bytes`, ms.
    pub max_wait_ms: i32,
    /// Answer as soon as there is so much.
    pub min_bytes: i32,
    /// Answer with no more than this, if the first batch does not exceed it.
    pub max_bytes: i32,
    /// 0: read uncommitted, 1: read committed; unchecked.
    pub isolation_level: i8,
    /// The fetch session, 0 for none.
    pub session_id: i32,
    /// Its epoch: 0 opens one, -1 closes it.
    pub session_epoch: i32,
    /// What to read; in a session, what has changed.
    pub topics: FetchTopics<'a>,
    /// What to leave out of the session from now on.
    pub forgotten: ForgottenTopics<'a>,
    /// Where the consumer is, empty if it does not say.
    pub rack_id: Cow<'a, str>,
}

/// What to read of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchPartition {
    /// The partition's number, unchecked.
    pub partition: i32,
    /// Who the client believes to lead, or -1.
    pub current_leader_epoch: i32,
    /// From where.
    pub fetch_offset: i64,
    /// Epoch of the follower's last batch, or -1.
    pub last_fetched_epoch: i32,
    /// The follower's log start, or -1.
    pub log_start_offset: i64,
    /// No more than this of this partition.
    pub partition_max_bytes: i32,
    /// The follower's log directory, or zero.
    pub replica_directory_id: Uuid,
    /// The follower's high watermark, `i64::MAX` if it does not say.
    pub high_watermark: i64,
}

impl<'a> FetchRequest<'a> {
    /// Proves the body's structure; what follows is ignored, as Kafka ignores it.
    pub fn read(version: i16, body: &'a [u8]) -> Result<FetchRequest<'a>, DecodeError> {
        let r = &mut reader(body, version, FLEXIBLE);
        let mut request = FetchRequest {
            cluster_id: None,
            replica_id: if version >= 15 { -1 } else { i32(r)? },
            replica_epoch: -1,
            max_wait_ms: i32(r)?,
            min_bytes: i32(r)?,
            max_bytes: i32(r)?,
            isolation_level: r.array().map(i8::from_be_bytes)?,
            session_id: if version >= 7 { i32(r)? } else { 0 },
            session_epoch: if version >= 7 { i32(r)? } else { -1 },
            topics: read_topics(r)?,
            forgotten: ForgottenTopics { left: 0, r: reader(&[], version, FLEXIBLE) },
            rack_id: Cow::Borrowed(""),
        };
        if version >= 7 {
            request.forgotten = read_forgotten(r)?;
        }
        if version >= 11 {
            request.rack_id = text(r)?;
        }
        if r.flexible() {
            request.read_tags(r)?;
        }
        Ok(request)
    }

    fn read_tags(&mut self, r: &mut Reader<'a>) -> Result<(), DecodeError> {
        r.tagged_fields(&mut |tag, r| {
            match tag {
                0 => self.cluster_id = nullable_text(r)?,
                1 => {
                    since(15, tag, r)?;
                    self.replica_id = i32(r)?;
                    self.replica_epoch = i64(r)?;
                    skip_tags(r)?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })
    }
}

/// Kafka hangs up on a tag that a later version has.
fn since(version: i16, tag: u32, r: &Reader<'_>) -> Result<(), DecodeError> {
    if r.version() >= version {
        return Ok(());
    }
    Err(DecodeError::InvalidTag { tag, version: r.version() })
}

fn read_topic<'a>(r: &mut Reader<'a>) -> Result<TopicRef<'a>, DecodeError> {
    TopicRef::read(r, r.version() >= BY_ID)
}

fn read_topics<'a>(r: &mut Reader<'a>) -> Result<FetchTopics<'a>, DecodeError> {
    let left = count(r, 1)?;
    let topics = FetchTopics { left, r: r.clone() };
    for _ in 0..left {
        read_topic(r)?;
        skip_partitions(r)?;
    }
    Ok(topics)
}

/// The rest of a topic.
fn skip_partitions(r: &mut Reader<'_>) -> Result<(), DecodeError> {
    for _ in 0..count(r, 1)? {
        read_partition(r)?;
    }
    skip_tags(r)
}

fn read_partition(r: &mut Reader<'_>) -> Result<FetchPartition, DecodeError> {
    let version = r.version();
    let mut partition = FetchPartition {
        partition: i32(r)?,
        current_leader_epoch: if version >= 9 { i32(r)? } else { -1 },
        fetch_offset: i64(r)?,
        last_fetched_epoch: if version >= 12 { i32(r)? } else { -1 },
        log_start_offset: if version >= 5 { i64(r)? } else { -1 },
        partition_max_bytes: i32(r)?,
        replica_directory_id: Uuid::ZERO,
        high_watermark: i64::MAX,
    };
    if r.flexible() {
        r.tagged_fields(&mut |tag, r| {
            match tag {
                0 => {
                    since(17, tag, r)?;
                    partition.replica_directory_id = Uuid(r.array()?);
                }
                1 => {
                    since(18, tag, r)?;
                    partition.high_watermark = i64(r)?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
    }
    Ok(partition)
}

fn read_forgotten<'a>(r: &mut Reader<'a>) -> Result<ForgottenTopics<'a>, DecodeError> {
    let left = count(r, 1)?;
    let topics = ForgottenTopics { left, r: r.clone() };
    for _ in 0..left {
        read_forgotten_topic(r)?;
    }
    Ok(topics)
}

fn read_forgotten_topic<'a>(r: &mut Reader<'a>) -> Result<ForgottenTopic<'a>, DecodeError> {
    let topic = read_topic(r)?;
    let count = count(r, 4)?;
    let partitions = r.take(count.saturating_mul(4))?;
    skip_tags(r)?;
    Ok(ForgottenTopic { topic, partitions })
}

/// The topics of a request, in order.
#[derive(Clone, Debug)]
pub struct FetchTopics<'a> {
    left: usize,
    r: Reader<'a>,
}

/// One topic and what to read of it.
#[derive(Clone, Debug)]
pub struct FetchTopic<'a> {
    /// Name below version 13, id from there on.
    pub topic: TopicRef<'a>,
    /// Its partitions.
    pub partitions: FetchPartitions<'a>,
}

impl<'a> FetchTopics<'a> {
    fn advance(&mut self) -> Result<FetchTopic<'a>, DecodeError> {
        let topic = read_topic(&mut self.r)?;
        let mut r = self.r.clone();
        let left = count(&mut r, 1)?;
        skip_partitions(&mut self.r)?;
        Ok(FetchTopic { topic, partitions: FetchPartitions { left, r } })
    }
}

impl<'a> Iterator for FetchTopics<'a> {
    type Item = FetchTopic<'a>;

    fn next(&mut self) -> Option<FetchTopic<'a>> {
        self.left = self.left.checked_sub(1)?;
        self.advance().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for FetchTopics<'_> {}

/// The partitions of a topic, in order.
#[derive(Clone, Debug)]
pub struct FetchPartitions<'a> {
    left: usize,
    r: Reader<'a>,
}

impl Iterator for FetchPartitions<'_> {
    type Item = FetchPartition;

    fn next(&mut self) -> Option<FetchPartition> {
        self.left = self.left.checked_sub(1)?;
        read_partition(&mut self.r).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for FetchPartitions<'_> {}

/// The topics to leave out of a session.
#[derive(Clone, Debug)]
pub struct ForgottenTopics<'a> {
    left: usize,
    r: Reader<'a>,
}

/// One topic and the partitions of it to leave out.
#[derive(Clone, Debug)]
pub struct ForgottenTopic<'a> {
    /// Name below version 13, id from there on.
    pub topic: TopicRef<'a>,
    partitions: &'a [u8],
}

impl<'a> ForgottenTopic<'a> {
    /// The partitions' numbers.
    pub fn partitions(&self) -> impl ExactSizeIterator<Item = i32> + use<'a> {
        let (numbers, _) = self.partitions.as_chunks::<4>();
        numbers.iter().map(|number| i32::from_be_bytes(*number))
    }
}

impl<'a> Iterator for ForgottenTopics<'a> {
    type Item = ForgottenTopic<'a>;

    fn next(&mut self) -> Option<ForgottenTopic<'a>> {
        self.left = self.left.checked_sub(1)?;
        read_forgotten_topic(&mut self.r).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for ForgottenTopics<'_> {}

/// A transaction whose records a consumer must leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortedTransaction {
    /// Whose.
    pub producer_id: i64,
    /// Of its first record.
    pub first_offset: i64,
}

/// An epoch and an offset: where logs part, or a snapshot's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochAndOffset {
    /// The leader epoch.
    pub epoch: i32,
    /// The offset after it.
    pub end_offset: i64,
}

/// The answer for one partition, without its records.
#[derive(Clone, Copy, Debug)]
pub struct PartitionAnswer<'a> {
    /// The partition's number.
    pub partition: i32,
    /// Kafka's error code.
    pub error_code: i16,
    /// Up to where records are committed.
    pub high_watermark: i64,
    /// Up to where transactions are decided, or -1.
    pub last_stable_offset: i64,
    /// The log's first offset, or -1.
    pub log_start_offset: i64,
    /// For read committed; `None` is null.
    pub aborted_transactions: Option<&'a [AbortedTransaction]>,
    /// Where the consumer should rather read, or -1.
    pub preferred_read_replica: i32,
    /// To where the follower must truncate.
    pub diverging_epoch: Option<EpochAndOffset>,
    /// Who leads, if it is not us.
    pub current_leader: Option<LeaderIdAndEpoch>,
    /// Which snapshot to fetch first.
    pub snapshot_id: Option<EpochAndOffset>,
}

impl PartitionAnswer<'_> {
    /// An error without offsets.
    pub fn refused(partition: i32, error_code: i16) -> PartitionAnswer<'static> {
        PartitionAnswer {
            partition,
            error_code,
            high_watermark: -1,
            last_stable_offset: -1,
            log_start_offset: -1,
            aborted_transactions: None,
            preferred_read_replica: -1,
            diverging_epoch: None,
            current_leader: None,
            snapshot_id: None,
        }
    }
}

/// Writes a Fetch response's body; record bytes need not pass through it.
#[derive(Debug)]
pub struct FetchResponseWriter<'o> {
    w: Writer<'o>,
    heads: Heads,
}

impl<'o> FetchResponseWriter<'o> {
    /// Begins a body for `topics` topics behind what `out` holds.
    pub fn begin(
        out: &'o mut Vec<u8>,
        version: i16,
        throttle_time_ms: i32,
        error_code: i16,
        session_id: i32,
        topics: usize,
    ) -> FetchResponseWriter<'o> {
        let mut w = Writer::new(out, version);
        w.set_flexible(version >= FLEXIBLE);
        w.put(&throttle_time_ms.to_be_bytes());
        if version >= 7 {
            w.put(&error_code.to_be_bytes());
            w.put(&session_id.to_be_bytes());
        }
        FetchResponseWriter { heads: Heads::begin(&mut w, topics), w }
    }

    /// The next topic; `partitions` calls of [`Self::partition`] follow.
    pub fn topic(&mut self, name: &str, id: Uuid, partitions: usize) {
        let by_id = self.w.version() >= BY_ID;
        self.heads.topic(&mut self.w, name, id, by_id, partitions);
    }

    /// The next partition of the topic, with `record_bytes` bytes of records (0 is empty, not null).
    ///
    /// `records` is called with the bytes so far: it appends the records, or remembers that they are to be sent
    /// after these bytes and before the next.
    pub fn partition(
        &mut self,
        answer: &PartitionAnswer<'_>,
        record_bytes: usize,
        records: impl FnOnce(&mut Vec<u8>),
    ) {
        self.heads.partition();
        let w = &mut self.w;
        let version = w.version();
        w.put(&answer.partition.to_be_bytes());
        w.put(&answer.error_code.to_be_bytes());
        w.put(&answer.high_watermark.to_be_bytes());
        w.put(&answer.last_stable_offset.to_be_bytes());
        if version >= 5 {
            w.put(&answer.log_start_offset.to_be_bytes());
        }
        w.length(answer.aborted_transactions.map(<[_]>::len));
        for aborted in answer.aborted_transactions.unwrap_or_default() {
            w.put(&aborted.producer_id.to_be_bytes());
            w.put(&aborted.first_offset.to_be_bytes());
            if w.flexible() {
                w.unsigned_varint(0);
            }
        }
        if version >= 11 {
            w.put(&answer.preferred_read_replica.to_be_bytes());
        }
        w.length(Some(record_bytes));
        records(w.buffer());
        if w.flexible() {
            put_partition_tags(w, answer);
        }
        self.heads.end_topic(&mut self.w);
    }

    /// Ends the body. The endpoints are those of the leaders named in it (version 16 and above).
    pub fn finish(mut self, endpoints: &[NodeEndpoint<'_>]) {
        self.heads.finish();
        if self.w.flexible() {
            let endpoints = if self.w.version() >= 16 { endpoints } else { &[] };
            put_endpoints(&mut self.w, endpoints);
        }
    }
}

fn put_partition_tags(w: &mut Writer<'_>, answer: &PartitionAnswer<'_>) {
    let (diverging, leader, snapshot) = (answer.diverging_epoch, answer.current_leader, answer.snapshot_id);
    let present = [diverging.is_some(), leader.is_some(), snapshot.is_some()];
    w.unsigned_varint(present.into_iter().map(u32::from).sum());
    if let Some(diverging) = diverging {
        w.tagged_field(0, &mut |w| {
            w.put(&diverging.epoch.to_be_bytes());
            w.put(&diverging.end_offset.to_be_bytes());
            w.unsigned_varint(0);
        });
    }
    if let Some(leader) = leader {
        leader.put_tagged(w, 1);
    }
    if let Some(snapshot) = snapshot {
        w.tagged_field(2, &mut |w| {
            w.put(&snapshot.end_offset.to_be_bytes());
            w.put(&snapshot.epoch.to_be_bytes());
            w.unsigned_varint(0);
        });
    }
}

#[cfg(test)]
mod fetch_test;
