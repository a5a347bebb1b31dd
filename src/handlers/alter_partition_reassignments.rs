//! AlterPartitionReassignments (45), versions 0-1: replicas move to other brokers (KIP-455). Version 1 can forbid that
//! their number changes.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::alter_partition_reassignments::{
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use barnabas_protocol::messages::{AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse};

use super::{Answer, Ctx, Operation, Out, Resource, when};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: AlterPartitionReassignmentsRequest = ctx.decode(body)?;
    if !ctx.authorize(Operation::Alter, Resource::Cluster) {
        let error_code = ErrorCode::ClusterAuthorizationFailed.code();
        return ctx.respond(out, &AlterPartitionReassignmentsResponse { error_code, ..Default::default() });
    }
    if request.topics.is_empty() {
        return ctx.respond(out, &AlterPartitionReassignmentsResponse::default());
    }
    if request.timeout_ms <= 0 {
        // Kafka's controller gives up before it begins.
        return ctx.respond(out, &too_late(request));
    }
    let asked = ctx.rooms.controller()?.reassign_partitions(&request);
    when(asked, |response, ctx, out| ctx.respond(out, &response))
}

fn too_late(request: AlterPartitionReassignmentsRequest) -> AlterPartitionReassignmentsResponse {
    let error_code = ErrorCode::RequestTimedOut.code();
    let responses = request.topics.into_iter().map(|topic| ReassignableTopicResponse {
        name: topic.name,
        partitions: topic
            .partitions
            .into_iter()
            .map(|partition| ReassignablePartitionResponse {
                partition_index: partition.partition_index,
                error_code,
                error_message: None,
            })
            .collect(),
    });
    AlterPartitionReassignmentsResponse {
        error_code,
        error_message: None,
        responses: responses.collect(),
        ..Default::default()
    }
}
