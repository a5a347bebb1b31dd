//! Produce (0), versions 3-13; 0-2 are listed, because old clients look for them, and refused when used.
//!
//! Version 7 brings zstd, 8 the records that were refused (KIP-467), 9 flexible fields, 10 the new leader
//! (KIP-951), 13 topic ids (KIP-516).

mod await_commit;

use std::cell::RefCell;
use std::sync::Arc;

use barnabas_protocol::batch::{
    Caps, Codec, Fault, Origin, RawBatch, Rules, Scratch, TimestampRule, peek_transactional,
};
use barnabas_protocol::produce::{
    PartitionAnswer, PartitionData, ProduceRequest, ProduceResponseWriter, without_repeats,
};
use barnabas_protocol::{ErrorCode, TopicRef};

use self::await_commit::{AwaitCommit, Uncommitted};
use super::transactional_produce::{Admission, Verdicts, admit};
use super::{Answer, CloseReason, Ctx, Operation, Out, Outcome, Resource, before_it_begins, error};
use crate::config::{Compression, TopicConfig};
use crate::coordinator::Reply;
use crate::coordinator::transaction::Response;
use crate::ids::Uuid;
use crate::partition::{Acks, Partition, PartitionError, Topic};
use crate::storage::Appended;

/// The oldest version that is answered.
const FIRST_VERSION: i16 = 3;
/// zstd from here on.
const ZSTD_VERSION: i16 = 7;

thread_local! {
    /// Buffers of the decompressors and a batch compressed anew, one set per worker.
    static SCRATCH: RefCell<(Scratch, Vec<u8>)> = RefCell::default();
    /// Numbers of what a request names, to see what it names twice.
    static FINGERPRINTS: RefCell<Vec<u64>> = RefCell::default();
}

/// A batch compressed anew may leave a buffer of this size behind, in bytes.
const REPACKED_KEPT: usize = 1024 * 1024;

/// Why a partition's records are not appended.
enum Refusal {
    /// Of the request, the topic or the partition.
    Code(ErrorCode),
    /// Before the partition was looked at: nothing is known of its log.
    Unreadable(Fault),
    /// By the topic's rules.
    Fault { fault: Fault, log_start_offset: i64 },
    /// By the log.
    Partition { cause: PartitionError, log_start_offset: i64 },
}

/// An error that no partition can escape, and its text.
struct RefusedWhole {
    code: ErrorCode,
    message: Option<String>,
}

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    go_on(ctx, body, out, None)
}

/// With what the transaction's coordinator has told, if it was asked.
fn go_on(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out, told: Option<Reply<Response>>) -> Answer {
    if ctx.version < FIRST_VERSION {
        return Err(CloseReason::Unsupported { api: ctx.api, version: ctx.version });
    }
    let mut transactional = Ok(false);
    let request = ProduceRequest::read_looking(ctx.version, body, &mut |records| {
        if let Ok(before) = transactional {
            transactional = peek_transactional(records).map(|this| before || this);
        }
    })?;
    let request = if request.names_many {
        drop(request);
        let once = FINGERPRINTS.with_borrow_mut(|scratch| without_repeats(ctx.version, body, scratch))?;
        if let Some(mut once) = once {
            return go_on(ctx, &mut once, out, told);
        }
        ProduceRequest::read(ctx.version, body)?
    } else {
        request
    };
    let (acks, transaction) = (request.acks, matches!(transactional, Ok(true)));
    let needs = if acks == -1 { Acks::All } else { Acks::Leader };
    let timeout_ms = u64::try_from(request.timeout_ms).unwrap_or_default();
    let mut refused_whole = refused_as_a_whole(ctx, &request, transactional);
    let mut verdicts = Verdicts::default();
    let request = if transaction && refused_whole.is_none() {
        let id = request.transactional_id.unwrap_or_default().into_owned();
        match admit(ctx, &id, request.topics, told) {
            Admission::Decided(decided) => verdicts = decided,
            Admission::Refused(code) => refused_whole = Some(RefusedWhole { code, message: None }),
            Admission::Wait(receiver) => {
                let mut body = body.to_vec();
                return before_it_begins(receiver, move |said, ctx, out| {
                    go_on(ctx, &mut body, out, Some(said))
                });
            }
        }
        ProduceRequest::read(ctx.version, body)?
    } else {
        request
    };
    let mut silent_failure = None;
    let mut uncommitted = Vec::new();
    let body_start = out.bytes().len();
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
            if let Some(RefusedWhole { code, message }) = &refused_whole {
                let refused = PartitionAnswer::refused(index, code.code());
                writer.partition(&PartitionAnswer { error_message: message.as_deref(), ..refused });
                silent_failure.get_or_insert(*code);
                continue;
            }
            let result = match &topic {
                Err(code) => Err(Refusal::Code(*code)),
                Ok(topic) => append(ctx, topic, partition, needs, &verdicts),
            };
            let name = topic.as_ref().map_or(name, |topic| &topic.name);
            let (at, refused) = answer(&mut writer, index, name, &result);
            if let Some(code) = refused {
                silent_failure.get_or_insert(code);
            }
            if let Ok(Written { partition, appended, epoch, .. }) = result
                && (appended.flush_due || (needs == Acks::All && !partition.is_alone()))
            {
                uncommitted.extend(Uncommitted::of(partition, epoch, appended.last_offset, at));
            }
        }
    }
    writer.finish(0, &[]);
    match (acks, silent_failure) {
        (0, Some(code)) => Err(CloseReason::ProduceFailed(code)),
        (0, None) => Ok(Outcome::Silent),
        _ if uncommitted.is_empty() => Ok(Outcome::Done),
        _ => {
            let deadline_ms = ctx.now.mono_ms.saturating_add(timeout_ms);
            Ok(Outcome::Parked(AwaitCommit::new(out, body_start, uncommitted, deadline_ms)))
        }
    }
}

fn refused_as_a_whole(
    ctx: &Ctx<'_>,
    request: &ProduceRequest<'_>,
    transactional: Result<bool, Fault>,
) -> Option<RefusedWhole> {
    let bare = |code| Some(RefusedWhole { code, message: None });
    match transactional {
        Err(fault) => {
            return Some(RefusedWhole { code: error::batch(&fault), message: Some(fault.to_string()) });
        }
        Ok(true) => {
            let id = request.transactional_id.as_deref();
            if !id.is_some_and(|id| ctx.authorize(Operation::Write, Resource::TransactionalId(id))) {
                return bare(ErrorCode::TransactionalIdAuthorizationFailed);
            }
        }
        Ok(false) => {}
    }
    if !(-1..=1).contains(&request.acks) { bare(ErrorCode::InvalidRequiredAcks) } else { None }
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

/// What was appended where.
struct Written {
    partition: Arc<Partition>,
    appended: Appended,
    /// In which leader epoch, or an earlier one.
    epoch: i32,
    /// The log's first offset.
    log_start_offset: i64,
}

fn append(
    ctx: &Ctx<'_>,
    topic: &Topic,
    data: PartitionData<'_>,
    acks: Acks,
    verdicts: &Verdicts,
) -> Result<Written, Refusal> {
    let records = data.records.ok_or(Refusal::Code(ErrorCode::InvalidRecord))?;
    let raw = RawBatch::sole(records, ctx.version >= ZSTD_VERSION).map_err(Refusal::Unreadable)?;
    let partition = topic.find(data.index).map_err(|cause| Refusal::Code(error::partition(&cause)))?;
    // As in Kafka, a transactional batch of nobody is part of no transaction.
    let transaction = if raw.header().attributes.transactional() && raw.header().producer().is_some() {
        Some(verdicts.of(&topic.name, data.index).map_err(Refusal::Code)?)
    } else {
        None
    };
    let log_start_offset = partition.log().start_offset();
    let refused = |fault| Refusal::Fault { fault, log_start_offset };
    let config = topic.config();
    let rules = rules(&config, ctx.now.wall_ms);
    SCRATCH.with_borrow_mut(|(scratch, repacked)| {
        let mut batch = raw.validate(&rules, scratch).map_err(refused)?;
        if let Some((codec, level)) =
            wanted_codec(config.compression).filter(|(codec, _)| *codec != batch.facts().codec)
        {
            repacked.shrink_to(REPACKED_KEPT);
            batch = batch.recompress(codec, level, rules.max_bytes, scratch, repacked).map_err(refused)?;
        }
        let epoch = partition.leader_epoch().unwrap_or(-1);
        let appended = match transaction {
            Some(known) => partition.append_in_transaction(batch, acks, known, ctx.now),
            None => partition.append(batch, Origin::Client, acks, ctx.now),
        };
        match appended {
            Ok(appended) => Ok(Written { partition: partition.clone(), appended, epoch, log_start_offset }),
            Err(cause) => Err(Refusal::Partition { cause, log_start_offset }),
        }
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
        caps: caps(config),
    }
}

/// `max.decompressed.message.bytes`, and the ratio that no real compression reaches.
fn caps(config: &TopicConfig) -> Caps {
    let bytes = u64::try_from(config.max_decompressed_message_bytes).unwrap_or_default();
    Caps { bytes, ..Caps::default() }
}

/// Writes a partition's answer; where it begins, and the code if it is an error.
fn answer(
    writer: &mut ProduceResponseWriter<'_>,
    index: i32,
    topic: &str,
    result: &Result<Written, Refusal>,
) -> (usize, Option<ErrorCode>) {
    let refusal = match result {
        Ok(Written { appended, log_start_offset, .. }) => {
            let at = writer.partition(&PartitionAnswer {
                base_offset: appended.first_offset,
                log_append_time_ms: appended.append_time,
                log_start_offset: *log_start_offset,
                ..PartitionAnswer::refused(index, ErrorCode::None.code())
            });
            return (at, None);
        }
        Err(refusal) => refusal,
    };
    let bare = |code: ErrorCode| PartitionAnswer::refused(index, code.code());
    let (code, known_start, records, message) = match refusal {
        Refusal::Code(code) => (*code, -1, Vec::new(), None),
        Refusal::Unreadable(fault) => (error::batch(fault), -1, Vec::new(), None),
        Refusal::Partition { cause, log_start_offset } => {
            (error::partition(cause), *log_start_offset, Vec::new(), None)
        }
        Refusal::Fault { fault, log_start_offset } => {
            let records = fault.records().iter();
            let records = records.map(|record| (record.index, record.message(topic, index))).collect();
            (error::batch(fault), *log_start_offset, records, fault.message(topic, index))
        }
    };
    let at = writer.partition(&PartitionAnswer {
        log_start_offset: if tells_start(code) { known_start } else { -1 },
        record_errors: &records,
        error_message: message.as_deref(),
        ..bare(code)
    });
    (at, Some(code))
}

/// Kafka leaves the log's start out where the batch is broken or the partition cannot be written.
fn tells_start(code: ErrorCode) -> bool {
    !matches!(
        code,
        ErrorCode::CorruptMessage
            | ErrorCode::MessageTooLarge
            | ErrorCode::RecordListTooLarge
            | ErrorCode::NotLeaderOrFollower
            | ErrorCode::KafkaStorageError
    )
}
