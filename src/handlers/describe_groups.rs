//! DescribeGroups (15), versions 0-6: classic groups with their members. Version 3 brings authorized operations, 4
//! `group.instance.id`; 6 says GROUP_ID_NOT_FOUND where older ones show a dead group (KIP-1043).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::describe_groups::{DescribedGroup, DescribedGroupMember};
use barnabas_protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse};

use super::group::{Said, code, distinct, may, then_all};
use super::{Answer, Ctx, Operation, Out};
use crate::coordinator::group::consumer::Refused;
use crate::coordinator::group::response::Described;
use crate::coordinator::{Answer as Asked, GroupError, Request, Response, Unavailable};

/// Kafka's bits of what can be done to a group: read, delete, describe, describe and alter configs.
const OPERATIONS: [(Operation, i32); 5] = [
    (Operation::Read, 3),
    (Operation::Delete, 6),
    (Operation::Describe, 8),
    (Operation::DescribeConfigs, 10),
    (Operation::AlterConfigs, 11),
];

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DescribeGroupsRequest = ctx.decode(body)?;
    let ask = |group: &String| match may(ctx, Operation::Describe, group) {
        true => ctx.rooms.groups.ask(Request::Describe(group.clone())),
        false => Asked::Ready(Err(Unavailable::NotHere)),
    };
    let (groups, mentions) = distinct(request.groups, |group| Some(group.clone()));
    let asked = groups.iter().map(ask).collect();
    then_all(asked, ctx, out, move |said, ctx, out| {
        let with_operations = request.include_authorized_operations;
        let described = groups.into_iter().zip(said).map(|(group, said)| {
            let mut described = describe(ctx, group, said);
            if with_operations && described.error_code == 0 {
                described.authorized_operations = operations(ctx, &described.group_id);
            }
            described
        });
        let described: Vec<DescribedGroup> = described.collect();
        let groups = ctx.gather(mentions.into_iter().filter_map(|at| described.get(at).cloned()))?;
        ctx.respond(out, &DescribeGroupsResponse { groups, ..DescribeGroupsResponse::default() })
    })
}

/// Bits of what the principal may do to a group.
pub(super) fn operations(ctx: &Ctx<'_>, group: &str) -> i32 {
    let allowed = OPERATIONS.iter().filter(|(operation, _)| may(ctx, *operation, group));
    allowed.map(|(_, bit)| 1 << bit).sum()
}

fn describe(ctx: &Ctx<'_>, group_id: String, said: Said) -> DescribedGroup {
    let error = |error: ErrorCode, group_id| DescribedGroup {
        error_code: error.code(),
        group_id,
        ..DescribedGroup::default()
    };
    if !may(ctx, Operation::Describe, &group_id) {
        return error(ErrorCode::GroupAuthorizationFailed, group_id);
    }
    match said {
        Ok(Response::Describe(Ok(described))) => full(group_id, described),
        Ok(Response::Describe(Err(Refused { error: GroupError::GroupIdNotFound, message }))) => {
            DescribedGroup {
                error_code: if ctx.version >= 6 { ErrorCode::GroupIdNotFound.code() } else { 0 },
                error_message: message.filter(|_| ctx.version >= 6),
                group_state: "Dead".to_owned(),
                group_id,
                ..DescribedGroup::default()
            }
        }
        Ok(Response::Describe(Err(Refused { error: other, .. }))) | Err(other) => {
            error(code(other), group_id)
        }
        Ok(_) => error(ErrorCode::CoordinatorNotAvailable, group_id),
    }
}

fn full(group_id: String, described: Described) -> DescribedGroup {
    let members = described.members.into_iter().map(|member| DescribedGroupMember {
        member_id: member.member.to_string(),
        group_instance_id: member.instance.map(|instance| instance.to_string()),
        client_id: member.client_id.to_string(),
        client_host: member.client_host.to_string(),
        member_metadata: member.metadata,
        member_assignment: member.assignment,
    });
    DescribedGroup {
        group_id,
        group_state: described.state.to_owned(),
        protocol_type: described.protocol_type.to_string(),
        protocol_data: described.protocol.to_string(),
        members: members.collect(),
        ..DescribedGroup::default()
    }
}
