//! DescribeTopicPartitions (75), version 0: topics page by page (KIP-966).

use std::collections::BTreeSet;
use std::sync::Arc;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::describe_topic_partitions::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use barnabas_protocol::messages::{DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse};

use super::{Answer, Ctx, Operation, Out, Resource};
use crate::controller::image::PartitionImage;
use crate::controller::reach::Reach;
use crate::controller::{Image, internal_topics, names};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DescribeTopicPartitionsRequest = ctx.decode(body)?;
    if let Err(code) = check(&request) {
        return ctx.respond(out, &refused(&request, code));
    }
    let image = ctx.rooms.image();
    let limit = request.response_partition_limit.min(ctx.rooms.config.topics.max_request_partitions).max(1);
    let limit = usize::try_from(limit).unwrap_or(1);
    let allowed = |name: &str| ctx.authorize(Operation::Describe, Resource::Topic(name));
    let reach = Reach::new(&image, &ctx.session.listener);
    let mut response = page(&image, reach, &request, limit, allowed);
    for topic in &mut response.topics {
        topic.topic_authorized_operations = ctx.topic_operations(topic.name.as_deref().unwrap_or_default());
    }
    let denied = request.topics.iter().filter(|topic| !allowed(&topic.name));
    response.topics.extend(denied.map(|topic| error(&topic.name, ErrorCode::TopicAuthorizationFailed)));
    ctx.respond(out, &response)
}

fn check(request: &DescribeTopicPartitionsRequest) -> Result<(), ErrorCode> {
    let names = |name: &str| request.topics.iter().any(|topic| topic.name == name);
    match &request.cursor {
        // Kafka trips over an empty name on the first page.
        None if names("") => Err(ErrorCode::UnknownServerError),
        Some(cursor) if cursor.partition_index < 0 => Err(ErrorCode::InvalidRequest),
        Some(cursor) if !request.topics.is_empty() && !names(&cursor.topic_name) => {
            Err(ErrorCode::InvalidRequest)
        }
        _ => Ok(()),
    }
}

fn refused(request: &DescribeTopicPartitionsRequest, code: ErrorCode) -> DescribeTopicPartitionsResponse {
    // Kafka does not look what they are then.
    let topics = request
        .topics
        .iter()
        .map(|topic| DescribeTopicPartitionsResponseTopic { is_internal: false, ..error(&topic.name, code) });
    DescribeTopicPartitionsResponse { topics: topics.collect(), ..Default::default() }
}

fn error(name: &str, code: ErrorCode) -> DescribeTopicPartitionsResponseTopic {
    DescribeTopicPartitionsResponseTopic {
        error_code: code.code(),
        name: Some(name.to_owned()),
        is_internal: internal_topics::is_internal(name),
        ..Default::default()
    }
}

/// At most `limit` partitions from the cursor on, and where to go on.
fn page(
    image: &Image,
    reach: Reach<'_>,
    request: &DescribeTopicPartitionsRequest,
    limit: usize,
    allowed: impl Fn(&str) -> bool,
) -> DescribeTopicPartitionsResponse {
    let (first, from_index) = match &request.cursor {
        Some(cursor) => (cursor.topic_name.as_str(), cursor.partition_index),
        None => ("", 0),
    };
    let asked: BTreeSet<&str> = request.topics.iter().map(|topic| topic.name.as_str()).collect();
    let every = asked.is_empty();
    let names: Vec<&str> = match every {
        true => image.topics_from(first).map(|topic| &*topic.name).collect(),
        false => asked.range(first..).copied().collect(),
    };
    let mut response = DescribeTopicPartitionsResponse::default();
    let mut room = limit;
    for name in names.into_iter().filter(|name| allowed(name)) {
        let cursor = |partition_index| Some(Cursor { topic_name: name.to_owned(), partition_index });
        if room == 0 {
            response.next_cursor = cursor(0);
            break;
        }
        let Some(topic) = image.topic(name) else {
            let bad = names::fault_of(name).is_some();
            let code =
                if bad { ErrorCode::InvalidTopicException } else { ErrorCode::UnknownTopicOrPartition };
            response.topics.push(error(name, code));
            continue;
        };
        let from = if name == first { usize::try_from(from_index).unwrap_or_default() } else { 0 };
        let rest = topic.partitions().get(from..).unwrap_or_default();
        let taken = rest.get(..room.min(rest.len())).unwrap_or_default();
        response.topics.push(DescribeTopicPartitionsResponseTopic {
            error_code: 0,
            name: Some(name.to_owned()),
            topic_id: topic.id,
            is_internal: topic.is_internal(),
            partitions: taken.iter().map(|partition| describe(reach, partition)).collect(),
            ..Default::default()
        });
        room = room.saturating_sub(taken.len());
        if let Some(next) = rest.get(taken.len()) {
            response.next_cursor = cursor(next.index);
            break;
        }
    }
    response
}

fn describe(reach: Reach<'_>, partition: &Arc<PartitionImage>) -> DescribeTopicPartitionsResponsePartition {
    let (leader, error) = match reach.leader(partition) {
        Ok(leader) => (leader, ErrorCode::None),
        Err(_) => (-1, ErrorCode::LeaderNotAvailable),
    };
    DescribeTopicPartitionsResponsePartition {
        error_code: error.code(),
        partition_index: partition.index,
        leader_id: leader,
        leader_epoch: partition.leader_epoch,
        replica_nodes: partition.replicas.clone(),
        isr_nodes: partition.isr.clone(),
        eligible_leader_replicas: Some(partition.elr.clone()),
        last_known_elr: Some(partition.last_known_elr.clone()),
        offline_replicas: reach.offline(partition),
    }
}
