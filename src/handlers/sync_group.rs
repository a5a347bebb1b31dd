//! SyncGroup (14), versions 0-5: the leader brings the assignment, everybody gets a share.
//!
//! Version 3 brings `group.instance.id` (KIP-345), 5 the protocol's type and name, which must be there (KIP-559).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::{SyncGroupRequest, SyncGroupResponse};

use super::group::{code, code_of, may, then};
use super::{Answer, Ctx, Operation, Out};
use crate::coordinator::group::event::Sync;
use crate::coordinator::group::response::Synced;
use crate::coordinator::{GroupError, Request, Response};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: SyncGroupRequest = ctx.decode(body)?;
    let named = request.protocol_type.is_some() && request.protocol_name.is_some();
    let refusal = if ctx.version >= 5 && !named {
        Some(ErrorCode::InconsistentGroupProtocol)
    } else if !may(ctx, Operation::Read, &request.group_id) {
        Some(ErrorCode::GroupAuthorizationFailed)
    } else if request.group_id.is_empty() {
        Some(code(GroupError::InvalidGroupId))
    } else {
        None
    };
    if let Some(refusal) = refusal {
        let response = SyncGroupResponse { error_code: refusal.code(), ..SyncGroupResponse::default() };
        return ctx.respond(out, &response);
    }
    let sync = Sync {
        group: request.group_id,
        member: request.member_id,
        instance: request.group_instance_id,
        generation: request.generation_id,
        protocol_type: request.protocol_type,
        protocol: request.protocol_name,
        assignments: request.assignments.into_iter().map(|a| (a.member_id, a.assignment)).collect(),
    };
    let asked = ctx.rooms.groups.ask(Request::Sync(sync));
    then(asked, ctx, out, |said, ctx, out| {
        let synced = match said {
            Ok(Response::Sync(synced)) => synced,
            Ok(_) => Synced::refused(GroupError::NotAvailable),
            Err(error) => Synced::refused(error),
        };
        let response = SyncGroupResponse {
            error_code: code_of(synced.error),
            protocol_type: synced.protocol_type.map(|text| text.to_string()),
            protocol_name: synced.protocol.map(|text| text.to_string()),
            assignment: synced.assignment,
            ..SyncGroupResponse::default()
        };
        ctx.respond(out, &response)
    })
}
