//! Records whose key begins with their type and whose value begins with its version.

use super::classic_group::*;
use super::consumer_group::*;
use super::share_group::*;
use super::share_state::*;
use super::streams_group::*;
use super::transaction_log::*;
use super::{RecordError, from_versioned, to_versioned};
use crate::codec::{Reader, Wire};
use crate::messages::{Message, Record};

/// Keys have one version.
const KEY_VERSION: i16 = 0;

macro_rules! keyed_log {
    ($(#[$meta:meta])* $log:ident { $( $name:ident: $key:ident => $value:ident; )* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $log {
            $(
                #[doc = concat!("A [`", stringify!($key), "`], and its value or a tombstone.")]
                $name($key, Option<$value>),
            )*
        }

        impl $log {
            /// Reads a record; no value is a tombstone.
            pub fn decode(key: &[u8], value: Option<&[u8]>) -> Result<$log, RecordError> {
                let mut r = Reader::new(key, KEY_VERSION);
                match i16::read(&mut r)? {
                    $(
                        <$key as Record>::KEY => Ok($log::$name(
                            $key::from_bytes(r.rest(), KEY_VERSION)?,
                            value.map(from_versioned::<$value>).transpose()?,
                        )),
                    )*
                    unknown => Err(RecordError::UnknownType(i64::from(unknown))),
                }
            }

            /// The bytes of the key.
            pub fn key_bytes(&self) -> Vec<u8> {
                match self { $(
                    $log::$name(key, _) => {
                        let mut out = <$key as Record>::KEY.to_be_bytes().to_vec();
                        out.extend_from_slice(&key.to_bytes(KEY_VERSION));
                        out
                    }
                )* }
            }

            /// The bytes of the value in a version of its kind; `None` is a tombstone.
            pub fn value_bytes(&self, version: i16) -> Option<Vec<u8>> {
                match self { $(
                    $log::$name(_, value) => value.as_ref().map(|value| to_versioned(value, version)),
                )* }
            }
        }
    };
}

keyed_log! {
    /// A record of `__consumer_offsets`.
    OffsetsRecord {
        LegacyOffsetCommit: LegacyOffsetCommitKey => LegacyOffsetCommitValue;
        OffsetCommit: OffsetCommitKey => OffsetCommitValue;
        GroupMetadata: GroupMetadataKey => GroupMetadataValue;
        ConsumerGroupMetadata: ConsumerGroupMetadataKey => ConsumerGroupMetadataValue;
        ConsumerGroupPartitionMetadata: ConsumerGroupPartitionMetadataKey => ConsumerGroupPartitionMetadataValue;
        ConsumerGroupMemberMetadata: ConsumerGroupMemberMetadataKey => ConsumerGroupMemberMetadataValue;
        ConsumerGroupTargetAssignmentMetadata:
            ConsumerGroupTargetAssignmentMetadataKey => ConsumerGroupTargetAssignmentMetadataValue;
        ConsumerGroupTargetAssignmentMember:
            ConsumerGroupTargetAssignmentMemberKey => ConsumerGroupTargetAssignmentMemberValue;
        ConsumerGroupCurrentMemberAssignment:
            ConsumerGroupCurrentMemberAssignmentKey => ConsumerGroupCurrentMemberAssignmentValue;
        ConsumerGroupRegularExpression:
            ConsumerGroupRegularExpressionKey => ConsumerGroupRegularExpressionValue;
        ShareGroupMemberMetadata: ShareGroupMemberMetadataKey => ShareGroupMemberMetadataValue;
        ShareGroupMetadata: ShareGroupMetadataKey => ShareGroupMetadataValue;
        ShareGroupTargetAssignmentMetadata:
            ShareGroupTargetAssignmentMetadataKey => ShareGroupTargetAssignmentMetadataValue;
        ShareGroupTargetAssignmentMember:
            ShareGroupTargetAssignmentMemberKey => ShareGroupTargetAssignmentMemberValue;
        ShareGroupCurrentMemberAssignment:
            ShareGroupCurrentMemberAssignmentKey => ShareGroupCurrentMemberAssignmentValue;
        ShareGroupStatePartitionMetadata:
            ShareGroupStatePartitionMetadataKey => ShareGroupStatePartitionMetadataValue;
        StreamsGroupMetadata: StreamsGroupMetadataKey => StreamsGroupMetadataValue;
        StreamsGroupMemberMetadata: StreamsGroupMemberMetadataKey => StreamsGroupMemberMetadataValue;
        StreamsGroupTargetAssignmentMetadata:
            StreamsGroupTargetAssignmentMetadataKey => StreamsGroupTargetAssignmentMetadataValue;
        StreamsGroupTargetAssignmentMember:
            StreamsGroupTargetAssignmentMemberKey => StreamsGroupTargetAssignmentMemberValue;
        StreamsGroupCurrentMemberAssignment:
            StreamsGroupCurrentMemberAssignmentKey => StreamsGroupCurrentMemberAssignmentValue;
        StreamsGroupTopology: StreamsGroupTopologyKey => StreamsGroupTopologyValue;
    }
}

keyed_log! {
    /// A record of `__transaction_state`.
    TransactionRecord {
        TransactionLog: TransactionLogKey => TransactionLogValue;
    }
}

keyed_log! {
    /// A record of `__share_group_state`.
    ShareRecord {
        ShareSnapshot: ShareSnapshotKey => ShareSnapshotValue;
        ShareUpdate: ShareUpdateKey => ShareUpdateValue;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(value: Option<OffsetCommitValue>) -> OffsetsRecord {
        let key = OffsetCommitKey { group: "g".into(), topic: "t".into(), partition: 2 };
        OffsetsRecord::OffsetCommit(key, value)
    }

    #[test]
    fn a_committed_offset_has_kafkas_bytes() {
        let value = OffsetCommitValue {
            offset: 258,
            leader_epoch: 5,
            metadata: "m".into(),
            commit_timestamp: 3,
            ..Default::default()
        };
        let record = commit(Some(value));
        assert_eq!(record.key_bytes(), [0, 1, 0, 1, b'g', 0, 1, b't', 0, 0, 0, 2]);
        let bytes = record.value_bytes(3).unwrap();
        assert_eq!(bytes, [0, 3, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 5, 0, 1, b'm', 0, 0, 0, 0, 0, 0, 0, 3],);
        assert_eq!(OffsetsRecord::decode(&record.key_bytes(), Some(&bytes)), Ok(record));
    }

    #[test]
    fn a_tombstone_has_no_value() {
        let record = commit(None);
        assert_eq!(record.value_bytes(3), None);
        assert_eq!(OffsetsRecord::decode(&record.key_bytes(), None), Ok(record));
    }

    #[test]
    fn unknown_types_and_versions_are_told_apart_from_malformed_ones() {
        assert_eq!(OffsetsRecord::decode(&[0, 99], None), Err(RecordError::UnknownType(99)));
        let error = OffsetsRecord::decode(&commit(None).key_bytes(), Some(&[0, 9])).unwrap_err();
        assert_eq!(error.to_string(), "version 9 is not supported");
        assert!(matches!(OffsetsRecord::decode(&[0], None), Err(RecordError::Malformed(_))));
    }
}
