//! DeleteGroups (42), versions 0-3: deletes empty groups with what they have committed.

use std::collections::HashSet;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::delete_groups::DeletableGroupResult;
use barnabas_protocol::messages::{DeleteGroupsRequest, DeleteGroupsResponse};

use super::group::{code, code_of, may, then_all};
use super::{Answer, Ctx, Operation, Out};
use crate::coordinator::{Answer as Asked, Request, Response, Unavailable};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let mut request: DeleteGroupsRequest = ctx.decode(body)?;
    // A group named twice is answered once.
    let mut seen = HashSet::new();
    request.groups_names.retain(|group| seen.insert(group.clone()));
    let ask = |group: &String| match may(ctx, Operation::Delete, group) {
        true => ctx.rooms.groups.ask(Request::Delete(group.clone())),
        false => Asked::Ready(Err(Unavailable::NotHere)),
    };
    let asked = request.groups_names.iter().map(ask).collect();
    then_all(asked, ctx, out, move |said, ctx, out| {
        let results = request.groups_names.into_iter().zip(said).map(|(group_id, said)| {
            let error_code = match said {
                _ if !may(ctx, Operation::Delete, &group_id) => ErrorCode::GroupAuthorizationFailed.code(),
                Ok(Response::Delete(result)) => code_of(result.err()),
                Err(error) => code(error).code(),
                Ok(_) => ErrorCode::CoordinatorNotAvailable.code(),
            };
            DeletableGroupResult { group_id, error_code, ..DeletableGroupResult::default() }
        });
        let response = DeleteGroupsResponse { results: results.collect(), ..DeleteGroupsResponse::default() };
        ctx.respond(out, &response)
    })
}
