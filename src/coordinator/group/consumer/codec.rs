//! The records of consumer groups as bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use barnabas_protocol::codec::{Reader, Wire, Writer};
use barnabas_protocol::messages::records::consumer_group::{
    ClassicMemberMetadata, ClassicProtocol, ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue, ConsumerGroupMetadataValue, ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberValue, ConsumerGroupTargetAssignmentMetadataValue, TopicPartition,
    TopicPartitions,
};
use barnabas_protocol::messages::records::{from_versioned, to_versioned};

use crate::coordinator::group::GroupId;

use super::record::Change;
use super::state::{About, Classic, Current, MemberState, Owned, Partitions, Resolved};

/// Key schemas.
const GROUP: i16 = 3;
const PARTITION_METADATA: i16 = 4;
const MEMBER: i16 = 5;
const TARGET_EPOCH: i16 = 6;
const TARGET: i16 = 7;
const CURRENT: i16 = 8;
const REGEX: i16 = 16;

/// The only version of each value.
const VALUE: i16 = 0;

/// The key's schema is a consumer group's.
pub fn is_ours(schema: i16) -> bool {
    matches!(schema, GROUP..=CURRENT | REGEX)
}

/// Writes key and value; false for a tombstone.
pub fn encode(group: &GroupId, change: &Change, key: &mut Vec<u8>, value: &mut Vec<u8>) -> bool {
    let (schema, name) = match change {
        Change::Group(_) => (GROUP, None),
        Change::PartitionMetadata(_) => (PARTITION_METADATA, None),
        Change::Member(member, _) => (MEMBER, Some(member)),
        Change::TargetEpoch(_) => (TARGET_EPOCH, None),
        Change::Target(member, _) => (TARGET, Some(member)),
        Change::Current(member, _) => (CURRENT, Some(member)),
        Change::Regex(regex, _) => (REGEX, Some(regex)),
    };
    let mut w = Writer::new(key, 0);
    schema.write(&mut w);
    w.string(Some(group));
    if let Some(name) = name {
        w.string(Some(name));
    }
    let bytes = match change {
        Change::Group(value) => value.map(|(epoch, metadata_hash)| {
            to_versioned(&ConsumerGroupMetadataValue { epoch, metadata_hash }, VALUE)
        }),
        // Only its end is ever written.
        Change::PartitionMetadata(_) => None,
        Change::Member(_, about) => about.as_ref().map(|about| to_versioned(&about_message(about), VALUE)),
        Change::TargetEpoch(value) => value.map(|(assignment_epoch, assignment_timestamp)| {
            let value = ConsumerGroupTargetAssignmentMetadataValue { assignment_epoch, assignment_timestamp };
            to_versioned(&value, VALUE)
        }),
        Change::Target(_, target) => target.as_ref().map(|target| {
            let topics = target.iter().map(|(topic_id, partitions)| TopicPartition {
                topic_id: *topic_id,
                partitions: partitions.iter().copied().collect(),
            });
            let value = ConsumerGroupTargetAssignmentMemberValue { topic_partitions: topics.collect() };
            to_versioned(&value, VALUE)
        }),
        Change::Current(_, current) => {
            current.as_ref().map(|current| to_versioned(&current_message(current), VALUE))
        }
        Change::Regex(_, resolved) => resolved.as_ref().map(|resolved| {
            let value = ConsumerGroupRegularExpressionValue {
                topics: resolved.topics.iter().map(ToString::to_string).collect(),
                version: resolved.version,
                timestamp: resolved.at_ms,
            };
            to_versioned(&value, VALUE)
        }),
    };
    bytes.map(|bytes| value.extend_from_slice(&bytes)).is_some()
}

/// Reads a record whose schema is ours.
pub fn decode(key: &[u8], value: Option<&[u8]>) -> Result<(GroupId, Change), barnabas_protocol::DecodeError> {
    let mut r = Reader::new(key, 0);
    let schema = i16::read(&mut r)?;
    let group = name(&mut r)?;
    let change = match schema {
        GROUP => {
            let value = value.map(from_versioned::<ConsumerGroupMetadataValue>).transpose()?;
            Change::Group(value.map(|value| (value.epoch, value.metadata_hash)))
        }
        MEMBER => {
            let member = name(&mut r)?;
            let value = value.map(from_versioned::<ConsumerGroupMemberMetadataValue>).transpose()?;
            Change::Member(member, value.map(|value| Arc::new(about(value))))
        }
        TARGET_EPOCH => {
            let value =
                value.map(from_versioned::<ConsumerGroupTargetAssignmentMetadataValue>).transpose()?;
            Change::TargetEpoch(value.map(|value| (value.assignment_epoch, value.assignment_timestamp)))
        }
        TARGET => {
            let member = name(&mut r)?;
            let value = value.map(from_versioned::<ConsumerGroupTargetAssignmentMemberValue>).transpose()?;
            let target = value.map(|value| {
                let topics = value.topic_partitions.into_iter();
                topics.map(|t| (t.topic_id, t.partitions.into_iter().collect())).collect::<Partitions>()
            });
            Change::Target(member, target.map(Arc::new))
        }
        CURRENT => {
            let member = name(&mut r)?;
            let value = value.map(from_versioned::<ConsumerGroupCurrentMemberAssignmentValue>).transpose()?;
            Change::Current(member, value.map(current))
        }
        REGEX => {
            let regex = name(&mut r)?;
            let value = value.map(from_versioned::<ConsumerGroupRegularExpressionValue>).transpose()?;
            let resolved = value.map(|value| Resolved {
                topics: value.topics.into_iter().map(Arc::from).collect(),
                version: value.version,
                at_ms: value.timestamp,
            });
            Change::Regex(regex, resolved)
        }
        _ => Change::PartitionMetadata(value.is_some()),
    };
    Ok((group, change))
}

fn name(r: &mut Reader<'_>) -> Result<Arc<str>, barnabas_protocol::DecodeError> {
    let length = r.string_length()?.unwrap_or_default();
    r.text(length).map(|text| Arc::from(&*text))
}

fn about_message(about: &About) -> ConsumerGroupMemberMetadataValue {
    let own = |text: &Arc<str>| text.to_string();
    ConsumerGroupMemberMetadataValue {
        instance_id: about.instance.as_ref().map(own),
        rack_id: about.rack.as_ref().map(own),
        client_id: own(&about.client_id),
        client_host: own(&about.client_host),
        subscribed_topic_names: about.topics.iter().map(own).collect(),
        subscribed_topic_regex: Some(own(&about.regex)),
        rebalance_timeout_ms: about.rebalance_timeout_ms,
        server_assignor: about.assignor.as_ref().map(own),
        classic_member_metadata: about.classic.as_ref().map(|classic| ClassicMemberMetadata {
            session_timeout_ms: classic.session_timeout_ms,
            supported_protocols: classic
                .protocols
                .iter()
                .map(|(name, metadata)| ClassicProtocol { name: own(name), metadata: metadata.clone() })
                .collect(),
        }),
    }
}

fn about(value: ConsumerGroupMemberMetadataValue) -> About {
    About {
        instance: value.instance_id.map(Arc::from),
        rack: value.rack_id.map(Arc::from),
        client_id: value.client_id.into(),
        client_host: value.client_host.into(),
        topics: value.subscribed_topic_names.into_iter().map(Arc::from).collect(),
        regex: value.subscribed_topic_regex.unwrap_or_default().into(),
        rebalance_timeout_ms: value.rebalance_timeout_ms,
        assignor: value.server_assignor.map(Arc::from),
        classic: value.classic_member_metadata.map(|classic| Classic {
            session_timeout_ms: classic.session_timeout_ms,
            protocols: classic.supported_protocols.into_iter().map(|p| (p.name.into(), p.metadata)).collect(),
        }),
    }
}

fn current_message(current: &Current) -> ConsumerGroupCurrentMemberAssignmentValue {
    let topics = |owned: &Owned| {
        let topics = owned.iter().map(|(topic_id, partitions)| TopicPartitions {
            topic_id: *topic_id,
            partitions: partitions.keys().copied().collect(),
            assignment_epochs: Some(partitions.values().copied().collect()),
        });
        topics.collect()
    };
    ConsumerGroupCurrentMemberAssignmentValue {
        member_epoch: current.epoch,
        previous_member_epoch: current.previous_epoch,
        state: current.state.code(),
        assigned_partitions: topics(&current.assigned),
        partitions_pending_revocation: topics(&current.revoking),
    }
}

fn current(value: ConsumerGroupCurrentMemberAssignmentValue) -> Current {
    // Brokers before 4.3 did not write when a partition was given: in the member's epoch at the latest.
    let epoch = value.member_epoch;
    let owned = |topics: Vec<TopicPartitions>| {
        let topics = topics.into_iter().map(|topic| {
            let mut epochs = topic.assignment_epochs.unwrap_or_default().into_iter();
            let partitions = topic.partitions.into_iter();
            let partitions: BTreeMap<i32, i32> =
                partitions.map(|partition| (partition, epochs.next().unwrap_or(epoch))).collect();
            (topic.topic_id, partitions)
        });
        Arc::new(topics.collect::<Owned>())
    };
    Current {
        epoch,
        previous_epoch: value.previous_member_epoch,
        state: MemberState::from_code(value.state),
        assigned: owned(value.assigned_partitions),
        revoking: owned(value.partitions_pending_revocation),
    }
}
