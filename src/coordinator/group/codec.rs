//! The records of `__consumer_offsets` as bytes, in the versions that Kafka 4.4 writes.

use std::sync::Arc;

use barnabas_protocol::DecodeError;
use barnabas_protocol::batch::Codec;
use barnabas_protocol::codec::{Reader, Wire, Writer};
use barnabas_protocol::messages::records::OffsetsRecord;
use barnabas_protocol::messages::records::classic_group::{
    GroupMetadataKey, GroupMetadataValue, LegacyOffsetCommitValue, MemberMetadata, OffsetCommitValue,
};
use barnabas_protocol::messages::records::{from_versioned, to_versioned};
use bytes::Bytes;

use crate::coordinator::records::{Names, Naming, Stored};
use crate::ids::Uuid;

use super::record::{GroupValue, MemberValue, OffsetValue, Record};
use super::{GroupId, GroupMachine, View, consumer};

/// Key schemas.
const LEGACY_OFFSET: i16 = 0;
const OFFSET: i16 = 1;
const GROUP: i16 = 2;

/// The first value version with a leader epoch and a topic id; the one with an expiry, which later ones lack.
const OFFSET_VALUE: i16 = 4;
const OFFSET_VALUE_WITH_EXPIRY: i16 = 1;
const GROUP_VALUE: i16 = 3;

impl Stored for GroupMachine {
    const BASE_SEQUENCE: i32 = 0;

    fn encode(record: &Record, key: &mut Vec<u8>, value: &mut Vec<u8>) -> bool {
        match record {
            Record::Offset { group, topic, partition, value: offset, .. } => {
                let mut w = Writer::new(key, 0);
                OFFSET.write(&mut w);
                w.string(Some(group));
                w.string(Some(topic));
                partition.write(&mut w);
                offset.as_ref().map(|offset| write_offset(offset, value)).is_some()
            }
            Record::Group { group, value: state } => {
                let mut w = Writer::new(key, 0);
                GROUP.write(&mut w);
                w.string(Some(group));
                let written = state.as_ref().map(|state| to_versioned(&group_message(state), GROUP_VALUE));
                written.map(|bytes| value.extend_from_slice(&bytes)).is_some()
            }
            Record::Consumer { group, change } => consumer::encode(group, change, key, value),
            Record::Foreign { key: bytes, value: content, .. } => {
                key.extend_from_slice(bytes);
                content.as_ref().map(|content| value.extend_from_slice(content)).is_some()
            }
            // Markers are control batches, written by the transaction coordinator.
            Record::Marker { .. } => false,
        }
    }

    fn decode(
        key: &[u8],
        value: Option<&[u8]>,
        producer: Option<i64>,
        names: &mut Names,
    ) -> Result<Record, String> {
        let mut r = Reader::new(key, 0);
        let text = |e: DecodeError| e.to_string();
        let kind = i16::read(&mut r).map_err(text)?;
        match kind {
            LEGACY_OFFSET | OFFSET => {
                let group = name(&mut r, Naming::Group, names).map_err(text)?;
                let topic = name(&mut r, Naming::Topic, names).map_err(text)?;
                let partition = i32::read(&mut r).map_err(text)?;
                let value = match value {
                    Some(value) if kind == OFFSET => Some(read_offset(value, names).map_err(text)?),
                    Some(value) => Some(read_legacy(value).map_err(text)?),
                    None => None,
                };
                Ok(Record::Offset { group, topic, partition, value, producer })
            }
            GROUP => {
                let key = GroupMetadataKey::read(&mut r).map_err(text)?;
                let value = value.map(from_versioned::<GroupMetadataValue>).transpose().map_err(text)?;
                Ok(Record::Group { group: key.group.into(), value: value.map(group_value) })
            }
            kind if consumer::is_ours(kind) => {
                let (group, change) = consumer::decode(key, value).map_err(text)?;
                Ok(Record::Consumer { group, change })
            }
            kind => foreign(kind, key, value),
        }
    }

    fn codec(view: &View) -> Codec {
        view.settings.codec
    }

    fn marker(producer: i64, commit: bool) -> Option<Record> {
        Some(Record::Marker { producer, commit })
    }
}

fn name(r: &mut Reader<'_>, naming: Naming, names: &mut Names) -> Result<Arc<str>, DecodeError> {
    let length = r.string_length()?.unwrap_or_default();
    r.text(length).map(|text| names.shared(naming, &text))
}

fn write_offset(offset: &OffsetValue, out: &mut Vec<u8>) {
    let version = if offset.expire_ms.is_some() { OFFSET_VALUE_WITH_EXPIRY } else { OFFSET_VALUE };
    version.write(&mut Writer::new(out, 0));
    let w = &mut Writer::new(out, version);
    w.set_flexible(version >= 4);
    offset.offset.write(w);
    if version >= 3 {
        offset.leader_epoch.write(w);
    }
    w.string(Some(&offset.metadata));
    offset.commit_ms.write(w);
    if let Some(expire_ms) = offset.expire_ms {
        expire_ms.write(w);
    }
    if version >= 4 {
        let has_id = !offset.topic_id.is_zero();
        w.unsigned_varint(u32::from(has_id));
        if has_id {
            w.tagged_field(0, &mut |w| offset.topic_id.write(w));
        }
    }
}

fn read_offset(value: &[u8], names: &mut Names) -> Result<OffsetValue, DecodeError> {
    let value: OffsetCommitValue = from_versioned(value)?;
    Ok(OffsetValue {
        offset: value.offset,
        leader_epoch: value.leader_epoch,
        metadata: names.shared(Naming::Metadata, &value.metadata),
        commit_ms: value.commit_timestamp,
        expire_ms: (value.expire_timestamp >= 0).then_some(value.expire_timestamp),
        topic_id: value.topic_id,
    })
}

fn read_legacy(value: &[u8]) -> Result<OffsetValue, DecodeError> {
    let value: LegacyOffsetCommitValue = from_versioned(value)?;
    Ok(OffsetValue {
        offset: value.offset,
        leader_epoch: -1,
        metadata: value.metadata.into(),
        commit_ms: value.commit_timestamp,
        expire_ms: None,
        topic_id: Uuid::default(),
    })
}

fn group_message(value: &GroupValue) -> GroupMetadataValue {
    let own = |text: &Arc<str>| text.to_string();
    let members = value.members.iter().map(|member| MemberMetadata {
        member_id: own(&member.member),
        group_instance_id: member.instance.as_ref().map(own),
        client_id: own(&member.client_id),
        client_host: own(&member.client_host),
        rebalance_timeout: member.rebalance_timeout_ms,
        session_timeout: member.session_timeout_ms,
        subscription: member.subscription.clone(),
        assignment: member.assignment.clone(),
    });
    GroupMetadataValue {
        protocol_type: own(&value.protocol_type),
        generation: value.generation,
        protocol: value.protocol.as_ref().map(own),
        leader: value.leader.as_ref().map(own),
        current_state_timestamp: value.since_ms,
        members: members.collect(),
    }
}

fn group_value(value: GroupMetadataValue) -> GroupValue {
    let members = value.members.into_iter().map(|member| MemberValue {
        member: member.member_id.into(),
        instance: member.group_instance_id.map(Arc::from),
        client_id: member.client_id.into(),
        client_host: member.client_host.into(),
        rebalance_timeout_ms: member.rebalance_timeout,
        session_timeout_ms: member.session_timeout,
        subscription: member.subscription,
        assignment: member.assignment,
    });
    GroupValue {
        protocol_type: value.protocol_type.into(),
        generation: value.generation,
        protocol: value.protocol.map(Arc::from),
        leader: value.leader.map(Arc::from),
        since_ms: value.current_state_timestamp,
        members: members.collect(),
    }
}

/// Records of the other protocols: known by their schema, kept as bytes. All their keys begin with the group.
fn foreign(kind: i16, key: &[u8], value: Option<&[u8]>) -> Result<Record, String> {
    OffsetsRecord::decode(key, None).map_err(|e| e.to_string())?;
    let mut r = Reader::new(key, 0);
    let group: Option<GroupId> =
        i16::read(&mut r).and_then(|_| name(&mut r, Naming::Group, &mut Names::default())).ok();
    let (key, value) = (Bytes::copy_from_slice(key), value.map(Bytes::copy_from_slice));
    Ok(Record::Foreign { kind, group, key, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(record: &Record) -> (Vec<u8>, Option<Vec<u8>>) {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let has_value = GroupMachine::encode(record, &mut key, &mut value);
        (key, has_value.then_some(value))
    }

    #[track_caller]
    fn comes_back(record: &Record) {
        let (key, value) = bytes_of(record);
        assert_eq!(
            GroupMachine::decode(&key, value.as_deref(), None, &mut Names::default()).as_ref(),
            Ok(record)
        );
        // Kafka's schemas read it, too.
        OffsetsRecord::decode(&key, value.as_deref()).unwrap();
    }

    fn offset(expire_ms: Option<i64>, topic_id: Uuid) -> Record {
        let value = OffsetValue {
            offset: 5,
            leader_epoch: -1,
            metadata: "m".into(),
            commit_ms: 1_795_970_711_960,
            expire_ms,
            topic_id,
        };
        let (group, topic) = ("g".into(), "t".into());
        Record::Offset { group, topic, partition: 7, value: Some(value), producer: None }
    }

    #[test]
    fn records_come_back_and_are_kafkas() {
        comes_back(&offset(None, Uuid([3; 16])));
        comes_back(&offset(None, Uuid::default()));
        comes_back(&offset(Some(9), Uuid::default()));
        comes_back(&Record::Offset {
            group: "".into(),
            topic: "t".into(),
            partition: 0,
            value: None,
            producer: None,
        });
        comes_back(&Record::Group { group: "g".into(), value: None });
        let member = MemberValue {
            member: "m-1".into(),
            instance: Some("i".into()),
            client_id: "c".into(),
            client_host: "/127.0.0.1".into(),
            rebalance_timeout_ms: 5,
            session_timeout_ms: 6,
            subscription: Bytes::from_static(b"s"),
            assignment: Bytes::from_static(b"a"),
        };
        let value = GroupValue {
            protocol_type: "consumer".into(),
            generation: 3,
            protocol: Some("range".into()),
            leader: Some("m-1".into()),
            since_ms: 12,
            members: vec![member],
        };
        comes_back(&Record::Group { group: "g".into(), value: Some(value) });
    }

    #[test]
    fn an_offset_takes_the_bytes_that_kafka_writes() {
        let (key, value) = bytes_of(&offset(None, Uuid([3; 16])));
        assert_eq!(key, [0, 1, 0, 1, b'g', 0, 1, b't', 0, 0, 0, 7]);
        assert_eq!(value.map(|value| value.len()), Some(43), "as kafka-dump-log shows for the same commit");
    }

    #[test]
    fn records_of_other_protocols_are_kept_and_unknown_ones_refused() {
        // ShareGroupMetadataKey of group "g".
        let record = GroupMachine::decode(
            &[0, 11, 0, 1, b'g'],
            Some(&[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            None,
            &mut Names::default(),
        )
        .unwrap();
        let Record::Foreign { kind: 11, group: Some(group), .. } = &record else { panic!("{record:?}") };
        assert_eq!(&**group, "g");
        comes_back(&record);
        assert!(GroupMachine::decode(&[0, 99], None, None, &mut Names::default()).is_err());
        assert!(GroupMachine::decode(&[], None, None, &mut Names::default()).is_err());
    }
}
