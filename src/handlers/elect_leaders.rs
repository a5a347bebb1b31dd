//! ElectLeaders (43), versions 0-2. Version 1 knows unclean elections besides preferred ones.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::{ElectLeadersRequest, ElectLeadersResponse};

use super::{Answer, Ctx, Operation, Out, Resource, when};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: ElectLeadersRequest = ctx.decode(body)?;
    if !ctx.authorize(Operation::Alter, Resource::Cluster) {
        let error_code = ErrorCode::ClusterAuthorizationFailed.code();
        return ctx.respond(out, &ElectLeadersResponse { error_code, ..Default::default() });
    }
    when(ctx.rooms.controller.elect_leaders(&request), |response, ctx, out| ctx.respond(out, &response))
}
