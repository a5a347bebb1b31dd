//! Kafka's metadata records, one type for all of them, and their framing in the log.
//!
//! A record's value is: frame version (1), kind, version – all unsigned varints – and the message itself.

use barnabas_protocol::codec::{DecodeError, Reader, Writer};
use barnabas_protocol::messages::{Message as _, Record as _, records};
use thiserror::Error;

/// The framing that Kafka writes and reads.
const FRAME_VERSION: u32 = 1;

/// Why bytes in the metadata log are no record that this version knows. Our own truth is broken: the broker stops.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The bytes do not follow the schema.
    #[error("a metadata record cannot be read: {0}")]
    Decode(#[from] DecodeError),
    /// A framing of the future.
    #[error("metadata record with unknown frame version {0}")]
    Frame(u32),
    /// A kind of the future.
    #[error("metadata record of unknown kind {0}")]
    Kind(u32),
    /// A version of the future.
    #[error("metadata record of kind {kind} with unknown version {version}")]
    Version {
        /// What kind of record.
        kind: u32,
        /// Its version.
        version: u32,
    },
}

macro_rules! records {
    ($($kind:ident($message:ident),)*) => {
        /// One record of the metadata log.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "Kafka's names: each is the message inside")]
        pub enum Record {
            $($kind(records::$message),)*
        }

        impl Record {
            fn kind(&self) -> i16 {
                match self {
                    $(Record::$kind(_) => records::$message::KEY,)*
                }
            }

            fn version(&self) -> i16 {
                match self {
                    $(Record::$kind(_) => records::$message::MAX_VERSION,)*
                }
            }

            fn write(&self, w: &mut Writer<'_>) {
                match self {
                    $(Record::$kind(message) => message.encode(w),)*
                }
            }

            fn read(kind: i16, bytes: &[u8], version: i16) -> Option<Result<Record, DecodeError>> {
                $(if kind == records::$message::KEY {
                    return Some(records::$message::from_bytes(bytes, version).map(Record::$kind));
                })*
                None
            }
        }

        $(impl From<records::$message> for Record {
            fn from(message: records::$message) -> Record {
                Record::$kind(message)
            }
        })*
    };
}

records! {
    RegisterBroker(RegisterBrokerRecord),
    UnregisterBroker(UnregisterBrokerRecord),
    Topic(TopicRecord),
    Partition(PartitionRecord),
    Config(ConfigRecord),
    PartitionChange(PartitionChangeRecord),
    FenceBroker(FenceBrokerRecord),
    UnfenceBroker(UnfenceBrokerRecord),
    RemoveTopic(RemoveTopicRecord),
    DelegationToken(DelegationTokenRecord),
    UserScramCredential(UserScramCredentialRecord),
    FeatureLevel(FeatureLevelRecord),
    ClientQuota(ClientQuotaRecord),
    ProducerIds(ProducerIdsRecord),
    BrokerRegistrationChange(BrokerRegistrationChangeRecord),
    AccessControlEntry(AccessControlEntryRecord),
    RemoveAccessControlEntry(RemoveAccessControlEntryRecord),
    NoOp(NoOpRecord),
    ZkMigrationState(ZkMigrationStateRecord),
    RemoveUserScramCredential(RemoveUserScramCredentialRecord),
    BeginTransaction(BeginTransactionRecord),
    EndTransaction(EndTransactionRecord),
    AbortTransaction(AbortTransactionRecord),
    RemoveDelegationToken(RemoveDelegationTokenRecord),
    RegisterController(RegisterControllerRecord),
    ClearElr(ClearElrRecord),
    UnregisterController(UnregisterControllerRecord),
}

impl Record {
    /// The bytes of the record's value in the log, at the newest version.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        let version = self.version();
        let mut writer = Writer::new(&mut out, version);
        writer.unsigned_varint(FRAME_VERSION);
        writer.unsigned_varint(u32::from(self.kind().cast_unsigned()));
        writer.unsigned_varint(u32::from(version.cast_unsigned()));
        self.write(&mut writer);
        out
    }

    /// Reads a record's value.
    ///
    /// # Errors
    /// The bytes are damaged, or written by a later version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Record, RecordError> {
        let mut reader = Reader::new(bytes, 0);
        let frame = reader.unsigned_varint()?;
        if frame != FRAME_VERSION {
            return Err(RecordError::Frame(frame));
        }
        let kind = reader.unsigned_varint()?;
        let version = reader.unsigned_varint()?;
        let (Ok(short_kind), Ok(short_version)) = (i16::try_from(kind), i16::try_from(version)) else {
            return Err(RecordError::Kind(kind));
        };
        match Record::read(short_kind, reader.rest(), short_version) {
            None => Err(RecordError::Kind(kind)),
            Some(Err(DecodeError::UnsupportedVersion(_))) => Err(RecordError::Version { kind, version }),
            Some(record) => Ok(record?),
        }
    }
}
