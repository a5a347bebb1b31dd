//! Durable truth of the group coordinator: what the records say, and how each changes it.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::ids::TopicName;

use super::consumer::{Change, ConsumerGroup};
use super::record::{GroupValue, OffsetValue, Record};
use super::{GroupId, Kind};

/// What the records of one `__consumer_offsets` partition say. Changed by [`apply`] alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hard {
    groups: BTreeMap<GroupId, GroupValue>,
    offsets: BTreeMap<GroupId, GroupOffsets>,
    /// Offsets in open transactions, by producer.
    pending: BTreeMap<i64, BTreeMap<GroupId, Pending>>,
    foreign: BTreeMap<Bytes, (i16, Bytes)>,
    consumers: BTreeMap<GroupId, ConsumerGroup>,
    /// Share and streams groups.
    kinds: BTreeMap<GroupId, Kind>,
    /// Counts records: which of two commits of one partition is the later.
    sequence: u64,
}

type Offsets = BTreeMap<TopicName, BTreeMap<i32, Committed>>;
type Pending = BTreeMap<(TopicName, i32), Committed>;

#[derive(Clone, Debug, Default, PartialEq)]
struct GroupOffsets {
    topics: Offsets,
}

#[derive(Clone, Debug, PartialEq)]
struct Committed {
    value: OffsetValue,
    sequence: u64,
}

/// The schemas whose key says that a group is no classic one.
fn kind_of(schema: i16) -> Option<Kind> {
    match schema {
        11 => Some(Kind::Share),
        17 => Some(Kind::Streams),
        _ => None,
    }
}

/// Takes a record into the truth: the same live and at replay.
pub fn apply(hard: &mut Hard, record: Record) {
    hard.sequence = hard.sequence.wrapping_add(1);
    match record {
        Record::Offset { group, topic, partition, value: Some(value), producer: Some(producer) } => {
            let committed = Committed { value, sequence: hard.sequence };
            let groups = hard.pending.entry(producer).or_default();
            groups.entry(group).or_default().insert((topic, partition), committed);
        }
        Record::Offset { group, topic, partition, value: Some(value), producer: None } => {
            let committed = Committed { value, sequence: hard.sequence };
            hard.put(group, topic, partition, committed);
        }
        Record::Offset { group, topic, partition, value: None, .. } => hard.remove(&group, &topic, partition),
        Record::Group { group, value: Some(value) } => {
            hard.groups.insert(group, value);
        }
        Record::Group { group, value: None } => {
            hard.groups.remove(&group);
        }
        Record::Consumer { group, change: Change::Group(None) } => {
            hard.consumers.remove(&group);
        }
        Record::Consumer { group, change } => {
            if change.creates() {
                hard.consumers.entry(group).or_default().apply(change);
            } else if let Some(group) = hard.consumers.get_mut(&group) {
                group.apply(change);
            }
        }
        Record::Marker { producer, commit } => hard.end(producer, commit),
        Record::Foreign { kind, group, key, value: Some(value) } => {
            if let (Some(kind), Some(group)) = (kind_of(kind), group) {
                hard.kinds.insert(group, kind);
            }
            hard.foreign.insert(key, (kind, value));
        }
        Record::Foreign { kind, group, key, value: None } => {
            if let (Some(_), Some(group)) = (kind_of(kind), group) {
                hard.kinds.remove(&group);
            }
            hard.foreign.remove(&key);
        }
    }
}

impl Hard {
    fn put(&mut self, group: GroupId, topic: TopicName, partition: i32, committed: Committed) {
        let topics = match self.offsets.get_mut(&group) {
            Some(offsets) => &mut offsets.topics,
            None => &mut self.offsets.entry(group).or_default().topics,
        };
        match topics.get_mut(&topic) {
            Some(partitions) => partitions.insert(partition, committed),
            None => topics.entry(topic).or_default().insert(partition, committed),
        };
    }

    fn remove(&mut self, group: &str, topic: &TopicName, partition: i32) {
        // A deleted offset stays deleted if the transaction that would overwrite it commits later.
        for groups in self.pending.values_mut() {
            if let Some(pending) = groups.get_mut(group) {
                pending.remove(&(topic.clone(), partition));
            }
        }
        self.pending.retain(|_, groups| {
            groups.retain(|_, pending| !pending.is_empty());
            !groups.is_empty()
        });
        let Some(offsets) = self.offsets.get_mut(group) else { return };
        if let Some(partitions) = offsets.topics.get_mut(topic) {
            partitions.remove(&partition);
            if partitions.is_empty() {
                offsets.topics.remove(topic);
            }
        }
        if offsets.topics.is_empty() {
            self.offsets.remove(group);
        }
    }

    fn end(&mut self, producer: i64, commit: bool) {
        let Some(groups) = self.pending.remove(&producer) else { return };
        if !commit {
            return;
        }
        for (group, pending) in groups {
            for ((topic, partition), committed) in pending {
                let newer = self
                    .offsets
                    .get(&group)
                    .and_then(|offsets| offsets.topics.get(&topic)?.get(&partition))
                    .is_some_and(|there| there.sequence > committed.sequence);
                if !newer {
                    self.put(group.clone(), topic, partition, committed);
                }
            }
        }
    }

    /// Classic groups as their last record says.
    pub fn groups(&self) -> impl Iterator<Item = (&GroupId, &GroupValue)> {
        self.groups.iter()
    }

    /// A classic group as its last record says.
    pub fn group(&self, group: &str) -> Option<&GroupValue> {
        self.groups.get(group)
    }

    /// Consumer groups (KIP-848).
    pub fn consumers(&self) -> impl Iterator<Item = (&GroupId, &ConsumerGroup)> {
        self.consumers.iter()
    }

    /// A consumer group (KIP-848).
    pub fn consumer(&self, group: &str) -> Option<&ConsumerGroup> {
        self.consumers.get(group)
    }

    /// The protocol of a share or streams group.
    pub fn kind(&self, group: &str) -> Option<Kind> {
        self.kinds.get(group).copied()
    }

    /// Share and streams groups.
    pub fn kinds(&self) -> impl Iterator<Item = (&GroupId, Kind)> {
        self.kinds.iter().map(|(group, kind)| (group, *kind))
    }

    /// Groups with offsets, also those in open transactions.
    pub fn groups_with_offsets(&self) -> impl Iterator<Item = &GroupId> {
        self.offsets.keys().chain(self.pending.values().flat_map(BTreeMap::keys))
    }

    /// A committed offset.
    pub fn offset(&self, group: &str, topic: &str, partition: i32) -> Option<&OffsetValue> {
        Some(&self.offsets.get(group)?.topics.get(topic)?.get(&partition)?.value)
    }

    /// Everything a group has committed, topic by topic.
    pub fn offsets(
        &self,
        group: &str,
    ) -> impl Iterator<Item = (&TopicName, impl Iterator<Item = (i32, &OffsetValue)>)> {
        self.offsets.get(group).into_iter().flat_map(|offsets| {
            offsets.topics.iter().map(|(topic, partitions)| {
                (topic, partitions.iter().map(|(partition, committed)| (*partition, &committed.value)))
            })
        })
    }

    /// An open transaction will change this offset.
    pub fn is_pending(&self, group: &str, topic: &TopicName, partition: i32) -> bool {
        // Seldom more than a few producers are open at once.
        !self.pending.is_empty()
            && self.pending.values().any(|groups| {
                groups.get(group).is_some_and(|pending| pending.contains_key(&(topic.clone(), partition)))
            })
    }

    /// Offsets in open transactions of a group.
    pub fn pending(&self, group: &str) -> impl Iterator<Item = &(TopicName, i32)> {
        self.pending.values().filter_map(move |groups| groups.get(group)).flat_map(BTreeMap::keys)
    }
}
