//! OffsetDelete (47), version 0: deletes offsets of topics that no member reads (KIP-496).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::offset_delete::{
    OffsetDeleteRequestTopic, OffsetDeleteResponsePartition, OffsetDeleteResponseTopic,
};
use barnabas_protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse};

use super::group::{code, may, then};
use super::{Answer, Ctx, Operation, Out, Resource};
use crate::coordinator::group::event::DeleteOffsets;
use crate::coordinator::{GroupError, Request, Response};
use crate::ids::TopicName;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: OffsetDeleteRequest = ctx.decode(body)?;
    if !may(ctx, Operation::Delete, &request.group_id) {
        return refuse(ctx, out, ErrorCode::GroupAuthorizationFailed);
    }
    let image = ctx.rooms.image();
    let (mut refused, mut topics): (Vec<_>, Vec<(TopicName, Vec<i32>)>) = (Vec::new(), Vec::new());
    for topic in &request.topics {
        let readable = ctx.authorize(Operation::Read, Resource::Topic(&topic.name));
        let all = || topic.partitions.iter().map(|partition| partition.partition_index);
        match image.topic(&topic.name) {
            _ if !readable => refused.push(echo(topic, all(), ErrorCode::TopicAuthorizationFailed)),
            None => refused.push(echo(topic, all(), ErrorCode::UnknownTopicOrPartition)),
            Some(found) => {
                let (good, bad): (Vec<i32>, Vec<i32>) = all().partition(|p| found.partition(*p).is_some());
                if !bad.is_empty() {
                    refused.push(echo(topic, bad.into_iter(), ErrorCode::UnknownTopicOrPartition));
                }
                if !good.is_empty() {
                    topics.push((found.name.clone(), good));
                }
            }
        }
    }
    if request.group_id.is_empty() {
        return refuse(ctx, out, code(GroupError::InvalidGroupId));
    }
    let delete = DeleteOffsets { group: request.group_id, topics: topics.clone() };
    let asked = ctx.rooms.groups.ask(Request::DeleteOffsets(delete));
    then(asked, ctx, out, move |said, ctx, out| {
        let read = match said {
            Ok(Response::DeleteOffsets(Ok(read))) => read,
            Ok(Response::DeleteOffsets(Err(error))) | Err(error) => return refuse(ctx, out, code(error)),
            Ok(_) => return refuse(ctx, out, ErrorCode::CoordinatorNotAvailable),
        };
        let topics = merge(refused, topics, &read);
        ctx.respond(out, &OffsetDeleteResponse { topics, ..OffsetDeleteResponse::default() })
    })
}

fn refuse(ctx: &Ctx<'_>, out: &mut Out, error: ErrorCode) -> Answer {
    ctx.respond(out, &OffsetDeleteResponse { error_code: error.code(), ..OffsetDeleteResponse::default() })
}

fn echo(
    topic: &OffsetDeleteRequestTopic,
    partitions: impl Iterator<Item = i32>,
    error: ErrorCode,
) -> OffsetDeleteResponseTopic {
    OffsetDeleteResponseTopic { name: topic.name.clone(), partitions: answers(partitions, error) }
}

fn answers(partitions: impl Iterator<Item = i32>, error: ErrorCode) -> Vec<OffsetDeleteResponsePartition> {
    let answer =
        |partition_index| OffsetDeleteResponsePartition { partition_index, error_code: error.code() };
    partitions.map(answer).collect()
}

/// The coordinator's verdicts behind what was refused before it was asked. A topic that was named twice is answered
/// twice, unless something was refused: then all that concerns a topic stands together.
fn merge(
    mut refused: Vec<OffsetDeleteResponseTopic>,
    topics: Vec<(TopicName, Vec<i32>)>,
    read: &[usize],
) -> Vec<OffsetDeleteResponseTopic> {
    let together = !refused.is_empty();
    for (position, (name, partitions)) in topics.into_iter().enumerate() {
        let error =
            if read.contains(&position) { code(GroupError::SubscribedToTopic) } else { ErrorCode::None };
        let partitions = answers(partitions.into_iter(), error);
        match refused.iter_mut().find(|topic| together && *topic.name == *name) {
            Some(topic) => topic.partitions.extend(partitions),
            None => refused.push(OffsetDeleteResponseTopic { name: name.to_string(), partitions }),
        }
    }
    refused
}
