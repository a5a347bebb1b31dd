//! What the group coordinator writes: the meaning of the records of `__consumer_offsets`.

use std::sync::Arc;

use bytes::Bytes;

use crate::ids::{TopicName, Uuid};

use super::{GroupId, MemberId};

/// A record of `__consumer_offsets`, or a marker that ends a transaction in it.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// `OffsetCommitKey` and `OffsetCommitValue`; without a value the offset is deleted.
    Offset {
        /// Group.
        group: GroupId,
        /// Topic.
        topic: TopicName,
        /// Partition.
        partition: i32,
        /// None deletes.
        value: Option<OffsetValue>,
        /// Whose transaction it belongs to: it counts once that commits.
        producer: Option<i64>,
    },
    /// `GroupMetadataKey` and `GroupMetadataValue`; without a value the group is deleted.
    Group {
        /// Group.
        group: GroupId,
        /// None deletes.
        value: Option<GroupValue>,
    },
    /// A record of a consumer group (KIP-848).
    Consumer {
        /// Group.
        group: GroupId,
        /// What it says.
        change: super::consumer::Change,
    },
    /// A transaction's end.
    Marker {
        /// Whose.
        producer: i64,
        /// Or aborted.
        commit: bool,
    },
    /// Share and streams groups: kept as they are.
    Foreign {
        /// The key's schema.
        kind: i16,
        /// The group it speaks of.
        group: Option<GroupId>,
        /// Schema and fields.
        key: Bytes,
        /// None deletes.
        value: Option<Bytes>,
    },
}

/// A committed offset, `OffsetCommitValue`.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetValue {
    /// The next offset to read.
    pub offset: i64,
    /// -1 if unknown.
    pub leader_epoch: i32,
    /// The client's own note.
    pub metadata: Arc<str>,
    /// Wall milliseconds.
    pub commit_ms: i64,
    /// Wall milliseconds from which it is expired, by the wish of an old client.
    pub expire_ms: Option<i64>,
    /// Zero if unknown.
    pub topic_id: Uuid,
}

/// A group at the end of a rebalance, `GroupMetadataValue`.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupValue {
    /// Empty for a group that never had members.
    pub protocol_type: Arc<str>,
    /// Counts rebalances.
    pub generation: i32,
    /// The chosen protocol; none in an empty group.
    pub protocol: Option<Arc<str>>,
    /// None in an empty group.
    pub leader: Option<MemberId>,
    /// Wall milliseconds of the last change of state, or -1.
    pub since_ms: i64,
    /// Members and their shares.
    pub members: Vec<MemberValue>,
}

/// A member of a stable group.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberValue {
    /// Member id.
    pub member: MemberId,
    /// `group.instance.id`.
    pub instance: Option<Arc<str>>,
    /// As the connection said.
    pub client_id: Arc<str>,
    /// Address.
    pub client_host: Arc<str>,
    /// Milliseconds; -1 in very old records.
    pub rebalance_timeout_ms: i32,
    /// Milliseconds.
    pub session_timeout_ms: i32,
    /// Metadata for the chosen protocol.
    pub subscription: Bytes,
    /// Its share.
    pub assignment: Bytes,
}

impl Record {
    /// About how many bytes it takes in a batch, never less than it does.
    pub fn size(&self) -> usize {
        /// Lengths, versions, numbers and the record's own frame.
        const FRAME: usize = 80;
        let body = match self {
            Record::Offset { group, topic, value, .. } => {
                group.len() + topic.len() + value.as_ref().map_or(0, |v| v.metadata.len())
            }
            Record::Group { group, value } => group.len() + value.as_ref().map_or(0, GroupValue::size),
            Record::Consumer { group, change } => group.len() + change.size(),
            Record::Marker { .. } => 0,
            Record::Foreign { key, value, .. } => key.len() + value.as_ref().map_or(0, Bytes::len),
        };
        body + FRAME
    }
}

impl GroupValue {
    fn size(&self) -> usize {
        const FRAME: usize = 40;
        let text = |t: &Option<Arc<str>>| t.as_ref().map_or(0, |t| t.len());
        let members: usize = self
            .members
            .iter()
            .map(|m| {
                FRAME
                    + m.member.len()
                    + text(&m.instance)
                    + m.client_id.len()
                    + m.client_host.len()
                    + m.subscription.len()
                    + m.assignment.len()
            })
            .sum();
        members + self.protocol_type.len() + text(&self.protocol) + text(&self.leader) + FRAME
    }
}
