//! Produce (0), versions 3-13; 0-2 are listed, because old clients look for them, and refused when used.
//!
//! Version 7 brings zstd, 8 the records that were refused (KIP-467), 9 flexible fields, 10 the new leader
//! (KIP-951), 13 topic ids (KIP-516).

mod aside;
mod await_commit;

use std::cell::RefCell;
use std::sync::Arc;

use barnabas_protocol::batch::{
    Caps, Class, Codec, Fault, Origin, RawBatch, Rules, Scratch, TimestampRule, ValidBatch,
    peek_transactional,
};
use barnabas_protocol::produce::{
    PartitionAnswer, PartitionData, ProduceRequest, ProduceResponseWriter, without_repeats,
};
use barnabas_protocol::{ErrorCode, TopicRef};

use self::aside::{Aside, Checked, Resumed, Wanted};
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

/// Why they are not appended now.
enum Halt {
    /// And never will be.
    Refused(Refusal),
    /// They unpack to too much to be checked at once.
    Aside { rules: Rules, wanted: Wanted },
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Halt {
        Halt::Refused(refusal)
    }
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
    let body_bytes = body.len();
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
                return before_it_begins(receiver, body.len(), move |said, ctx, out| {
                    go_on(ctx, &mut body, out, Some(said))
                });
            }
        }
        ProduceRequest::read(ctx.version, body)?
    } else {
        request
    };
    let mut progress = Progress {
        acks,
        deadline_ms: ctx.now.mono_ms.saturating_add(timeout_ms),
        refused_whole,
        verdicts,
        ..Progress::default()
    };
    let aside = append_all(ctx, request, aside::allowance(body_bytes), out, &mut progress);
    progress.finish(ctx, body, aside, out)
}

/// A request that is being carried out.
#[derive(Default)]
struct Progress {
    acks: i16,
    /// Monotonic ms.
    deadline_ms: u64,
    refused_whole: Option<RefusedWhole>,
    verdicts: Verdicts,
    /// What to tell where there is no answer.
    silent_failure: Option<ErrorCode>,
    uncommitted: Vec<Uncommitted>,
    /// Where the answer begins in the buffer that it is written to.
    body_start: usize,
    /// It has paused: there it goes on.
    resumed: Option<Resumed>,
    /// The answer as far as it was written when it paused.
    written: Vec<u8>,
}

impl Progress {
    fn needs(&self) -> Acks {
        if self.acks == -1 { Acks::All } else { Acks::Leader }
    }

    /// Answers, or sees to what the answer waits for.
    fn finish(mut self, ctx: &Ctx<'_>, body: &[u8], aside: Option<Aside>, out: &mut Out) -> Answer {
        if let Some(aside) = aside {
            self.written = out.bytes().split_off(self.body_start);
            return aside::park(ctx, body, aside, self);
        }
        match (self.acks, self.silent_failure) {
            (0, Some(code)) => Err(CloseReason::ProduceFailed(code)),
            (0, None) => Ok(Outcome::Silent),
            _ if self.uncommitted.is_empty() => Ok(Outcome::Done),
            _ => {
                let (start, deadline_ms) = (self.body_start, self.deadline_ms);
                Ok(Outcome::Parked(AwaitCommit::new(out, start, self.uncommitted, deadline_ms)))
            }
        }
    }

    /// The writer of the answer, behind what is written of it.
    fn writer<'o>(&mut self, version: i16, topics: usize, out: &'o mut Vec<u8>) -> ProduceResponseWriter<'o> {
        self.body_start = out.len();
        match &self.resumed {
            None => ProduceResponseWriter::begin(out, version, topics),
            Some(resumed) => {
                out.append(&mut self.written);
                ProduceResponseWriter::resume(out, version, resumed.answer)
            }
        }
    }
}

/// Appends what the request brings, as far as it can be done at once: then a batch must be checked aside first.
fn append_all(
    ctx: &Ctx<'_>,
    request: ProduceRequest<'_>,
    mut allowance: u64,
    out: &mut Out,
    progress: &mut Progress,
) -> Option<Aside> {
    let mut writer = progress.writer(ctx.version, request.topics_with_partitions, out.bytes());
    let (body_start, resumed) = (progress.body_start, progress.resumed.take());
    let (from, mut checked) = resumed.map_or((None, None), |it| (Some(it.place), it.checked));
    let mut place = 0_usize;
    for data in request.topics {
        let topic = find(ctx, &data.topic);
        let (name, id) = match &data.topic {
            TopicRef::Name(name) => (&**name, Uuid::ZERO),
            TopicRef::Id(id) => ("", *id),
        };
        // Kafka has nothing to say of a topic without partitions.
        if data.partitions.len() > 0 && from.is_none_or(|from| place > from) {
            writer.topic(name, id, data.partitions.len());
        }
        for partition in data.partitions {
            let this = place;
            place = place.saturating_add(1);
            if from.is_some_and(|from| this < from) {
                continue;
            }
            let index = partition.index;
            if let Some(RefusedWhole { code, message }) = &progress.refused_whole {
                let refused = PartitionAnswer::refused(index, code.code());
                writer.partition(&PartitionAnswer { error_message: message.as_deref(), ..refused });
                progress.silent_failure.get_or_insert(*code);
                continue;
            }
            let (needs, verdicts) = (progress.needs(), &progress.verdicts);
            let checks = checked.take().map_or(Checks::Here(&mut allowance), Checks::Made);
            let result =
                match topic.as_ref().map(|topic| append(ctx, topic, partition, needs, verdicts, checks)) {
                    Ok(Err(Halt::Aside { rules, wanted })) => {
                        progress.resumed =
                            Some(Resumed { place: this, answer: writer.pause(), checked: None });
                        return Some(Aside { place: this, rules, wanted });
                    }
                    Ok(Err(Halt::Refused(refusal))) => Err(refusal),
                    Ok(Ok(written)) => Ok(written),
                    Err(code) => Err(Refusal::Code(*code)),
                };
            let name = topic.as_ref().map_or(name, |topic| &topic.name);
            let (at, refused) = answer(&mut writer, index, name, &result);
            if let Some(code) = refused {
                progress.silent_failure.get_or_insert(code);
            }
            if let Ok(Written { partition, appended, epoch, .. }) = result
                && (appended.flush_due || (needs == Acks::All && !partition.is_alone()))
            {
                let at = at.saturating_sub(body_start);
                progress.uncommitted.extend(Uncommitted::of(partition, epoch, appended.last_offset, at));
            }
        }
    }
    writer.finish(0, &[]);
    None
}

fn refused_as_a_whole(
    ctx: &Ctx<'_>,
    request: &ProduceRequest<'_>,
    transactional: Result<bool, Fault>,
) -> Option<RefusedWhole> {
    let bare = |code| Some(RefusedWhole { code, message: None });
    match transactional {
        Err(fault) => {
            // What Kafka trips over has no text.
            let message = (fault.class() != Class::Unreadable).then(|| fault.to_string());
            return Some(RefusedWhole { code: error::batch(&fault), message });
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

/// How a batch comes by its checks.
enum Checks<'a> {
    /// At once, if it does not unpack to more than this.
    Here(&'a mut u64),
    /// They were made aside.
    Made(Result<Checked, Fault>),
}

fn append(
    ctx: &Ctx<'_>,
    topic: &Topic,
    data: PartitionData<'_>,
    acks: Acks,
    verdicts: &Verdicts,
    checks: Checks<'_>,
) -> Result<Written, Halt> {
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
    let write = |batch: ValidBatch<'_>| {
        let epoch = partition.leader_epoch().unwrap_or(-1);
        let appended = match transaction {
            Some(known) => partition.append_in_transaction(batch, acks, known, ctx.now),
            None => partition.append(batch, Origin::Client, acks, ctx.now),
        };
        match appended {
            Ok(appended) => Ok(Written { partition: partition.clone(), appended, epoch, log_start_offset }),
            Err(cause) => Err(Refusal::Partition { cause, log_start_offset }),
        }
    };
    let allowance = match checks {
        Checks::Made(Err(fault)) => return Err(refused(fault).into()),
        Checks::Made(Ok(Checked { facts, repacked: None })) => return Ok(write(raw.known(facts))?),
        Checks::Made(Ok(Checked { facts, repacked: Some(mut bytes) })) => {
            return Ok(write(RawBatch::sole(&mut bytes, true).map_err(refused)?.known(facts))?);
        }
        Checks::Here(allowance) => allowance,
    };
    let config = topic.config();
    let wanted = wanted_codec(config.compression);
    let rules = rules(&config, wanted, *allowance, ctx.now.wall_ms);
    let packed = raw.header().attributes.codec() != Some(Codec::None);
    SCRATCH.with_borrow_mut(|(scratch, repacked)| {
        repacked.shrink_to(REPACKED_KEPT);
        match aside::check(raw, &rules, wanted, scratch, repacked) {
            Ok(batch) => {
                let plain_bytes = if packed { batch.facts().plain_bytes } else { 0 };
                *allowance = allowance.saturating_sub(plain_bytes);
                Ok(write(batch)?)
            }
            Err(Fault::Bomb(limit)) if limit < Caps::MOST_BYTES => Err(Halt::Aside { rules, wanted }),
            Err(fault) => Err(refused(fault).into()),
        }
    })
}

/// The topic's `compression.type`, unless it leaves the choice to the producer.
fn wanted_codec(compression: Compression) -> Wanted {
    match compression {
        Compression::Producer => None,
        Compression::None => Some((Codec::None, None)),
        Compression::Gzip(level) => Some((Codec::Gzip, Some(level))),
        Compression::Snappy => Some((Codec::Snappy, None)),
        Compression::Lz4(level) => Some((Codec::Lz4, Some(level))),
        Compression::Zstd(level) => Some((Codec::Zstd, Some(level))),
    }
}

fn rules(config: &TopicConfig, wanted: Wanted, plain_bytes: u64, now_ms: i64) -> Rules {
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
        caps: Caps {
            bytes: plain_bytes,
            record_bytes: u64::try_from(config.max_decompressed_message_bytes).unwrap_or_default(),
        },
        codec: wanted.map(|(codec, _)| codec),
    }
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
