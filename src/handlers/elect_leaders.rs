//! ElectLeaders (43), versions 0-2. Version 1 knows unclean elections besides preferred ones.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::elect_leaders::{PartitionResult, ReplicaElectionResult};
use barnabas_protocol::messages::{ElectLeadersRequest, ElectLeadersResponse};

use super::{Answer, Ctx, Operation, Out, Resource, when};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: ElectLeadersRequest = ctx.decode(body)?;
    if !ctx.authorize(Operation::Alter, Resource::Cluster) {
        let error_code = ErrorCode::ClusterAuthorizationFailed.code();
        return ctx.respond(out, &ElectLeadersResponse { error_code, ..Default::default() });
    }
    if request.timeout_ms <= 0 && request.topic_partitions.as_ref().is_none_or(|topics| !topics.is_empty()) {
        // Kafka's controller gives up before it begins, if there is anything that it would begin with.
        return ctx.respond(out, &timed_out(&request));
    }
    when(ctx.rooms.controller()?.elect_leaders(&request), |response, ctx, out| ctx.respond(out, &response))
}

fn timed_out(request: &ElectLeadersRequest) -> ElectLeadersResponse {
    let error_code = ErrorCode::RequestTimedOut.code();
    let partition = |id: &i32| PartitionResult { partition_id: *id, error_code, error_message: None };
    let topics = request.topic_partitions.iter().flatten().map(|topic| ReplicaElectionResult {
        topic: topic.topic.clone(),
        partition_result: topic.partitions.iter().map(partition).collect(),
    });
    ElectLeadersResponse { error_code, replica_election_results: topics.collect(), ..Default::default() }
}
