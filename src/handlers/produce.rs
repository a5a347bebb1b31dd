//! Produce (0), versions 3-13; 0-2 are listed, because old clients look for them, and refused when used.
//!
//! Version 7 brings zstd, 8 the records that were refused (KIP-467), 9 flexible fields, 10 the new leader
//! (KIP-951), 13 topic ids (KIP-516).

use std::cell::RefCell;
use std::sync::Arc;

use barnabas_protocol::batch::{Caps, Codec, Fault, Origin, RawBatch, Rules, Scratch, TimestampRule};
use barnabas_protocol::produce::{PartitionAnswer, PartitionData, ProduceRequest, ProduceResponseWriter};
use barnabas_protocol::{ErrorCode, TopicRef};

use super::{Answer, CloseReason, Ctx, Operation, Out, Outcome, Resource, error};
use crate::config::{Compression, TopicConfig};
use crate::ids::Uuid;
use crate::partition::{PartitionError, Topic};
use crate::storage::Appended;

/// The oldest version that is answered.
const FIRST_VERSION: i16 = 3;
/// zstd from here on.
const ZSTD_VERSION: i16 = 7;

thread_local! {
    /// Buffers of the decompressors and a batch compressed anew, one set per worker.
    static SCRATCH: RefCell<(Scratch, Vec<u8>)> = RefCell::default();
}

/// A batch compressed anew may leave a buffer of this size behind, in bytes.
const REPACKED_KEPT: usize = 1024 * 1024;

/// Why a partition's records are not appended.
enum Refusal {
    Code(ErrorCode),
    Fault(Fault),
    Partition(PartitionError),
}

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    if ctx.version < FIRST_VERSION {
        return Err(CloseReason::Unsupported { api: ctx.api, version: ctx.version });
    }
    let request = ProduceRequest::read(ctx.version, body)?;
    let acks = request.acks;
    let refused_all = refused_as_a_whole(ctx, &request);
    let mut silent_failure = None;
    let mut writer = ProduceResponseWriter::begin(out.bytes(), ctx.version, request.topics.len());
    for data in request.topics {
        let topic = find(ctx, &data.topic);
        let (name, id) = match &data.topic {
            TopicRef::Name(name) => (&**name, Uuid::ZERO),
            TopicRef::Id(id) => ("", *id),
        };
        writer.topic(name, id, data.partitions.len());
        for partition in data.partitions {
            let index = partition.index;
            let result = match (refused_all, &topic) {
                (Some(code), _) => Err(Refusal::Code(code)),
                (None, Err(code)) => Err(Refusal::Code(*code)),
                (None, Ok(topic)) => append(ctx, topic, partition),
            };
            let name = topic.as_ref().map_or(name, |topic| &topic.name);
            if let Some(code) = answer(&mut writer, index, name, &result) {
                silent_failure.get_or_insert(code);
            }
        }
    }
    writer.finish(0, &[]);
    match (acks, silent_failure) {
        (0, Some(code)) => Err(CloseReason::ProduceFailed(code)),
        (0, None) => Ok(Outcome::Silent),
        _ => Ok(Outcome::Done),
    }
}

/// An error that no partition can escape.
fn refused_as_a_whole(ctx: &Ctx<'_>, request: &ProduceRequest<'_>) -> Option<ErrorCode> {
    if let Some(id) = &request.transactional_id
        && !ctx.authorize(Operation::Write, Resource::TransactionalId(id))
    {
        return Some(ErrorCode::TransactionalIdAuthorizationFailed);
    }
    (!(-1..=1).contains(&request.acks)).then_some(ErrorCode::InvalidRequiredAcks)
}

fn find(ctx: &Ctx<'_>, topic: &TopicRef<'_>) -> Result<Arc<Topic>, ErrorCode> {
    let table = &ctx.rooms.partitions;
    let found = match topic {
        TopicRef::Name(name) => table.topic(name).ok_or(ErrorCode::UnknownTopicOrPartition),
        TopicRef::Id(id) => table.topic_by_id(*id).ok_or(ErrorCode::UnknownTopicId),
    }?;
    if !ctx.authorize(Operation::Write, Resource::Topic(&found.name)) {
        return Err(ErrorCode::TopicAuthorizationFailed);
    }
    Ok(found)
}

/// What is appended, and the log's first offset.
fn append(ctx: &Ctx<'_>, topic: &Topic, data: PartitionData<'_>) -> Result<(Appended, i64), Refusal> {
    let unknown = PartitionError::UnknownTopicOrPartition;
    let partition = topic.partition(data.index).ok_or(Refusal::Partition(unknown))?;
    let records = data.records.ok_or(Refusal::Code(ErrorCode::InvalidRecord))?;
    let config = topic.config();
    let rules = rules(&config, ctx.now.wall_ms);
    SCRATCH.with_borrow_mut(|(scratch, repacked)| {
        let batch = RawBatch::sole(records, ctx.version >= ZSTD_VERSION).map_err(Refusal::Fault)?;
        let mut batch = batch.validate(&rules, scratch).map_err(Refusal::Fault)?;
        if let Some((codec, level)) =
            wanted_codec(config.compression).filter(|(codec, _)| *codec != batch.facts().codec)
        {
            repacked.shrink_to(REPACKED_KEPT);
            let packed = batch.recompress(codec, level, rules.max_bytes, scratch, repacked);
            batch = packed.map_err(Refusal::Fault)?;
        }
        let appended = partition.append(batch, Origin::Client, ctx.now).map_err(Refusal::Partition)?;
        Ok((appended, partition.log().start_offset()))
    })
}

/// The topic's `compression.type`, unless it leaves the choice to the producer.
fn wanted_codec(compression: Compression) -> Option<(Codec, Option<i32>)> {
    match compression {
        Compression::Producer => None,
        Compression::None => Some((Codec::None, None)),
        Compression::Gzip(level) => Some((Codec::Gzip, Some(level))),
        Compression::Snappy => Some((Codec::Snappy, None)),
        Compression::Lz4(level) => Some((Codec::Lz4, Some(level))),
        Compression::Zstd(level) => Some((Codec::Zstd, Some(level))),
    }
}

fn rules(config: &TopicConfig, now_ms: i64) -> Rules {
    let timestamps = if config.log_append_time {
        TimestampRule::Append
    } else {
        TimestampRule::Create {
            before_max_ms: config.timestamp_before_max_ms,
            after_max_ms: config.timestamp_after_max_ms,
        }
    };
    Rules {
        origin: Origin::Client,
        max_bytes: usize::try_from(config.max_message_bytes).unwrap_or_default(),
        compacted: config.compact,
        timestamps,
        now_ms,
        caps: Caps::default(),
    }
}

/// Writes a partition's answer; gives the code if it is an error.
fn answer(
    writer: &mut ProduceResponseWriter<'_>,
    index: i32,
    topic: &str,
    result: &Result<(Appended, i64), Refusal>,
) -> Option<ErrorCode> {
    let refusal = match result {
        Ok((appended, log_start_offset)) => {
            writer.partition(&PartitionAnswer {
                base_offset: appended.first_offset,
                log_append_time_ms: appended.append_time,
                log_start_offset: *log_start_offset,
                ..PartitionAnswer::refused(index, ErrorCode::None.code())
            });
            return None;
        }
        Err(refusal) => refusal,
    };
    let (code, records, message) = match refusal {
        Refusal::Code(code) => (*code, Vec::new(), None),
        Refusal::Partition(cause) => (error::partition(cause), Vec::new(), None),
        Refusal::Fault(fault) => {
            let records = fault.records().iter();
            let records = records.map(|record| (record.index, record.message(topic, index)));
            (error::batch(fault), records.collect(), Some(fault.to_string()))
        }
    };
    writer.partition(&PartitionAnswer {
        record_errors: &records,
        error_message: message.as_deref(),
        ..PartitionAnswer::refused(index, code.code())
    });
    Some(code)
}
