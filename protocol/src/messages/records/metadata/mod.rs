//! The records of `__cluster_metadata` and their frame: a frame version (1), the record's type and its
//! version, each an unsigned varint, then the record.

mod broker;
mod config;
mod controller;
mod log;
mod producer_ids;
mod security;
mod topic;

pub use broker::*;
pub use config::*;
pub use controller::*;
pub use log::*;
pub use producer_ids::*;
pub use security::*;
pub use topic::*;

use super::RecordError;
use crate::codec::{Reader, Writer};
use crate::messages::{Message, Record};

/// The only version of the frame.
const FRAME_VERSION: u32 = 1;

macro_rules! metadata_records {
    ($( $name:ident: $record:ident; )*) => {
        /// A record of the metadata log.
        #[derive(Clone, Debug, PartialEq)]
        pub enum MetadataRecord {
            $(
                #[doc = concat!("A [`", stringify!($record), "`].")]
                $name($record),
            )*
        }

        $(
            impl From<$record> for MetadataRecord {
                fn from(record: $record) -> MetadataRecord {
                    MetadataRecord::$name(record)
                }
            }
        )*

        impl MetadataRecord {
            /// Reads a record in its frame.
            pub fn decode(bytes: &[u8]) -> Result<MetadataRecord, RecordError> {
                let mut r = Reader::new(bytes, 0);
                let frame = r.unsigned_varint()?;
                if frame != FRAME_VERSION {
                    return Err(RecordError::UnknownFrame(frame));
                }
                let kind = r.unsigned_varint()?;
                let version = r.unsigned_varint()?;
                // A number too large for a version is none that is supported.
                let version = i16::try_from(version).unwrap_or(i16::MAX);
                match i16::try_from(kind).unwrap_or(i16::MAX) {
                    $( $record::KEY => Ok(MetadataRecord::$name($record::from_bytes(r.rest(), version)?)), )*
                    _ => Err(RecordError::UnknownType(i64::from(kind))),
                }
            }

            /// Appends the record in its frame, in a version of its kind.
            pub fn encode(&self, version: i16, out: &mut Vec<u8>) {
                let mut w = Writer::new(out, version);
                w.unsigned_varint(FRAME_VERSION);
                w.unsigned_varint(u32::try_from(self.key()).unwrap_or_default());
                w.unsigned_varint(u32::try_from(version).unwrap_or_default());
                match self { $( MetadataRecord::$name(record) => record.encode(&mut w), )* }
            }

            /// The record's type.
            pub fn key(&self) -> i16 {
                match self { $( MetadataRecord::$name(_) => $record::KEY, )* }
            }

            /// The last version of the record's kind.
            pub fn max_version(&self) -> i16 {
                match self { $( MetadataRecord::$name(_) => $record::MAX_VERSION, )* }
            }
        }
    };
}

metadata_records! {
    RegisterBroker: RegisterBrokerRecord;
    UnregisterBroker: UnregisterBrokerRecord;
    Topic: TopicRecord;
    Partition: PartitionRecord;
    Config: ConfigRecord;
    PartitionChange: PartitionChangeRecord;
    FenceBroker: FenceBrokerRecord;
    UnfenceBroker: UnfenceBrokerRecord;
    RemoveTopic: RemoveTopicRecord;
    DelegationToken: DelegationTokenRecord;
    UserScramCredential: UserScramCredentialRecord;
    FeatureLevel: FeatureLevelRecord;
    ClientQuota: ClientQuotaRecord;
    ProducerIds: ProducerIdsRecord;
    BrokerRegistrationChange: BrokerRegistrationChangeRecord;
    AccessControlEntry: AccessControlEntryRecord;
    RemoveAccessControlEntry: RemoveAccessControlEntryRecord;
    NoOp: NoOpRecord;
    ZkMigrationState: ZkMigrationStateRecord;
    RemoveUserScramCredential: RemoveUserScramCredentialRecord;
    BeginTransaction: BeginTransactionRecord;
    EndTransaction: EndTransactionRecord;
    AbortTransaction: AbortTransactionRecord;
    RemoveDelegationToken: RemoveDelegationTokenRecord;
    RegisterController: RegisterControllerRecord;
    ClearElr: ClearElrRecord;
    UnregisterController: UnregisterControllerRecord;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_framed_by_type_and_version() {
        let record = MetadataRecord::from(FeatureLevelRecord { name: "f".into(), feature_level: 3 });
        let mut bytes = Vec::new();
        record.encode(0, &mut bytes);
        assert_eq!(bytes, [1, 12, 0, 2, b'f', 0, 3, 0]);
        assert_eq!(MetadataRecord::decode(&bytes), Ok(record));
    }

    #[test]
    fn what_a_newer_controller_may_write_is_refused_by_name() {
        assert_eq!(MetadataRecord::decode(&[2, 12, 0]), Err(RecordError::UnknownFrame(2)));
        assert_eq!(MetadataRecord::decode(&[1, 99, 0]), Err(RecordError::UnknownType(99)));
        let error = MetadataRecord::decode(&[1, 12, 7, 2, b'f', 0, 3, 0]).unwrap_err();
        assert_eq!(error.to_string(), "version 7 is not supported");
    }
}
