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
    let now_ms = ctx.now.wall_ms;
    let observers = controller.log().followers().list(now_ms);
    ctx.respond(out, &answer(&request.topics, quorum, &observers, &ctx.rooms.image(), now_ms))
}

fn answer(
    asked: &[RequestTopicData],
    quorum: Quorum,
    observers: &[Follower],
    image: &Image,
    now_ms: i64,
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
    let voter = ReplicaState {
        replica_id: quorum.leader,
        replica_directory_id: quorum.directory,
        log_end_offset: quorum.log_end,
        last_fetch_timestamp: now_ms,
        last_caught_up_timestamp: now_ms,
    };
    let partition = ResponsePartitionData {
        leader_id: quorum.leader,
        leader_epoch: quorum.epoch,
        high_watermark: image.offset().saturating_add(1),
        current_voters: vec![voter],
        observers: observers.iter().map(observer).collect(),
        ..Default::default()
    };
    let topic = ResponseTopicData { topic_name: TOPIC_NAME.to_owned(), partitions: vec![partition] };
    DescribeQuorumResponse { topics: vec![topic], nodes: nodes(image), ..Default::default() }
}

fn observer(observer: &Follower) -> ReplicaState {
    ReplicaState {
        replica_id: observer.node,
        replica_directory_id: observer.directory,
        log_end_offset: observer.log_end,
        last_fetch_timestamp: observer.last_fetch_ms,
        last_caught_up_timestamp: observer.last_caught_up_ms,
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
