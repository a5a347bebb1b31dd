//! The hash by which a group sees that its topics have changed: Kafka's, so that a group can move between brokers.

use std::collections::BTreeSet;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::coordinator::group::view::{Cluster, Topic};
use crate::ids::TopicName;

/// First byte of what is hashed: the hash's own version.
const VERSION: u8 = 0;

/// Over all topics that exist, in the order of their names; 0 for none.
pub fn metadata_hash(cluster: &dyn Cluster, names: &BTreeSet<TopicName>) -> i64 {
    let mut bytes = Vec::new();
    for topic in names.iter().filter_map(|name| cluster.topic(name)) {
        let racks = cluster.racks(topic.id);
        bytes.extend_from_slice(&topic_hash(&topic, &racks).to_le_bytes());
    }
    if bytes.is_empty() { 0 } else { xxh3_64(&bytes).cast_signed() }
}

fn topic_hash(topic: &Topic, racks: &[Vec<Arc<str>>]) -> u64 {
    let mut bytes = vec![VERSION];
    let (high, low) = topic.id.0.split_at(8);
    // Java's two halves of an id, each turned to little endian.
    bytes.extend(high.iter().rev());
    bytes.extend(low.iter().rev());
    put_text(&mut bytes, &topic.name);
    bytes.extend_from_slice(&topic.partitions.to_le_bytes());
    for index in 0..topic.partitions {
        bytes.extend_from_slice(&index.to_le_bytes());
        let mut racks: Vec<&Arc<str>> =
            usize::try_from(index).ok().and_then(|index| racks.get(index)).into_iter().flatten().collect();
        racks.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
        for rack in racks {
            bytes.extend_from_slice(&length_of(rack));
            put_text(&mut bytes, rack);
        }
    }
    xxh3_64(&bytes)
}

fn length_of(text: &str) -> [u8; 4] {
    i32::try_from(text.encode_utf16().count()).unwrap_or(i32::MAX).to_le_bytes()
}

/// UTF-16 units, then their count.
fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    bytes.extend_from_slice(&length_of(text));
}

#[cfg(test)]
mod tests {
    use crate::ids::Uuid;

    use super::*;

    #[test]
    fn the_hash_is_kafkas() {
        let id = Uuid::parse("E0GY6qU6Q26Q436c6czYRA").unwrap();
        let topic = Topic { id, name: "t-9fb74c92".into(), partitions: 3 };
        // As a broker of Kafka 4.4 wrote it for a group of this one topic.
        let group = xxh3_64(&topic_hash(&topic, &[]).to_le_bytes()).cast_signed();
        assert_eq!(group, 1_834_223_142_166_132_851);
        assert_ne!(topic_hash(&topic, &[vec!["a".into()]]), topic_hash(&topic, &[]), "racks count");
    }
}
