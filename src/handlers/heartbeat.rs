//! Heartbeat (12), versions 0-4: keeps a member's session. Version 3 brings `group.instance.id` (KIP-345).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::{HeartbeatRequest, HeartbeatResponse};

use super::group::{code_of, may, then};
use super::{Answer, Ctx, Operation, Out};
use crate::coordinator::group::event::Heartbeat;
use crate::coordinator::{GroupError, Request, Response};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: HeartbeatRequest = ctx.decode(body)?;
    if !may(ctx, Operation::Read, &request.group_id) {
        return respond(ctx, out, ErrorCode::GroupAuthorizationFailed.code());
    }
    let heartbeat = Heartbeat {
        group: request.group_id,
        member: request.member_id,
        instance: request.group_instance_id,
        generation: request.generation_id,
    };
    if heartbeat.group.is_empty() {
        return respond(ctx, out, code_of(Some(GroupError::InvalidGroupId)));
    }
    let asked = ctx.rooms.groups.ask(Request::Heartbeat(heartbeat));
    then(asked, ctx, out, |said, ctx, out| {
        let error = match said {
            Ok(Response::Heartbeat(result)) => result.err(),
            Ok(_) => Some(GroupError::NotAvailable),
            Err(error) => Some(error),
        };
        respond(ctx, out, code_of(error))
    })
}

fn respond(ctx: &Ctx<'_>, out: &mut Out, error_code: i16) -> Answer {
    ctx.respond(out, &HeartbeatResponse { error_code, ..HeartbeatResponse::default() })
}
