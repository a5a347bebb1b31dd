//! UnregisterBroker (64), version 0: a broker will not come back.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::{UnregisterBrokerRequest, UnregisterBrokerResponse};

use super::{Answer, Ctx, Operation, Out, Resource, when};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: UnregisterBrokerRequest = ctx.decode(body)?;
    if !ctx.authorize(Operation::Alter, Resource::Cluster) {
        let error_code = ErrorCode::ClusterAuthorizationFailed.code();
        return ctx.respond(out, &UnregisterBrokerResponse { error_code, ..Default::default() });
    }
    when(ctx.rooms.controller()?.unregister_broker(request.broker_id), |reply, ctx, out| {
        let (error_code, error_message) = match reply {
            Ok(()) => (ErrorCode::None, Some(String::new())),
            Err(refusal) => (refusal.code, refusal.message),
        };
        let error_code = error_code.code();
        ctx.respond(out, &UnregisterBrokerResponse { error_code, error_message, ..Default::default() })
    })
}
