//! JoinGroup (11), versions 0-9: becomes or stays a member of a classic group; the answer waits for the others.
//!
//! Version 1 brings the rebalance timeout, 4 MEMBER_ID_REQUIRED (KIP-394), 5 `group.instance.id` (KIP-345), 7 the
//! protocol type in the answer, 8 the reason (KIP-800), 9 `skip_assignment` (KIP-814).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::join_group::JoinGroupResponseMember;
use barnabas_protocol::messages::{JoinGroupRequest, JoinGroupResponse};

use super::group::{code_of, java_address, may, then};
use super::{Answer, Ctx, Operation, Out};
use crate::coordinator::group::event::Join;
use crate::coordinator::group::response::Joined;
use crate::coordinator::{GroupError, Request, Response};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: JoinGroupRequest = ctx.decode(body)?;
    if !may(ctx, Operation::Read, &request.group_id) {
        let response = JoinGroupResponse {
            error_code: ErrorCode::GroupAuthorizationFailed.code(),
            protocol_name: None,
            ..JoinGroupResponse::default()
        };
        return ctx.respond(out, &response);
    }
    let join = Join {
        group: request.group_id,
        member: request.member_id,
        instance: request.group_instance_id,
        client_id: ctx.client_id.clone().into_owned(),
        client_host: java_address(ctx.session.peer),
        session_timeout_ms: request.session_timeout_ms,
        rebalance_timeout_ms: if ctx.version == 0 {
            request.session_timeout_ms
        } else {
            request.rebalance_timeout_ms
        },
        protocol_type: request.protocol_type,
        protocols: request.protocols.into_iter().map(|protocol| (protocol.name, protocol.metadata)).collect(),
        member_id_required: ctx.version >= 4,
        can_skip_assignment: ctx.version >= 9,
        fresh: 0,
    };
    if join.group.is_empty() {
        return respond(ctx, out, Joined::refused(GroupError::InvalidGroupId, join.member));
    }
    let member = join.member.clone();
    let asked = ctx.rooms.groups.ask(Request::Join(Box::new(join)));
    then(asked, ctx, out, move |said, ctx, out| {
        let joined = match said {
            Ok(Response::Join(joined)) => *joined,
            Ok(_) => Joined::refused(GroupError::NotAvailable, member),
            Err(error) => Joined::refused(error, member),
        };
        respond(ctx, out, joined)
    })
}

fn respond(ctx: &Ctx<'_>, out: &mut Out, joined: Joined) -> Answer {
    let members = joined.members.into_iter().map(|member| JoinGroupResponseMember {
        member_id: member.member.to_string(),
        group_instance_id: member.instance.map(|instance| instance.to_string()),
        metadata: member.metadata,
    });
    let response = JoinGroupResponse {
        error_code: code_of(joined.error),
        generation_id: joined.generation,
        protocol_type: joined.protocol_type.map(|text| text.to_string()),
        protocol_name: joined.protocol.map(|text| text.to_string()),
        leader: joined.leader.to_string(),
        skip_assignment: joined.skip_assignment,
        member_id: joined.member.to_string(),
        members: members.collect(),
        ..JoinGroupResponse::default()
    };
    ctx.respond(out, &response)
}
