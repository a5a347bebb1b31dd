//! InitProducerId (22), versions 0-5: an id for an idempotent producer.
//!
//! Transactional producers find no coordinator yet: transactions are not built.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse};

use super::{Answer, Ctx, Operation, Out, Resource, when};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: InitProducerIdRequest = ctx.decode(body)?;
    if let Err(code) = check(ctx, &request) {
        return ctx.respond(out, &refused(code));
    }
    when(ctx.rooms.controller.next_producer_id(), |id, ctx, out| match id {
        Ok(producer_id) => {
            let response = InitProducerIdResponse { producer_id, producer_epoch: 0, ..Default::default() };
            ctx.respond(out, &response)
        }
        Err(refusal) => ctx.respond(out, &refused(refusal.code)),
    })
}

fn check(ctx: &Ctx<'_>, request: &InitProducerIdRequest) -> Result<(), ErrorCode> {
    match &request.transactional_id {
        Some(id) if !ctx.authorize(Operation::Write, Resource::TransactionalId(id)) => {
            return Err(ErrorCode::TransactionalIdAuthorizationFailed);
        }
        None if !ctx.authorize(Operation::IdempotentWrite, Resource::Cluster) => {
            return Err(ErrorCode::ClusterAuthorizationFailed);
        }
        _ => {}
    }
    let (no_id, no_epoch) = (request.producer_id == -1, request.producer_epoch == -1);
    match &request.transactional_id {
        Some(id) if id.is_empty() => Err(ErrorCode::InvalidRequest),
        // A new attempt names both or neither (KIP-360).
        _ if no_id != no_epoch => Err(ErrorCode::InvalidRequest),
        Some(_) => Err(ErrorCode::CoordinatorNotAvailable),
        None => Ok(()),
    }
}

fn refused(code: ErrorCode) -> InitProducerIdResponse {
    InitProducerIdResponse {
        error_code: code.code(),
        producer_id: -1,
        producer_epoch: -1,
        ..Default::default()
    }
}
