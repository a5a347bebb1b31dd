//! EndTxn (26), versions 0-5: commits or aborts. Version 2 knows PRODUCER_FENCED, 5 answers the producer of the next
//! transaction, which has an epoch of its own (KIP-890).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::{EndTxnRequest, EndTxnResponse};

use super::transaction::{ask, code, may};
use super::{Answer, Ctx, Operation, Out, when};
use crate::coordinator::TransactionError;
use crate::coordinator::transaction::{End, Request, Response};

/// PRODUCER_FENCED from here on.
const FENCED_VERSION: i16 = 2;
/// An epoch for each transaction from here on.
const EPOCH_VERSION: i16 = 5;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: EndTxnRequest = ctx.decode(body)?;
    if !may(ctx, Operation::Write, &request.transactional_id) {
        return ctx.respond(out, &refused(ErrorCode::TransactionalIdAuthorizationFailed));
    }
    let end_request = End {
        id: request.transactional_id,
        producer_id: request.producer_id,
        epoch: request.producer_epoch,
        commit: request.committed,
        client_version: if ctx.version >= EPOCH_VERSION { 2 } else { 0 },
        fresh: None,
    };
    end(ctx, out, end_request)
}

/// Asks the coordinator; once more with a new producer id if it needs one.
fn end(ctx: &Ctx<'_>, out: &mut Out, request: End) -> Answer {
    ask(ctx, out, Request::End(request.clone()), move |said, ctx, out| {
        let error = match said {
            Ok(Response::End(Ok((producer_id, producer_epoch)))) => {
                let response = EndTxnResponse { producer_id, producer_epoch, ..Default::default() };
                return ctx.respond(out, &response);
            }
            Ok(Response::End(Err(TransactionError::NeedsProducerId))) if request.fresh.is_none() => {
                return when(ctx.rooms.channel.next_producer_id(), move |id, ctx, out| match id {
                    Ok(id) => end(ctx, out, End { fresh: Some(id), ..request }),
                    Err(refusal) => ctx.respond(out, &refused(refusal.code)),
                });
            }
            Ok(Response::End(Err(error))) | Err(error) => error,
            Ok(_) => TransactionError::NotAvailable,
        };
        ctx.respond(out, &refused(code(error, ctx.version >= FENCED_VERSION)))
    })
}

fn refused(code: ErrorCode) -> EndTxnResponse {
    EndTxnResponse { error_code: code.code(), producer_id: -1, producer_epoch: -1, ..Default::default() }
}
