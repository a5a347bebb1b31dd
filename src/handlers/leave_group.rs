//! LeaveGroup (13), versions 0-5: members go. Version 3 brings many at once, static ones by their
//! `group.instance.id` (KIP-345), 5 the reason (KIP-800).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::leave_group::MemberResponse;
use barnabas_protocol::messages::{LeaveGroupRequest, LeaveGroupResponse};

use super::group::{code, code_of, may, then};
use super::{Answer, Ctx, Operation, Out};
use crate::coordinator::group::event::Leave;
use crate::coordinator::{GroupError, Request, Response};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: LeaveGroupRequest = ctx.decode(body)?;
    if !may(ctx, Operation::Read, &request.group_id) {
        return refuse(ctx, out, ErrorCode::GroupAuthorizationFailed);
    }
    if request.group_id.is_empty() {
        return refuse(ctx, out, code(GroupError::InvalidGroupId));
    }
    let members: Vec<(String, Option<String>)> = if ctx.version < 3 {
        vec![(request.member_id, None)]
    } else {
        request.members.into_iter().map(|member| (member.member_id, member.group_instance_id)).collect()
    };
    let leave = Leave { group: request.group_id, members: members.clone() };
    let asked = ctx.rooms.groups.ask(Request::Leave(leave));
    then(asked, ctx, out, move |said, ctx, out| {
        let fates = match said {
            Ok(Response::Leave(Ok(fates))) => fates,
            Ok(Response::Leave(Err(error))) | Err(error) => return refuse(ctx, out, code(error)),
            Ok(_) => return refuse(ctx, out, ErrorCode::CoordinatorNotAvailable),
        };
        if ctx.version < 3 {
            let error_code = code_of(fates.first().copied().flatten());
            return ctx.respond(out, &LeaveGroupResponse { error_code, ..LeaveGroupResponse::default() });
        }
        let members = members.into_iter().zip(fates).map(|((member_id, group_instance_id), fate)| {
            MemberResponse { member_id, group_instance_id, error_code: code_of(fate) }
        });
        let response = LeaveGroupResponse { members: members.collect(), ..LeaveGroupResponse::default() };
        ctx.respond(out, &response)
    })
}

fn refuse(ctx: &Ctx<'_>, out: &mut Out, error: ErrorCode) -> Answer {
    ctx.respond(out, &LeaveGroupResponse { error_code: error.code(), ..LeaveGroupResponse::default() })
}
