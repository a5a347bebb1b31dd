//! A look into the consumers' own protocol: the topics that a member's metadata names.

use crate::ids::TopicName;

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
pub fn subscription(topics: &[&str]) -> bytes::Bytes {
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
        assert_eq!(subscribed_topics(&subscription(&["a", "bc"])), Some(vec!["a".into(), "bc".into()]));
        assert_eq!(subscribed_topics(b""), None);
        assert_eq!(subscribed_topics(b"metadata of somebody else"), None);
        assert_eq!(subscribed_topics(&[0, 0, 0x7f, 0xff, 0xff, 0xff]), None, "a count the bytes do not have");
    }
}
