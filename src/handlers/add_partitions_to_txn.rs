//! AddPartitionsToTxn (24), versions 0-5: partitions join a transaction. Versions 0-3 are for clients, 4 and above for
//! brokers, which ask for many transactions at once and may only look (KIP-890). Version 2 knows PRODUCER_FENCED.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::add_partitions_to_txn::{
    AddPartitionsToTxnPartitionResult, AddPartitionsToTxnResult, AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult, AddPartitionsToTxnTransaction,
};
use barnabas_protocol::messages::{AddPartitionsToTxnRequest, AddPartitionsToTxnResponse};

use super::transaction::{code, may, partitions};
use super::{Answer, Ctx, Operation, Out, Resource, after_all};
use crate::controller::internal_topics::is_internal;
use crate::coordinator::transaction::{Add, Partitions, Request, Response};
use crate::coordinator::{Answer as Asked, Reply, TransactionError, Unavailable};

/// PRODUCER_FENCED from here on.
const FENCED_VERSION: i16 = 2;
/// For brokers from here on.
const BROKER_VERSION: i16 = 4;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: AddPartitionsToTxnRequest = ctx.decode(body)?;
    if ctx.version >= BROKER_VERSION {
        if !ctx.authorize(Operation::ClusterAction, Resource::Cluster) {
            let error_code = ErrorCode::ClusterAuthorizationFailed.code();
            return ctx.respond(out, &AddPartitionsToTxnResponse { error_code, ..Default::default() });
        }
        return all(ctx, out, request.transactions);
    }
    let one = AddPartitionsToTxnTransaction {
        transactional_id: request.v3_and_below_transactional_id,
        producer_id: request.v3_and_below_producer_id,
        producer_epoch: request.v3_and_below_producer_epoch,
        verify_only: false,
        topics: request.v3_and_below_topics,
    };
    all(ctx, out, vec![one])
}

/// Asks for every transaction, unless it is refused before.
fn all(ctx: &Ctx<'_>, out: &mut Out, transactions: Vec<AddPartitionsToTxnTransaction>) -> Answer {
    let mut asked = Vec::new();
    let mut refused = Vec::with_capacity(transactions.len());
    for transaction in &transactions {
        let refusal = refuse(ctx, transaction);
        asked.push(match refusal {
            Some(_) => Asked::Ready(Err(Unavailable::NotHere)),
            None => ctx.rooms.transactions.ask(request(ctx, transaction)),
        });
        refused.push(refusal);
    }
    after_all(asked, ctx, out, move |replies, ctx, out| {
        let parts = transactions.into_iter().zip(refused).zip(replies);
        let results = parts.map(|((transaction, refusal), reply)| AddPartitionsToTxnResult {
            topic_results: refusal.unwrap_or_else(|| result(ctx, &transaction, reply)),
            transactional_id: transaction.transactional_id,
        });
        let results = results.collect();
        respond(ctx, out, results)
    })
}

fn request(ctx: &Ctx<'_>, transaction: &AddPartitionsToTxnTransaction) -> Request {
    let add = Add {
        id: transaction.transactional_id.clone(),
        producer_id: transaction.producer_id,
        epoch: transaction.producer_epoch,
        partitions: partitions(&transaction.topics),
        client_version: if ctx.version >= BROKER_VERSION { 2 } else { 0 },
    };
    if transaction.verify_only { Request::Verify(add) } else { Request::Add(add) }
}

fn result(
    ctx: &Ctx<'_>,
    transaction: &AddPartitionsToTxnTransaction,
    reply: Reply<Response>,
) -> Vec<AddPartitionsToTxnTopicResult> {
    let (missing, error) = match reply.map_err(TransactionError::from) {
        Ok(Response::Add(Ok(()))) => (Partitions::new(), ErrorCode::None),
        Ok(Response::Verify(Ok(missing))) => (missing, ErrorCode::None),
        Ok(Response::Add(Err(error)) | Response::Verify(Err(error))) | Err(error) => {
            (Partitions::new(), code(error, ctx.version >= FENCED_VERSION))
        }
        Ok(_) => (Partitions::new(), code(TransactionError::NotAvailable, true)),
    };
    answer(&transaction.topics, |topic, index| {
        let is_missing = missing.get(topic).is_some_and(|indexes| indexes.contains(&index));
        if is_missing { ErrorCode::TransactionAbortable } else { error }
    })
}

/// Partitions that cannot be added; the others are not, either.
fn refuse(
    ctx: &Ctx<'_>,
    transaction: &AddPartitionsToTxnTransaction,
) -> Option<Vec<AddPartitionsToTxnTopicResult>> {
    let of_client = ctx.version < BROKER_VERSION;
    if of_client && !may(ctx, Operation::Write, &transaction.transactional_id) {
        let error = ErrorCode::TransactionalIdAuthorizationFailed;
        return Some(answer(&transaction.topics, |_, _| error));
    }
    let image = ctx.rooms.image();
    let fault = |topic: &str, index: i32| {
        if of_client && (is_internal(topic) || !ctx.authorize(Operation::Write, Resource::Topic(topic))) {
            Some(ErrorCode::TopicAuthorizationFailed)
        } else if image.topic(topic).is_none_or(|topic| topic.partition(index).is_none()) {
            Some(ErrorCode::UnknownTopicOrPartition)
        } else {
            None
        }
    };
    let mut all =
        transaction.topics.iter().flat_map(|topic| topic.partitions.iter().map(|p| (&topic.name, *p)));
    all.any(|(topic, index)| fault(topic, index).is_some()).then(|| {
        answer(&transaction.topics, |topic, index| {
            fault(topic, index).unwrap_or(ErrorCode::OperationNotAttempted)
        })
    })
}

fn answer(
    topics: &[AddPartitionsToTxnTopic],
    code: impl Fn(&str, i32) -> ErrorCode,
) -> Vec<AddPartitionsToTxnTopicResult> {
    let of_topic = |topic: &AddPartitionsToTxnTopic| AddPartitionsToTxnTopicResult {
        name: topic.name.clone(),
        results_by_partition: topic
            .partitions
            .iter()
            .map(|index| AddPartitionsToTxnPartitionResult {
                partition_index: *index,
                partition_error_code: code(&topic.name, *index).code(),
            })
            .collect(),
    };
    topics.iter().map(of_topic).collect()
}

fn respond(ctx: &Ctx<'_>, out: &mut Out, results: Vec<AddPartitionsToTxnResult>) -> Answer {
    let mut response = AddPartitionsToTxnResponse::default();
    if ctx.version >= BROKER_VERSION {
        response.results_by_transaction = results;
    } else {
        response.results_by_topic_v3_and_below =
            results.into_iter().next().map(|result| result.topic_results).unwrap_or_default();
    }
    ctx.respond(out, &response)
}
