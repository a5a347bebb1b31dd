//! Which partitions of a produce may be written in its transaction (KIP-890).
//!
//! A partition in which the producer's transaction is already open needs no question. For the others the transaction
//! coordinator is asked: from version 12 on they join the transaction, before it is only looked whether they have, if
//! `transaction.partition.verification.enable` is set.

use std::collections::BTreeMap;

use barnabas_protocol::batch::{Header, Producer};
use barnabas_protocol::produce::Topics;
use barnabas_protocol::{ErrorCode, TopicRef};
use tokio::sync::oneshot;

use super::Ctx;
use crate::coordinator::transaction::{Add, Partitions, Response};
use crate::coordinator::{Answer as Asked, Reply, TransactionError};
use crate::ids::TopicName;
use crate::storage::ProducerMark;

/// Partitions join by themselves from here on.
pub const JOINS_VERSION: i16 = 12;
/// TRANSACTION_ABORTABLE from here on.
const ABORTABLE_VERSION: i16 = 11;

/// What the coordinator says of the partitions with transactional batches.
#[derive(Default)]
pub struct Verdicts {
    partitions: BTreeMap<(TopicName, i32), Result<ProducerMark, ErrorCode>>,
}

impl Verdicts {
    /// What was known of the producer when its transaction was open here, or why nothing may be appended.
    pub fn of(&self, topic: &TopicName, index: i32) -> Result<ProducerMark, ErrorCode> {
        let verdict = self.partitions.get(&(topic.clone(), index)).copied();
        verdict.unwrap_or(Err(ErrorCode::InvalidTxnState))
    }
}

/// Where a transactional produce stands.
pub enum Admission {
    /// Go on.
    Decided(Verdicts),
    /// No partition can be written.
    Refused(ErrorCode),
    /// Tell what has come.
    Wait(oneshot::Receiver<Reply<Response>>),
}

/// Asks for all partitions of a request at once, unless the coordinator has `told` already.
pub fn admit(ctx: &Ctx<'_>, id: &str, topics: Topics<'_>, told: Option<Reply<Response>>) -> Admission {
    let joins = ctx.version >= JOINS_VERSION;
    let asks = joins || ctx.rooms.partitions.verifies_transactions();
    let mut verdicts = Verdicts::default();
    let mut wanted = Partitions::new();
    let mut producer: Option<(i64, i16)> = None;
    for data in topics {
        let topic = match &data.topic {
            TopicRef::Name(name) => ctx.rooms.partitions.topic(name),
            TopicRef::Id(id) => ctx.rooms.partitions.topic_by_id(*id),
        };
        for part in data.partitions {
            let Some(of) = part.records.as_deref().and_then(transactional_producer) else { continue };
            match producer {
                None => producer = Some((of.id, of.epoch)),
                Some((known, _)) if known != of.id => {
                    return Admission::Refused(ErrorCode::InvalidProducerIdMapping);
                }
                Some(_) => {}
            }
            let partition = topic.as_ref().and_then(|topic| topic.partition(part.index));
            let (Some(topic), Some(partition)) = (&topic, partition) else { continue };
            let known = if asks {
                partition.await_transaction(&of, joins, ctx.now)
            } else {
                partition.producer(of.id)
            };
            verdicts.partitions.insert((topic.name.clone(), part.index), Ok(known));
            if asks && !known.is_open_in(of.epoch) {
                wanted.entry(topic.name.clone()).or_default().insert(part.index);
            }
        }
    }
    let Some((producer_id, epoch)) = producer.filter(|_| !wanted.is_empty()) else {
        return Admission::Decided(verdicts);
    };
    let client_version = if joins { 2 } else { 0 };
    let add = Add { id: id.to_owned(), producer_id, epoch, partitions: wanted.clone(), client_version };
    let said = match told.map_or_else(|| ctx.rooms.transactions.admit(add, !joins), Asked::Ready) {
        Asked::Ready(reply) => reply.map_err(TransactionError::from),
        Asked::Pending(receiver) => return Admission::Wait(receiver),
    };
    let abortable = if ctx.version >= ABORTABLE_VERSION {
        ErrorCode::TransactionAbortable
    } else {
        ErrorCode::InvalidTxnState
    };
    let (refused, code) = match said {
        Ok(Response::Add(Ok(()))) => return Admission::Decided(verdicts),
        Ok(Response::Verify(Ok(missing))) => (missing, abortable),
        Ok(Response::Add(Err(error)) | Response::Verify(Err(error))) | Err(error) => {
            (wanted, code_for_produce(error, joins))
        }
        Ok(_) => (wanted, ErrorCode::NotEnoughReplicas),
    };
    for (topic, indexes) in refused {
        for index in indexes {
            verdicts.partitions.insert((topic.clone(), index), Err(code));
        }
    }
    Admission::Decided(verdicts)
}

/// The producer of a batch, if it is part of a transaction.
fn transactional_producer(records: &[u8]) -> Option<Producer> {
    let header = Header::parse(records)?;
    header.producer().filter(|_| header.attributes.transactional())
}

/// The code for a transactional write that its coordinator refuses.
pub fn code_of_refusal(error: TransactionError) -> ErrorCode {
    super::transaction::code(error, false)
}

/// Producers know few codes: what they may try again is NOT_ENOUGH_REPLICAS, which brings no new metadata with it.
fn code_for_produce(error: TransactionError, joins: bool) -> ErrorCode {
    match error {
        TransactionError::NotAvailable | TransactionError::NotCoordinator | TransactionError::Loading => {
            ErrorCode::NotEnoughReplicas
        }
        TransactionError::Concurrent if !joins => ErrorCode::NotEnoughReplicas,
        TransactionError::Concurrent
        | TransactionError::EmptyId
        | TransactionError::InvalidTimeout
        | TransactionError::UnknownMapping
        | TransactionError::Fenced
        | TransactionError::InvalidState
        | TransactionError::NotFound
        | TransactionError::NeedsProducerId
        | TransactionError::TooLarge => code_of_refusal(error),
    }
}
