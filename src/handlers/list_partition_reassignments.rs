//! ListPartitionReassignments (46), version 0: partitions whose replicas are moving.

use std::sync::Arc;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::list_partition_reassignments::{
    OngoingPartitionReassignment, OngoingTopicReassignment,
};
use barnabas_protocol::messages::{ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse};

use super::{Answer, Ctx, Operation, Out, Resource};
use crate::controller::Image;
use crate::controller::image::{PartitionImage, TopicImage};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: ListPartitionReassignmentsRequest = ctx.decode(body)?;
    let mut response = ListPartitionReassignmentsResponse { error_message: None, ..Default::default() };
    if ctx.authorize(Operation::Describe, Resource::Cluster) {
        response.topics = moving(&ctx.rooms.image(), &request);
    } else {
        response.error_code = ErrorCode::ClusterAuthorizationFailed.code();
    }
    ctx.respond(out, &response)
}

fn moving(image: &Image, request: &ListPartitionReassignmentsRequest) -> Vec<OngoingTopicReassignment> {
    let found: Vec<OngoingTopicReassignment> = match &request.topics {
        None => image.topics().map(|topic| of_topic(topic, topic.partitions().iter())).collect(),
        Some(asked) => asked
            .iter()
            .filter_map(|asked| {
                let topic = image.topic(&asked.name)?;
                Some(of_topic(
                    topic,
                    asked.partition_indexes.iter().filter_map(|index| topic.partition(*index)),
                ))
            })
            .collect(),
    };
    found.into_iter().filter(|topic| !topic.partitions.is_empty()).collect()
}

fn of_topic<'a>(
    topic: &TopicImage,
    partitions: impl Iterator<Item = &'a Arc<PartitionImage>>,
) -> OngoingTopicReassignment {
    let moving =
        partitions.filter(|partition| !partition.adding.is_empty() || !partition.removing.is_empty());
    let entry = |partition: &Arc<PartitionImage>| OngoingPartitionReassignment {
        partition_index: partition.index,
        replicas: partition.replicas.clone(),
        adding_replicas: partition.adding.clone(),
        removing_replicas: partition.removing.clone(),
    };
    OngoingTopicReassignment { name: topic.name.to_string(), partitions: moving.map(entry).collect() }
}
