//! AlterPartitionReassignments (45), versions 0-1: replicas move to other brokers (KIP-455). Version 1 can forbid that
//! their number changes.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::{AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse};

use super::{Answer, Ctx, Operation, Out, Resource, when};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: AlterPartitionReassignmentsRequest = ctx.decode(body)?;
    if !ctx.authorize(Operation::Alter, Resource::Cluster) {
        let error_code = ErrorCode::ClusterAuthorizationFailed.code();
        return ctx.respond(out, &AlterPartitionReassignmentsResponse { error_code, ..Default::default() });
    }
    let asked = ctx.rooms.controller()?.reassign_partitions(&request);
    when(asked, |response, ctx, out| ctx.respond(out, &response))
}
