//! ListGroups (16), versions 0-5: the groups that this broker coordinates. Version 4 brings states and a filter by
//! them (KIP-518), 5 types (KIP-848).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::list_groups::ListedGroup;
use barnabas_protocol::messages::{ListGroupsRequest, ListGroupsResponse};

use super::group::{code, may, then_all};
use super::{Answer, Ctx, Operation, Out, Resource};
use crate::coordinator::group::event::List;
use crate::coordinator::{GroupError, Request, Response};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: ListGroupsRequest = ctx.decode(body)?;
    let filter = List { states: request.states_filter, types: request.types_filter };
    let asked = ctx.rooms.groups.ask_all(&Request::List(filter));
    then_all(asked, ctx, out, |said, ctx, out| {
        let sees_all = ctx.authorize(Operation::Describe, Resource::Cluster);
        let (mut groups, mut error) = (Vec::new(), ErrorCode::None);
        for shard in said {
            match shard {
                Ok(Response::List(listed)) => groups.extend(listed),
                // It has moved on; its groups are listed elsewhere.
                Err(GroupError::NotCoordinator) => {}
                Err(other) => error = code(other),
                Ok(_) => error = ErrorCode::CoordinatorNotAvailable,
            }
        }
        if !error.is_none() {
            groups.clear();
        }
        groups.retain(|group| sees_all || may(ctx, Operation::Describe, &group.group));
        let groups = groups.into_iter().map(|group| ListedGroup {
            group_id: group.group.to_string(),
            protocol_type: group.protocol_type.to_string(),
            group_state: group.state.to_owned(),
            group_type: group.kind.to_owned(),
        });
        let response = ListGroupsResponse {
            error_code: error.code(),
            groups: groups.collect(),
            ..ListGroupsResponse::default()
        };
        ctx.respond(out, &response)
    })
}
