//! DescribeTransactions (65), version 0: how far the transactions of these ids are (KIP-664).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::describe_transactions::{TopicData, TransactionState};
use barnabas_protocol::messages::{DescribeTransactionsRequest, DescribeTransactionsResponse};

use super::transaction::{code, may};
use super::{Answer, Ctx, Operation, Out, Resource, after_all};
use crate::coordinator::transaction::{Described, Request, Response};
use crate::coordinator::{Answer as Asked, TransactionError, Unavailable};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DescribeTransactionsRequest = ctx.decode(body)?;
    let ids = request.transactional_ids;
    let asked = ids.iter().map(|id| {
        if may(ctx, Operation::Describe, id) {
            ctx.rooms.transactions.ask(Request::Describe(id.clone()))
        } else {
            Asked::Ready(Err(Unavailable::NotHere))
        }
    });
    after_all(asked.collect(), ctx, out, move |replies, ctx, out| {
        let states = ids.into_iter().zip(replies).map(|(id, reply)| {
            if !may(ctx, Operation::Describe, &id) {
                return refused(id, ErrorCode::TransactionalIdAuthorizationFailed);
            }
            match reply.map_err(TransactionError::from) {
                Ok(Response::Describe(Ok(described))) => state(ctx, id, described),
                Ok(Response::Describe(Err(error))) | Err(error) => refused(id, code(error, true)),
                Ok(_) => refused(id, code(TransactionError::NotAvailable, true)),
            }
        });
        let transaction_states = states.collect();
        ctx.respond(out, &DescribeTransactionsResponse { transaction_states, ..Default::default() })
    })
}

fn state(ctx: &Ctx<'_>, transactional_id: String, described: Described) -> TransactionState {
    let (producer_id, producer_epoch) = described.producer;
    let topics = described.partitions.into_iter();
    let topics = topics.filter(|(topic, _)| ctx.authorize(Operation::Describe, Resource::Topic(topic)));
    let topics = topics.map(|(topic, indexes)| TopicData {
        topic: topic.to_string(),
        partitions: indexes.into_iter().collect(),
    });
    TransactionState {
        error_code: 0,
        transactional_id,
        transaction_state: described.state.name().to_owned(),
        transaction_timeout_ms: described.timeout_ms,
        transaction_start_time_ms: described.begun_ms,
        producer_id,
        producer_epoch,
        topics: topics.collect(),
    }
}

fn refused(transactional_id: String, code: ErrorCode) -> TransactionState {
    TransactionState { error_code: code.code(), transactional_id, ..Default::default() }
}
