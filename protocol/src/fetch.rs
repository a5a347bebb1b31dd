//! Fetch (key 1), versions 4 to 18: the request as a view into its frame, the answer with gaps for record bytes.
//!
//! Version 5 adds log start offsets, 7 sessions, 9 leader epochs, 11 racks and the preferred replica, 12 is flexible
//! and tells of divergence, 13 names topics by id, 15 moves the replica into a tag, 16 adds endpoints (KIP-951),
//! 17 directory ids, 18 the follower's high watermark (KIP-1166).

use crate::Uuid;
use crate::cursor::{Cursor, put_length, put_text, put_uvarint};
use crate::hot::{LeaderIdAndEpoch, Malformed, NodeEndpoint, TopicRef, put_endpoints};
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

#[derive(Clone, Copy, Debug)]
struct Shape {
    version: i16,
}

impl<'a> FetchRequest<'a> {
    /// Proves the body's structure; what follows is ignored, as Kafka ignores it.
    pub fn read(version: i16, body: &'a [u8]) -> Result<FetchRequest<'a>, Malformed> {
        Shape { version }.request(&mut Cursor(body)).ok_or(Malformed)
    }
}

impl Shape {
    fn flexible(self) -> bool {
        self.version >= FLEXIBLE
    }

    fn since(self, version: i16) -> bool {
        self.version >= version
    }

    fn topic<'a>(self, at: &mut Cursor<'a>) -> Option<TopicRef<'a>> {
        TopicRef::read(at, self.flexible(), self.since(BY_ID))
    }

    fn request<'a>(self, at: &mut Cursor<'a>) -> Option<FetchRequest<'a>> {
        let mut request = FetchRequest {
            cluster_id: None,
            replica_id: if self.since(15) { -1 } else { at.i32()? },
            replica_epoch: -1,
            max_wait_ms: at.i32()?,
            min_bytes: at.i32()?,
            max_bytes: at.i32()?,
            isolation_level: at.i8()?,
            session_id: if self.since(7) { at.i32()? } else { 0 },
            session_epoch: if self.since(7) { at.i32()? } else { -1 },
            topics: self.topics(at)?,
            forgotten: ForgottenTopics { shape: self, left: 0, at: Cursor(&[]) },
            rack_id: Cow::Borrowed(""),
        };
        if self.since(7) {
            request.forgotten = self.forgotten(at)?;
        }
        if self.since(11) {
            request.rack_id = String::from_utf8_lossy(at.text(self.flexible())??);
        }
        if self.flexible() {
            at.tags(|tag, mut field| {
                match tag {
                    0 => request.cluster_id = field.text(true)?.map(String::from_utf8_lossy),
                    1 if self.since(15) => {
                        request.replica_id = field.i32()?;
                        request.replica_epoch = field.i64()?;
                        field.skip_tags(true)?;
                    }
                    _ => {}
                }
                Some(())
            })?;
        }
        Some(request)
    }

    fn topics<'a>(self, at: &mut Cursor<'a>) -> Option<FetchTopics<'a>> {
        let left = at.count(self.flexible())?;
        let topics = FetchTopics { shape: self, left, at: *at };
        for _ in 0..left {
            self.topic(at)?;
            self.skip_partitions(at)?;
            at.skip_tags(self.flexible())?;
        }
        Some(topics)
    }

    fn skip_partitions(self, at: &mut Cursor<'_>) -> Option<()> {
        for _ in 0..at.count(self.flexible())? {
            self.partition(at)?;
        }
        Some(())
    }

    fn partition(self, at: &mut Cursor<'_>) -> Option<FetchPartition> {
        let mut partition = FetchPartition {
            partition: at.i32()?,
            current_leader_epoch: if self.since(9) { at.i32()? } else { -1 },
            fetch_offset: at.i64()?,
            last_fetched_epoch: if self.since(12) { at.i32()? } else { -1 },
            log_start_offset: if self.since(5) { at.i64()? } else { -1 },
            partition_max_bytes: at.i32()?,
            replica_directory_id: Uuid::ZERO,
            high_watermark: i64::MAX,
        };
        if self.flexible() {
            at.tags(|tag, mut field| {
                match tag {
                    0 if self.since(17) => partition.replica_directory_id = field.uuid()?,
                    1 if self.since(18) => partition.high_watermark = field.i64()?,
                    _ => {}
                }
                Some(())
            })?;
        }
        Some(partition)
    }

    fn forgotten<'a>(self, at: &mut Cursor<'a>) -> Option<ForgottenTopics<'a>> {
        let left = at.count(self.flexible())?;
        let topics = ForgottenTopics { shape: self, left, at: *at };
        for _ in 0..left {
            self.topic(at)?;
            let count = at.count(self.flexible())?;
            at.take(count.checked_mul(4)?)?;
            at.skip_tags(self.flexible())?;
        }
        Some(topics)
    }
}

/// The topics of a request, in order.
#[derive(Clone, Debug)]
pub struct FetchTopics<'a> {
    shape: Shape,
    left: usize,
    at: Cursor<'a>,
}

/// One topic and what to read of it.
#[derive(Clone, Debug)]
pub struct FetchTopic<'a> {
    /// Name below version 13, id from there on.
    pub topic: TopicRef<'a>,
    /// Its partitions.
    pub partitions: FetchPartitions<'a>,
}

impl<'a> Iterator for FetchTopics<'a> {
    type Item = FetchTopic<'a>;

    fn next(&mut self) -> Option<FetchTopic<'a>> {
        self.left = self.left.checked_sub(1)?;
        let shape = self.shape;
        let topic = shape.topic(&mut self.at)?;
        let mut at = self.at;
        let left = at.count(shape.flexible())?;
        shape.skip_partitions(&mut self.at)?;
        self.at.skip_tags(shape.flexible())?;
        Some(FetchTopic { topic, partitions: FetchPartitions { shape, left, at } })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for FetchTopics<'_> {}

/// The partitions of a topic, in order.
#[derive(Clone, Debug)]
pub struct FetchPartitions<'a> {
    shape: Shape,
    left: usize,
    at: Cursor<'a>,
}

impl Iterator for FetchPartitions<'_> {
    type Item = FetchPartition;

    fn next(&mut self) -> Option<FetchPartition> {
        self.left = self.left.checked_sub(1)?;
        self.shape.partition(&mut self.at)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for FetchPartitions<'_> {}

/// The topics to leave out of a session.
#[derive(Clone, Debug)]
pub struct ForgottenTopics<'a> {
    shape: Shape,
    left: usize,
    at: Cursor<'a>,
}

/// One topic and the partitions of it to leave out.
#[derive(Clone, Debug)]
pub struct ForgottenTopic<'a> {
    /// Name below version 13, id from there on.
    pub topic: TopicRef<'a>,
    partitions: Cursor<'a>,
}

impl ForgottenTopic<'_> {
    /// The partitions' numbers.
    pub fn partitions(&self) -> impl Iterator<Item = i32> + '_ {
        let mut at = self.partitions;
        std::iter::from_fn(move || at.i32())
    }
}

impl<'a> Iterator for ForgottenTopics<'a> {
    type Item = ForgottenTopic<'a>;

    fn next(&mut self) -> Option<ForgottenTopic<'a>> {
        self.left = self.left.checked_sub(1)?;
        let flexible = self.shape.flexible();
        let topic = self.shape.topic(&mut self.at)?;
        let count = self.at.count(flexible)?;
        let partitions = Cursor(self.at.take(count.checked_mul(4)?)?);
        self.at.skip_tags(flexible)?;
        Some(ForgottenTopic { topic, partitions })
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

/// Writes a Fetch response's body with gaps: [`Self::partition`] tells where record bytes belong.
#[derive(Debug)]
pub struct FetchResponseWriter<'o> {
    out: &'o mut Vec<u8>,
    version: i16,
    topics_left: usize,
    partitions_left: usize,
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
        out.extend_from_slice(&throttle_time_ms.to_be_bytes());
        if version >= 7 {
            out.extend_from_slice(&error_code.to_be_bytes());
            out.extend_from_slice(&session_id.to_be_bytes());
        }
        put_length(out, Some(topics), version >= FLEXIBLE);
        FetchResponseWriter { out, version, topics_left: topics, partitions_left: 0 }
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

    /// The next partition of the topic, with `record_bytes` bytes of records (0 is empty, not null).
    ///
    /// Returns where in `out` they belong: what `out` holds before goes out first, then they, then the rest.
    pub fn partition(&mut self, answer: &PartitionAnswer<'_>, record_bytes: usize) -> usize {
        debug_assert_ne!(self.partitions_left, 0, "more partitions than announced");
        self.partitions_left = self.partitions_left.saturating_sub(1);
        let flexible = self.flexible();
        let out = &mut *self.out;
        out.extend_from_slice(&answer.partition.to_be_bytes());
        out.extend_from_slice(&answer.error_code.to_be_bytes());
        out.extend_from_slice(&answer.high_watermark.to_be_bytes());
        out.extend_from_slice(&answer.last_stable_offset.to_be_bytes());
        if self.version >= 5 {
            out.extend_from_slice(&answer.log_start_offset.to_be_bytes());
        }
        put_length(out, answer.aborted_transactions.map(<[_]>::len), flexible);
        for aborted in answer.aborted_transactions.unwrap_or_default() {
            out.extend_from_slice(&aborted.producer_id.to_be_bytes());
            out.extend_from_slice(&aborted.first_offset.to_be_bytes());
            if flexible {
                out.push(0);
            }
        }
        if self.version >= 11 {
            out.extend_from_slice(&answer.preferred_read_replica.to_be_bytes());
        }
        put_length(out, Some(record_bytes), flexible);
        let gap = out.len();
        if flexible {
            put_partition_tags(out, answer);
        }
        self.end_topic();
        gap
    }

    /// Ends the body. The endpoints are those of the leaders named in it (version 16 and above).
    pub fn finish(self, endpoints: &[NodeEndpoint<'_>]) {
        debug_assert_eq!((self.topics_left, self.partitions_left), (0, 0), "less than announced");
        if self.flexible() {
            put_endpoints(self.out, if self.version >= 16 { endpoints } else { &[] });
        }
    }
}

fn put_partition_tags(out: &mut Vec<u8>, answer: &PartitionAnswer<'_>) {
    let (diverging, leader, snapshot) = (answer.diverging_epoch, answer.current_leader, answer.snapshot_id);
    let present = [diverging.is_some(), leader.is_some(), snapshot.is_some()];
    put_uvarint(out, present.into_iter().map(u32::from).sum());
    if let Some(diverging) = diverging {
        out.extend_from_slice(&[0, 13]);
        out.extend_from_slice(&diverging.epoch.to_be_bytes());
        out.extend_from_slice(&diverging.end_offset.to_be_bytes());
        out.push(0);
    }
    if let Some(leader) = leader {
        leader.put_tagged(out, 1);
    }
    if let Some(snapshot) = snapshot {
        out.extend_from_slice(&[2, 13]);
        out.extend_from_slice(&snapshot.end_offset.to_be_bytes());
        out.extend_from_slice(&snapshot.epoch.to_be_bytes());
        out.push(0);
    }
}
