//! AddOffsetsToTxn (25), versions 0-4: the offsets of a group join a transaction: the partition of
//! `__consumer_offsets` that holds them is added to it. Version 2 knows PRODUCER_FENCED.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::{AddOffsetsToTxnRequest, AddOffsetsToTxnResponse};

use super::transaction::{ask, code, may, one_partition};
use super::{Answer, Ctx, Operation, Out, Resource};
use crate::coordinator::transaction::{Add, Request, Response};
use crate::coordinator::{OFFSETS_TOPIC, TransactionError};

/// PRODUCER_FENCED from here on.
const FENCED_VERSION: i16 = 2;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: AddOffsetsToTxnRequest = ctx.decode(body)?;
    let respond = |ctx: &Ctx<'_>, out: &mut Out, code: ErrorCode| {
        ctx.respond(out, &AddOffsetsToTxnResponse { error_code: code.code(), ..Default::default() })
    };
    if !may(ctx, Operation::Write, &request.transactional_id) {
        return respond(ctx, out, ErrorCode::TransactionalIdAuthorizationFailed);
    }
    if !ctx.authorize(Operation::Read, Resource::Group(&request.group_id)) {
        return respond(ctx, out, ErrorCode::GroupAuthorizationFailed);
    }
    let partition = ctx.rooms.groups.partition_of(&request.group_id);
    let add = Add {
        id: request.transactional_id,
        producer_id: request.producer_id,
        epoch: request.producer_epoch,
        partitions: one_partition(OFFSETS_TOPIC, partition),
        client_version: 0,
    };
    ask(ctx, out, Request::Add(add), move |said, ctx, out| {
        let error = match said {
            Ok(Response::Add(Ok(()))) => return respond(ctx, out, ErrorCode::None),
            Ok(Response::Add(Err(error))) | Err(error) => error,
            Ok(_) => TransactionError::NotAvailable,
        };
        respond(ctx, out, code(error, ctx.version >= FENCED_VERSION))
    })
}
