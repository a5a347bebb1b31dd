//! DescribeQuorum (55), versions 0-2: who votes on the metadata log, and how far each is.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::describe_quorum::{
    Listener, Node, ReplicaState, RequestTopicData, ResponsePartitionData, ResponseTopicData,
};
use barnabas_protocol::messages::{DescribeQuorumRequest, DescribeQuorumResponse};

use super::{Answer, CloseReason, Ctx, Operation, Out, Resource};
use crate::controller::{Follower, Image, Quorum, TOPIC_NAME};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DescribeQuorumRequest = ctx.decode(body)?;
    if !ctx.authorize(Operation::Describe, Resource::Cluster) {
        let error_code = ErrorCode::ClusterAuthorizationFailed.code();
        return ctx.respond(out, &DescribeQuorumResponse { error_code, ..Default::default() });
    }
    let controller = ctx.rooms.controller()?;
    let quorum = controller.quorum().ok_or(CloseReason::Dropped)?;
    let log = controller.log();
    let (voters, observers) = (log.voters(ctx.now), log.followers().list(ctx.now.wall_ms));
    ctx.respond(out, &answer(&request.topics, quorum, &voters, &observers, &ctx.rooms.image()))
}

fn answer(
    asked: &[RequestTopicData],
    quorum: Quorum,
    voters: &[Follower],
    observers: &[Follower],
    image: &Image,
) -> DescribeQuorumResponse {
    let right = match asked {
        [topic] if topic.topic_name == TOPIC_NAME => {
            matches!(topic.partitions.as_slice(), [partition] if partition.partition_index == 0)
        }
        _ => false,
    };
    if !right {
        let topics = asked.iter().map(unknown).collect();
        return DescribeQuorumResponse { topics, ..Default::default() };
    }
    let partition = ResponsePartitionData {
        leader_id: quorum.leader,
        leader_epoch: quorum.epoch,
        high_watermark: image.offset().saturating_add(1),
        current_voters: voters.iter().map(replica).collect(),
        observers: observers.iter().map(replica).collect(),
        ..Default::default()
    };
    let topic = ResponseTopicData { topic_name: TOPIC_NAME.to_owned(), partitions: vec![partition] };
    DescribeQuorumResponse { topics: vec![topic], nodes: nodes(image), ..Default::default() }
}

fn replica(replica: &Follower) -> ReplicaState {
    ReplicaState {
        replica_id: replica.node,
        replica_directory_id: replica.directory,
        log_end_offset: replica.log_end,
        last_fetch_timestamp: replica.last_fetch_ms,
        last_caught_up_timestamp: replica.last_caught_up_ms,
    }
}

fn unknown(topic: &RequestTopicData) -> ResponseTopicData {
    let partitions = topic.partitions.iter().map(|partition| ResponsePartitionData {
        partition_index: partition.partition_index,
        error_code: ErrorCode::UnknownTopicOrPartition.code(),
        error_message: Some("This server does not host this topic-partition.".to_owned()),
        ..Default::default()
    });
    ResponseTopicData { topic_name: topic.topic_name.clone(), partitions: partitions.collect() }
}

fn nodes(image: &Image) -> Vec<Node> {
    let node = |controller: &std::sync::Arc<crate::controller::image::ControllerImage>| Node {
        node_id: controller.id,
        listeners: controller
            .endpoints
            .iter()
            .map(|endpoint| Listener {
                name: endpoint.listener.to_string(),
                host: endpoint.host.to_string(),
                port: endpoint.port,
            })
            .collect(),
    };
    image.controllers().map(node).collect()
}
