//! InitProducerId (22), versions 0-5: an id for an idempotent producer, or the next epoch for a transactional one,
//! which fences its older incarnations. Version 3 lets a producer raise its own epoch (KIP-360), 4 knows
//! PRODUCER_FENCED.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse};

use super::transaction::{ask, code, may};
use super::{Answer, Ctx, Operation, Out, Resource, when};
use crate::coordinator::TransactionError;
use crate::coordinator::transaction::{InitProducer, Request, Response};

/// PRODUCER_FENCED from here on.
const FENCED_VERSION: i16 = 4;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: InitProducerIdRequest = ctx.decode(body)?;
    if let Err(code) = check(ctx, &request) {
        return ctx.respond(out, &refused(code));
    }
    let Some(id) = request.transactional_id else {
        return when(ctx.rooms.channel.next_producer_id(), |id, ctx, out| match id {
            Ok(producer_id) => ctx.respond(out, &accepted(producer_id, 0)),
            Err(refusal) => ctx.respond(out, &refused(refusal.code)),
        });
    };
    let expected = (request.producer_id != -1).then_some((request.producer_id, request.producer_epoch));
    let cluster_version = ctx.rooms.image().feature("transaction.version");
    let timeout_ms = request.transaction_timeout_ms;
    init(ctx, out, InitProducer { id, timeout_ms, expected, fresh: None, cluster_version })
}

fn check(ctx: &Ctx<'_>, request: &InitProducerIdRequest) -> Result<(), ErrorCode> {
    match &request.transactional_id {
        Some(id) if !may(ctx, Operation::Write, id) => {
            return Err(ErrorCode::TransactionalIdAuthorizationFailed);
        }
        None if !ctx.authorize(Operation::IdempotentWrite, Resource::Cluster) => {
            return Err(ErrorCode::ClusterAuthorizationFailed);
        }
        _ => {}
    }
    // A new attempt names both or neither (KIP-360).
    let (no_id, no_epoch) = (request.producer_id == -1, request.producer_epoch == -1);
    if no_id == no_epoch { Ok(()) } else { Err(ErrorCode::InvalidRequest) }
}

/// Asks the coordinator; once more with a new producer id if it needs one.
fn init(ctx: &Ctx<'_>, out: &mut Out, request: InitProducer) -> Answer {
    ask(ctx, out, Request::InitProducer(request.clone()), move |said, ctx, out| {
        let error = match said {
            Ok(Response::InitProducer(Ok((id, epoch)))) => return ctx.respond(out, &accepted(id, epoch)),
            Ok(Response::InitProducer(Err(TransactionError::NeedsProducerId))) if request.fresh.is_none() => {
                return when(ctx.rooms.channel.next_producer_id(), move |id, ctx, out| match id {
                    Ok(id) => init(ctx, out, InitProducer { fresh: Some(id), ..request }),
                    Err(refusal) => ctx.respond(out, &refused(refusal.code)),
                });
            }
            Ok(Response::InitProducer(Err(error))) | Err(error) => error,
            Ok(_) => TransactionError::NotAvailable,
        };
        ctx.respond(out, &refused(code(error, ctx.version >= FENCED_VERSION)))
    })
}

fn accepted(producer_id: i64, producer_epoch: i16) -> InitProducerIdResponse {
    InitProducerIdResponse { producer_id, producer_epoch, ..Default::default() }
}

fn refused(code: ErrorCode) -> InitProducerIdResponse {
    InitProducerIdResponse {
        error_code: code.code(),
        producer_id: -1,
        producer_epoch: -1,
        ..Default::default()
    }
}
