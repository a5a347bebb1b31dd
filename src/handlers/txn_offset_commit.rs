//! TxnOffsetCommit (28), versions 0-6: writes a group's offsets, which count once the transaction commits. Version 2
//! brings the leader epoch, 3 the member (KIP-447), 5 joins the transaction by itself (KIP-890), 6 topic ids.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::txn_offset_commit::{
    TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic, TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
};
use barnabas_protocol::messages::{TxnOffsetCommitRequest, TxnOffsetCommitResponse};

use super::transaction::one_partition;
use super::transactional_produce::code_of_refusal;
use super::{Answer, Ctx, Operation, Out, Resource, group, transaction};
use crate::controller::Image;
use crate::controller::image::TopicImage;
use crate::coordinator::group::event::{Commit, CommitPartition, CommitTopic};
use crate::coordinator::transaction::{Add, Response as Transacted};
use crate::coordinator::{GroupError, OFFSETS_TOPIC, Request, Response, TransactionError};
use crate::storage::ProducerMark;

/// Topics go by id from here on.
const ID_VERSION: i16 = 6;
/// The group's partition joins the transaction by itself from here on.
const JOINS_VERSION: i16 = 5;
/// TRANSACTION_ABORTABLE from here on.
const ABORTABLE_VERSION: i16 = 4;

/// What has been found out before the coordinators are asked.
struct Wish {
    transactional_id: String,
    producer: (i64, i16),
    commit: Commit,
    /// Topics that cannot be committed to, already answered.
    refused: Vec<TxnOffsetCommitResponseTopic>,
    /// The others, answered as if all went well.
    accepted: Vec<TxnOffsetCommitResponseTopic>,
}

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: TxnOffsetCommitRequest = ctx.decode(body)?;
    let all = |code: ErrorCode| {
        let topics = request.topics.iter().map(|topic| echo(topic, topic.partitions.iter(), code));
        TxnOffsetCommitResponse { topics: topics.collect(), ..Default::default() }
    };
    if !transaction::may(ctx, Operation::Write, &request.transactional_id) {
        return ctx.respond(out, &all(ErrorCode::TransactionalIdAuthorizationFailed));
    }
    if !group::may(ctx, Operation::Read, &request.group_id) {
        return ctx.respond(out, &all(ErrorCode::GroupAuthorizationFailed));
    }
    let image = ctx.rooms.image();
    let (mut refused, mut accepted, mut topics) = (Vec::new(), Vec::new(), Vec::new());
    for topic in &request.topics {
        match find(ctx, &image, topic) {
            Err(code) => refused.push(echo(topic, topic.partitions.iter(), code)),
            Ok(found) => {
                let exists =
                    |p: &&TxnOffsetCommitRequestPartition| found.partition(p.partition_index).is_some();
                let (good, bad): (Vec<_>, Vec<_>) = topic.partitions.iter().partition(exists);
                if !bad.is_empty() {
                    refused.push(echo(topic, bad.into_iter(), ErrorCode::UnknownTopicOrPartition));
                }
                if !good.is_empty() {
                    accepted.push(echo(topic, good.iter().copied(), ErrorCode::None));
                    let partitions = good.into_iter().map(wish).collect();
                    topics.push(CommitTopic { topic: found.name.clone(), id: found.id, partitions });
                }
            }
        }
    }
    if topics.is_empty() {
        let topics = merge(refused, accepted);
        return ctx.respond(out, &TxnOffsetCommitResponse { topics, ..Default::default() });
    }
    let producer = (request.producer_id, request.producer_epoch);
    let commit = Commit {
        group: request.group_id,
        member: request.member_id,
        instance: request.group_instance_id,
        generation: request.generation_id_or_member_epoch,
        retention_ms: None,
        knows_epochs: false,
        producer: Some(producer),
        topics,
    };
    let transactional_id = request.transactional_id;
    join(ctx, out, Wish { transactional_id, producer, commit, refused, accepted })
}

/// Makes sure that the group's partition is in the transaction.
fn join(ctx: &Ctx<'_>, out: &mut Out, wish: Wish) -> Answer {
    if wish.commit.group.is_empty() {
        return respond(ctx, out, wish, Some(ErrorCode::InvalidGroupId));
    }
    let partition = ctx.rooms.groups.partition_of(&wish.commit.group);
    let (producer_id, epoch) = wish.producer;
    let known = match ctx.rooms.groups.producer(partition, producer_id) {
        Ok(known) => known,
        Err(unavailable) => {
            let code = group::code(GroupError::from(unavailable));
            return respond(ctx, out, wish, Some(code));
        }
    };
    let joins = ctx.version >= JOINS_VERSION;
    if known.is_open_in(epoch) || !(joins || ctx.rooms.partitions.verifies_transactions()) {
        return commit(ctx, out, wish, known);
    }
    let add = Add {
        id: wish.transactional_id.clone(),
        producer_id,
        epoch,
        partitions: one_partition(OFFSETS_TOPIC, partition),
        client_version: if joins { 2 } else { 0 },
    };
    let asked = ctx.rooms.transactions.admit(add, !joins);
    transaction::then(asked, ctx, out, move |said, ctx, out| {
        let code = match said {
            Ok(Transacted::Add(Ok(()))) => return commit(ctx, out, wish, known),
            Ok(Transacted::Verify(Ok(missing))) if missing.is_empty() => {
                return commit(ctx, out, wish, known);
            }
            Ok(Transacted::Verify(Ok(_))) if ctx.version >= ABORTABLE_VERSION => {
                ErrorCode::TransactionAbortable
            }
            Ok(Transacted::Verify(Ok(_))) => ErrorCode::InvalidTxnState,
            Ok(Transacted::Add(Err(error)) | Transacted::Verify(Err(error))) | Err(error) => {
                code_of_refusal(error)
            }
            Ok(_) => code_of_refusal(TransactionError::NotAvailable),
        };
        respond(ctx, out, wish, Some(code))
    })
}

fn commit(ctx: &Ctx<'_>, out: &mut Out, mut wish: Wish, known: ProducerMark) -> Answer {
    let request = std::mem::replace(&mut wish.commit, nothing());
    let asked = ctx.rooms.groups.ask_in_transaction(wish.producer, known, Request::Commit(request));
    group::then(asked, ctx, out, move |said, ctx, out| {
        let code = match said {
            Ok(Response::Commit(Ok(too_long))) => {
                for (topic, partition) in too_long {
                    let place =
                        wish.accepted.get_mut(topic).and_then(|topic| topic.partitions.get_mut(partition));
                    if let Some(place) = place {
                        place.error_code = group::code(GroupError::MetadataTooLarge).code();
                    }
                }
                None
            }
            Ok(Response::Commit(Err(GroupError::RecordsTooLarge))) => {
                Some(ErrorCode::InvalidCommitOffsetSize)
            }
            Ok(Response::Commit(Err(error))) | Err(error) => Some(group::code(error)),
            Ok(_) => Some(ErrorCode::CoordinatorNotAvailable),
        };
        respond(ctx, out, wish, code)
    })
}

/// What stays behind when the wish has been handed over.
fn nothing() -> Commit {
    Commit {
        group: String::new(),
        member: String::new(),
        instance: None,
        generation: -1,
        retention_ms: None,
        knows_epochs: false,
        producer: None,
        topics: Vec::new(),
    }
}

/// Refused partitions of a topic come before the accepted ones of the same topic.
fn respond(ctx: &Ctx<'_>, out: &mut Out, mut wish: Wish, code: Option<ErrorCode>) -> Answer {
    if let Some(code) = code {
        for partition in wish.accepted.iter_mut().flat_map(|topic| &mut topic.partitions) {
            partition.error_code = code.code();
        }
    }
    let topics = merge(wish.refused, wish.accepted);
    ctx.respond(out, &TxnOffsetCommitResponse { topics, ..Default::default() })
}

fn merge(
    refused: Vec<TxnOffsetCommitResponseTopic>,
    accepted: Vec<TxnOffsetCommitResponseTopic>,
) -> Vec<TxnOffsetCommitResponseTopic> {
    let key = |topic: &TxnOffsetCommitResponseTopic| (topic.name.clone(), topic.topic_id);
    group::once_each(refused.into_iter().chain(accepted), key, |before, topic| {
        before.partitions.extend(topic.partitions);
    })
}

fn find<'i>(
    ctx: &Ctx<'_>,
    image: &'i Image,
    topic: &TxnOffsetCommitRequestTopic,
) -> Result<&'i TopicImage, ErrorCode> {
    let by_id = ctx.version >= ID_VERSION;
    let found = if by_id { image.topic_by_id(topic.topic_id) } else { image.topic(&topic.name) };
    let name = found.map_or(topic.name.as_str(), |found| &*found.name);
    if by_id && found.is_none() {
        Err(ErrorCode::UnknownTopicId)
    } else if !ctx.authorize(Operation::Read, Resource::Topic(name)) {
        Err(ErrorCode::TopicAuthorizationFailed)
    } else {
        found.map(|found| &**found).ok_or(ErrorCode::UnknownTopicOrPartition)
    }
}

fn wish(partition: &TxnOffsetCommitRequestPartition) -> CommitPartition {
    CommitPartition {
        partition: partition.partition_index,
        offset: partition.committed_offset,
        leader_epoch: partition.committed_leader_epoch,
        metadata: partition.committed_metadata.clone().unwrap_or_default(),
    }
}

fn echo<'p>(
    topic: &TxnOffsetCommitRequestTopic,
    partitions: impl Iterator<Item = &'p TxnOffsetCommitRequestPartition>,
    code: ErrorCode,
) -> TxnOffsetCommitResponseTopic {
    let partitions = partitions.map(|partition| TxnOffsetCommitResponsePartition {
        partition_index: partition.partition_index,
        error_code: code.code(),
    });
    TxnOffsetCommitResponseTopic {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partitions: partitions.collect(),
    }
}
