//! What the handlers of transactions share: error codes, and answers that come now or later.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::add_partitions_to_txn::AddPartitionsToTxnTopic;

use super::{Answer, Ctx, Operation, Out, Resource, when};
use crate::coordinator::transaction::{Partitions, Request, Response};
use crate::coordinator::{Answer as Asked, Reply, TransactionError};

/// What a shard said, or why it did not.
pub type Said = Result<Response, TransactionError>;

/// Kafka's code for a refusal. Clients that are too old for PRODUCER_FENCED get what they know.
pub fn code(error: TransactionError, knows_fenced: bool) -> ErrorCode {
    match error {
        TransactionError::NotAvailable | TransactionError::NeedsProducerId => {
            ErrorCode::CoordinatorNotAvailable
        }
        TransactionError::NotCoordinator => ErrorCode::NotCoordinator,
        TransactionError::Loading => ErrorCode::CoordinatorLoadInProgress,
        TransactionError::EmptyId => ErrorCode::InvalidRequest,
        TransactionError::InvalidTimeout => ErrorCode::InvalidTransactionTimeout,
        TransactionError::UnknownMapping => ErrorCode::InvalidProducerIdMapping,
        TransactionError::Fenced if knows_fenced => ErrorCode::ProducerFenced,
        TransactionError::Fenced => ErrorCode::InvalidProducerEpoch,
        TransactionError::Concurrent => ErrorCode::ConcurrentTransactions,
        TransactionError::InvalidState => ErrorCode::InvalidTxnState,
        TransactionError::NotFound => ErrorCode::TransactionalIdNotFound,
        TransactionError::TooLarge => ErrorCode::UnknownServerError,
    }
}

/// May the principal do this in the name of the transactional id?
pub fn may(ctx: &Ctx<'_>, operation: Operation, id: &str) -> bool {
    ctx.authorize(operation, Resource::TransactionalId(id))
}

/// Asks the coordinator and goes on with what it says, now or when it comes.
pub fn ask<F>(ctx: &Ctx<'_>, out: &mut Out, request: Request, go_on: F) -> Answer
where
    F: FnOnce(Said, &Ctx<'_>, &mut Out) -> Answer + Send + 'static,
{
    then(ctx.rooms.transactions.ask(request), ctx, out, go_on)
}

/// Goes on with what a coordinator says, now or when it comes.
pub fn then<F>(asked: Asked<Response>, ctx: &Ctx<'_>, out: &mut Out, go_on: F) -> Answer
where
    F: FnOnce(Said, &Ctx<'_>, &mut Out) -> Answer + Send + 'static,
{
    match asked {
        Asked::Ready(reply) => go_on(reply.map_err(TransactionError::from), ctx, out),
        Asked::Pending(receiver) => when(receiver, move |reply: Reply<Response>, ctx, out| {
            go_on(reply.map_err(TransactionError::from), ctx, out)
        }),
    }
}

/// Topics and partitions of a request, each once.
pub fn partitions(topics: &[AddPartitionsToTxnTopic]) -> Partitions {
    let mut partitions = Partitions::new();
    for topic in topics {
        partitions.entry(topic.name.as_str().into()).or_default().extend(&topic.partitions);
    }
    partitions
}

/// One partition.
pub fn one_partition(topic: &str, index: i32) -> Partitions {
    Partitions::from([(topic.into(), [index].into())])
}
