//! A look into the consumers' own protocol: what a member's metadata says, and what it is given.

use barnabas_protocol::messages::Message;
use barnabas_protocol::messages::records::consumer_protocol::{
    ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartition,
};
use barnabas_protocol::messages::records::to_versioned;
use bytes::Bytes;

use crate::ids::TopicName;

/// The newest version of the protocol; what is newer begins with it.
const NEWEST: i16 = 3;

/// What a member is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// Partitions by topic.
    pub topics: Vec<(TopicName, Vec<i32>)>,
    /// An assignor of the members' own has added something.
    pub has_user_data: bool,
}

/// All that a member's metadata says; none if the bytes are no subscription.
pub fn subscription(metadata: &[u8]) -> Option<ConsumerProtocolSubscription> {
    read(metadata)
}

/// What the bytes give to a member; none if they are no assignment.
pub fn assignment(bytes: &[u8]) -> Option<Assignment> {
    let assignment: ConsumerProtocolAssignment = read(bytes)?;
    let topics = assignment.assigned_partitions.into_iter();
    Some(Assignment {
        topics: topics.map(|of| (of.topic.into(), of.partitions)).collect(),
        has_user_data: assignment.user_data.is_some_and(|data| !data.is_empty()),
    })
}

/// An assignment in the version of a member's metadata.
pub fn assignment_bytes(metadata: &[u8], topics: impl Iterator<Item = (TopicName, Vec<i32>)>) -> Bytes {
    let version = i16_of(metadata).map_or(0, |(version, _)| version.clamp(0, NEWEST));
    let topics = topics.map(|(topic, partitions)| TopicPartition { topic: topic.to_string(), partitions });
    let assignment =
        ConsumerProtocolAssignment { assigned_partitions: topics.collect(), ..Default::default() };
    to_versioned(&assignment, version).into()
}

fn read<M: Message>(bytes: &[u8]) -> Option<M> {
    let (version, rest) = i16_of(bytes)?;
    if version < 0 { None } else { M::from_bytes(rest, version.min(NEWEST)).ok() }
}

/// The topics of a `ConsumerProtocolSubscription` (any version: the version and the topics come first in each).
/// None if the bytes are no subscription.
pub fn subscribed_topics(metadata: &[u8]) -> Option<Vec<TopicName>> {
    let (version, rest) = i16_of(metadata)?;
    let (count, mut rest) = rest.split_first_chunk().map(|(n, rest)| (i32::from_be_bytes(*n), rest))?;
    if version < 0 || count < 0 {
        return None;
    }
    let mut topics = Vec::new();
    for _ in 0..count {
        let (length, tail) = i16_of(rest)?;
        let (name, tail) = tail.split_at_checked(usize::try_from(length).ok()?)?;
        topics.push(String::from_utf8_lossy(name).into());
        rest = tail;
    }
    Some(topics)
}

fn i16_of(bytes: &[u8]) -> Option<(i16, &[u8])> {
    bytes.split_first_chunk().map(|(number, rest)| (i16::from_be_bytes(*number), rest))
}

/// Bytes of a version-1 subscription, for tests of others.
#[cfg(test)]
pub fn subscribing(topics: &[&str]) -> Bytes {
    let mut bytes = vec![0, 1, 0, 0, 0, u8::try_from(topics.len()).unwrap()];
    for topic in topics {
        bytes.extend_from_slice(&[0, u8::try_from(topic.len()).unwrap()]);
        bytes.extend_from_slice(topic.as_bytes());
    }
    bytes.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_read_and_nonsense_is_none() {
        assert_eq!(subscribed_topics(&subscribing(&["a", "bc"])), Some(vec!["a".into(), "bc".into()]));
        assert_eq!(subscribed_topics(b""), None);
        assert_eq!(subscribed_topics(b"metadata of somebody else"), None);
        assert_eq!(subscribed_topics(&[0, 0, 0x7f, 0xff, 0xff, 0xff]), None, "a count the bytes do not have");
    }
}
