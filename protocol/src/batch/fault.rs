//! Why a batch is refused.

use super::codec::Codec;
use thiserror::Error;

/// What Kafka answers for a [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// CORRUPT_MESSAGE: the bytes are not what was sent.
    Corrupt,
    /// INVALID_RECORD: well-framed, but not allowed.
    Invalid,
    /// INVALID_TIMESTAMP.
    Timestamp,
    /// MESSAGE_TOO_LARGE.
    TooLarge,
    /// UNSUPPORTED_COMPRESSION_TYPE.
    UnsupportedCodec,
    /// UNKNOWN_SERVER_ERROR: Kafka trips over these instead of refusing them.
    Unreadable,
}

/// The cause of a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The length field is below any batch's.
    #[error("Record size {0} is less than the minimum record overhead (14)")]
    Length(i32),
    /// Too short for a v2 header.
    #[error("{0} bytes are too few for a batch")]
    Short(usize),
    /// A version that never was.
    #[error("Invalid magic found in record: {0}")]
    Magic(i8),
    /// The checksum differs.
    #[error("record is corrupt (stored crc = {stored}, computed crc = {computed})")]
    Crc {
        /// In the header.
        stored: u32,
        /// Of the bytes.
        computed: u32,
    },
    /// Nothing that is a complete batch.
    #[error("produce requests must have at least one record batch per partition")]
    NoBatch,
    /// More than one complete batch for a partition.
    #[error("produce requests must contain exactly one record batch per partition")]
    SeveralBatches,
    /// Magic 0 or 1, which Kafka 4 no longer takes.
    #[error("produce requests are only allowed to contain record batches with magic version 2, not {0}")]
    OldMagic(i8),
    /// A client must count from 0.
    #[error("the baseOffset of the record batch should be 0, but it is {0}")]
    BaseOffset(i64),
    /// The last offset delta is negative.
    #[error("batch has an invalid offset range, last offset delta {0}")]
    OffsetRange(i32),
    /// A record count of 0 or less.
    #[error("invalid reported count for record batch: {0}")]
    Count(i32),
    /// Count and last offset delta do not agree.
    #[error("inconsistent batch: {count} records with a last offset delta of {last_offset_delta}")]
    CountDiffers {
        /// Of records, by the header.
        count: i32,
        /// By the header.
        last_offset_delta: i32,
    },
    /// A control batch from a client.
    #[error("clients are not allowed to write control records")]
    Control,
    /// A producer id without a sequence.
    #[error("invalid sequence number {0} in a record batch with a producer id")]
    Sequence(i32),
    /// A record that is not built as records are, or bytes left after the last.
    #[error("record {index} is malformed: {what}")]
    Record {
        /// Position in the batch.
        index: i32,
        /// What is wrong.
        what: Malformed,
    },
    /// Records that may not be in this topic or have bad times; never empty.
    #[error("one or more records have been rejected")]
    Records {
        /// The first of them.
        first: Vec<RecordFault>,
        /// How many there are.
        count: u64,
    },
    /// Above `max.message.bytes`.
    #[error("the record batch size is {bytes} bytes which exceeds the maximum configured value of {max}")]
    TooLarge {
        /// Of the whole batch.
        bytes: usize,
        /// Allowed.
        max: usize,
    },
    /// zstd before Produce 7.
    #[error("produce requests below version 7 are not allowed to use ZStandard compression")]
    ZstdTooEarly,
    /// Codec numbers 5 to 7.
    #[error("unknown compression type")]
    UnknownCodec,
    /// The compressed records are broken.
    #[error("{0:?} records cannot be decompressed")]
    Undecompressable(Codec),
    /// The compressor failed: our fault.
    #[error("the records cannot be compressed by {0:?}")]
    Uncompressable(Codec),
    /// The batch is longer than any buffer can be.
    #[error("a batch of {0} bytes and its head")]
    Endless(i32),
    /// A topic with `compression.type` has the batch built again, which these cannot be.
    #[error("the batch cannot be compressed anew: {0}")]
    NotRebuilt(&'static str),
    /// Decompressing was stopped at the cap.
    #[error("decompresses to more than the allowed {0} bytes")]
    Bomb(u64),
}

impl Fault {
    /// The answer's kind.
    pub fn class(&self) -> Class {
        match self {
            Fault::Length(_) | Fault::Short(_) | Fault::Magic(_) | Fault::Crc { .. } => Class::Corrupt,
            Fault::NoBatch
            | Fault::SeveralBatches
            | Fault::OldMagic(_)
            | Fault::BaseOffset(_)
            | Fault::OffsetRange(_)
            | Fault::Count(_)
            | Fault::CountDiffers { .. }
            | Fault::Control
            | Fault::Sequence(_) => Class::Invalid,
            Fault::Record { what: Malformed::Endless | Malformed::PackedOffset, .. } => Class::Unreadable,
            Fault::Record { .. } => Class::Invalid,
            Fault::Records { first, .. } => match first.iter().any(|record| record.cause.is_time()) {
                true => Class::Timestamp,
                false => Class::Invalid,
            },
            Fault::TooLarge { .. } | Fault::Bomb(_) => Class::TooLarge,
            Fault::ZstdTooEarly => Class::UnsupportedCodec,
            Fault::UnknownCodec
            | Fault::Undecompressable(_)
            | Fault::Uncompressable(_)
            | Fault::Endless(_)
            | Fault::NotRebuilt(_) => Class::Unreadable,
        }
    }

    /// The text that Kafka's answer carries for the whole batch; most refusals have none.
    pub fn message(&self, topic: &str, partition: i32) -> Option<String> {
        let Fault::Records { first, count } = self else { return None };
        if self.class() == Class::Timestamp {
            return Some("One or more records have been rejected due to invalid timestamp".to_owned());
        }
        let first: Vec<String> = first.iter().take(3).map(|record| record.shown(topic, partition)).collect();
        Some(format!(
            "One or more records have been rejected due to {count} record errors in total, \
             and only showing the first three errors at most: [{}]",
            first.join(", ")
        ))
    }

    /// The records to name in the answer (KIP-467); empty if the batch as a whole is refused.
    pub fn records(&self) -> &[RecordFault] {
        match self {
            Fault::Records { first, .. } => first,
            _ => &[],
        }
    }
}

/// What is wrong with a record's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// It ends before its fields do, or a varint does not end.
    Cut,
    /// Its length field and its fields do not agree.
    Length,
    /// A negative or impossible number of headers.
    Headers,
    /// A header without a key.
    HeaderKey,
    /// The varint of its length does not end.
    Endless,
    /// Longer than a compressed record may be (`max.decompressed.message.bytes`).
    Long,
    /// Its offset does not follow the one before.
    Offset,
    /// The same in a compressed batch, which Kafka trips over.
    PackedOffset,
    /// Bytes are left after the last record.
    Trailing,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Malformed::Cut => "it is cut",
            Malformed::Length => "its length is wrong",
            Malformed::Headers => "its number of headers is impossible",
            Malformed::HeaderKey => "a header has no key",
            Malformed::Endless => "its length does not end",
            Malformed::Long => "it is longer than a compressed record may be",
            Malformed::Offset | Malformed::PackedOffset => "its offset is out of order",
            Malformed::Trailing => "bytes follow the last record",
        })
    }
}

/// One record that may not be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFault {
    /// Position in the batch.
    pub index: i32,
    /// Why.
    pub cause: RecordCause,
}

/// Why a record may not be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordCause {
    /// A compacted topic needs keys.
    NoKey,
    /// Outside `message.timestamp.before.max.ms` / `message.timestamp.after.max.ms`.
    Timestamp {
        /// Of the record, ms.
        timestamp: i64,
        /// Earliest allowed, ms.
        earliest: i64,
        /// Latest allowed, ms.
        latest: i64,
    },
    /// The client claims append time.
    TimestampType {
        /// Of the record, ms.
        timestamp: i64,
        /// Bytes of the key, if it has one.
        key: Option<usize>,
        /// Bytes of the value, if it has one.
        value: Option<usize>,
        /// It was only skimmed: the batch is compressed and stays so.
        skimmed: bool,
    },
}

impl RecordCause {
    fn is_time(&self) -> bool {
        !matches!(self, RecordCause::NoKey)
    }
}

impl RecordFault {
    fn shown(&self, topic: &str, partition: i32) -> String {
        format!("RecordError(batchIndex={}, message='{}')", self.index, self.message(topic, partition))
    }

    /// The text that Kafka gives for it.
    pub fn message(&self, topic: &str, partition: i32) -> String {
        match self.cause {
            RecordCause::NoKey => format!(
                "Compacted topic cannot accept message without key in topic partition {topic}-{partition}"
            ),
            RecordCause::Timestamp { timestamp, earliest, latest } => format!(
                "Timestamp {timestamp} of message with offset {} is out of range. \
                 The timestamp should be within [{earliest}, {latest}]",
                self.index
            ),
            RecordCause::TimestampType { timestamp, key, value, skimmed } => {
                let (name, null) = if skimmed { ("PartialDefaultRecord", -1) } else { ("DefaultRecord", 0) };
                let bytes = |field: Option<usize>| {
                    field.map_or(null, |bytes| i64::try_from(bytes).unwrap_or(i64::MAX))
                };
                format!(
                    "Invalid timestamp type in message {name}(offset={}, timestamp={timestamp}, key={} bytes, \
                     value={} bytes). Producer should not set timestamp type to LogAppendTime.",
                    self.index,
                    bytes(key),
                    bytes(value)
                )
            }
        }
    }
}
