//! Requests about groups, and what their answers say.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::caller::Caller;
use super::request::{Frame, TopicId};
use super::topic::Topic;
use super::wire::{Reader, Writer};
use crate::error::{Error, Result};

const READY: Duration = Duration::from_secs(600);

/// FindCoordinator v3: the first one lets the broker make its topic of offsets.
fn find_coordinator(group: &str) -> Frame {
    let mut body = Writer::default();
    body.compact_bytes(group.as_bytes()).i8(0).no_tags();
    Frame::new("FindCoordinator", 10, 3, true, &body.bytes, 4 + 1 + 4)
}

/// OffsetFetch v5 of nothing: whether the group's coordinator is at work.
fn fetch_nothing(group: &str) -> Frame {
    let mut body = Writer::default();
    body.i16(group.len().try_into().unwrap_or(i16::MAX)).raw(group.as_bytes()).i32(0);
    Frame::new("OffsetFetch", 9, 5, false, &body.bytes, 4 + 4 + 4)
}

/// Waits until the coordinator of every group answers.
pub fn await_coordinators(addr: SocketAddr, groups: &[String]) -> Result<()> {
    let mut caller = Caller::connect(addr)?;
    let patience = Instant::now() + READY;
    for group in groups {
        for mut frame in [find_coordinator(group), fetch_nothing(group)] {
            loop {
                match caller.call(&mut frame) {
                    Ok(_) => break,
                    // 14, 15, 16: it is loading, there is none yet, it is not here.
                    Err(Error::Refused { code: 14..=16, .. }) if Instant::now() < patience => {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    Err(other) => return Err(other),
                }
            }
        }
    }
    Ok(())
}

/// OffsetCommit v8 of the first partitions of a topic, by somebody who is no member.
pub fn commit(group: &str, topic: &str, partitions: i32) -> Frame {
    let mut body = Writer::default();
    body.compact_bytes(group.as_bytes()).i32(-1).compact_bytes(b"").uvarint(0);
    body.compact_len(1).compact_bytes(topic.as_bytes());
    body.compact_len(usize::try_from(partitions).unwrap_or_default());
    for partition in 0..partitions {
        body.i32(partition).i64(1_000_000).i32(-1).compact_bytes(b"").no_tags();
    }
    body.no_tags().no_tags();
    let width = |len: usize| if len + 1 < 128 { 1 } else { 2 };
    let partitions = usize::try_from(partitions).unwrap_or_default();
    let code_at = 4 + 1 + 4 + 1 + width(topic.len()) + topic.len() + width(partitions) + 4;
    Frame::new("OffsetCommit", 8, 8, true, &body.bytes, code_at)
}

/// A member of a consumer group (KIP-848).
pub struct Member {
    id: String,
    /// The epoch it was told last.
    pub epoch: i32,
    /// What it may read.
    pub assigned: Vec<i32>,
    /// It was told something that it has not confirmed yet.
    pub has_news: bool,
}

impl Member {
    /// One that has not joined yet.
    pub fn new(number: usize) -> Member {
        Member { id: format!("member-{number:05}"), epoch: 0, assigned: Vec::new(), has_news: false }
    }

    /// Its heartbeat, v1; what it owns is said when that has changed.
    pub fn beat(&mut self, caller: &mut Caller, group: &str, topic: &Topic) -> Result<()> {
        let joins = self.epoch == 0;
        let mut body = Writer::default();
        body.compact_bytes(group.as_bytes()).compact_bytes(self.id.as_bytes()).i32(self.epoch);
        body.uvarint(0).uvarint(0).i32(if joins { 300_000 } else { -1 });
        if joins {
            body.compact_len(1).compact_bytes(topic.name.as_bytes());
        } else {
            body.uvarint(0);
        }
        body.uvarint(0).uvarint(0);
        match (joins, self.has_news) {
            (true, _) => _ = body.compact_len(0),
            (false, false) => _ = body.uvarint(0),
            (false, true) => owned(&mut body, topic.id, &self.assigned),
        }
        body.no_tags();
        let mut frame = Frame::new("ConsumerGroupHeartbeat", 68, 1, true, &body.bytes, 4 + 1 + 4);
        let answer = caller.call(&mut frame)?;
        self.hear(answer)
    }

    fn hear(&mut self, answer: &[u8]) -> Result<()> {
        let mut reader = Reader(answer);
        reader.take(4 + 1 + 4 + 2)?;
        for _ in ["error message", "member id"] {
            let length = reader.uvarint()?.saturating_sub(1);
            reader.take(length)?;
        }
        self.epoch = reader.i32()?;
        reader.i32()?;
        self.has_news = reader.array::<1>()? == [1];
        if self.has_news {
            self.assigned.clear();
            for _ in 0..reader.uvarint()?.saturating_sub(1) {
                reader.take(16)?;
                for _ in 0..reader.uvarint()?.saturating_sub(1) {
                    self.assigned.push(reader.i32()?);
                }
                reader.take(1)?;
            }
        }
        Ok(())
    }
}

fn owned(body: &mut Writer, topic: TopicId, partitions: &[i32]) {
    body.compact_len(usize::from(!partitions.is_empty()));
    if !partitions.is_empty() {
        body.raw(&topic).compact_len(partitions.len());
        for partition in partitions {
            body.i32(*partition);
        }
        body.no_tags();
    }
}
