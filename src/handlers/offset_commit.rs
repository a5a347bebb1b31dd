//! OffsetCommit (8), versions 2-10: writes a group's offsets.
//!
//! Versions 2-4 say how long to keep them, 6 brings the leader epoch, 7 `group.instance.id` (KIP-345), 9 members of
//! KIP-848 groups, 10 topic ids instead of names.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::offset_commit::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
};
use barnabas_protocol::messages::{OffsetCommitRequest, OffsetCommitResponse};

use super::group::{Said, code, may, once_each, then};
use super::{Answer, Ctx, Operation, Out, Resource};
use crate::controller::Image;
use crate::controller::image::TopicImage;
use crate::coordinator::group::event::{Commit, CommitPartition, CommitTopic};
use crate::coordinator::{GroupError, Request, Response};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: OffsetCommitRequest = ctx.decode(body)?;
    let by_id = ctx.version >= 10;
    if !may(ctx, Operation::Read, &request.group_id) {
        let topics = request.topics.iter().map(|topic| {
            let partitions = topic.partitions.iter();
            echo(topic, partitions.map(|p| answer(p, ErrorCode::GroupAuthorizationFailed)).collect())
        });
        let response = OffsetCommitResponse { topics: topics.collect(), ..OffsetCommitResponse::default() };
        return ctx.respond(out, &response);
    }
    // What cannot be committed is answered first, as Kafka's builder of the response does.
    let image = ctx.rooms.image();
    let (mut refused, mut accepted, mut topics) = (Vec::new(), Vec::new(), Vec::new());
    for topic in request.topics {
        match find(ctx, &image, &topic, by_id) {
            Err(error) => {
                let partitions = topic.partitions.iter().map(|p| answer(p, error)).collect();
                refused.push(echo(&topic, partitions));
            }
            Ok(found) => {
                let exists = |p: &&OffsetCommitRequestPartition| found.partition(p.partition_index).is_some();
                let (good, bad): (Vec<_>, Vec<_>) = topic.partitions.iter().partition(exists);
                if !bad.is_empty() {
                    let error = ErrorCode::UnknownTopicOrPartition;
                    refused.push(echo(&topic, bad.into_iter().map(|p| answer(p, error)).collect()));
                }
                if !good.is_empty() {
                    accepted.push(echo(&topic, good.iter().map(|p| answer(p, ErrorCode::None)).collect()));
                    let partitions = good.into_iter().map(wish).collect();
                    topics.push(CommitTopic { topic: found.name.clone(), id: found.id, partitions });
                }
            }
        }
    }
    if topics.is_empty() {
        let topics = merge(refused, accepted);
        return ctx.respond(out, &OffsetCommitResponse { topics, ..OffsetCommitResponse::default() });
    }
    let commit = Commit {
        group: request.group_id,
        member: request.member_id,
        instance: request.group_instance_id,
        generation: request.generation_id_or_member_epoch,
        retention_ms: (request.retention_time_ms != -1).then_some(request.retention_time_ms),
        knows_epochs: ctx.version >= 9,
        producer: None,
        topics,
    };
    let asked = ctx.rooms.groups.ask(Request::Commit(commit));
    then(asked, ctx, out, move |said, ctx, out| {
        mark(&mut accepted, said);
        let topics = merge(refused, accepted);
        ctx.respond(out, &OffsetCommitResponse { topics, ..OffsetCommitResponse::default() })
    })
}

fn find<'i>(
    ctx: &Ctx<'_>,
    image: &'i Image,
    topic: &OffsetCommitRequestTopic,
    by_id: bool,
) -> Result<&'i TopicImage, ErrorCode> {
    let found = if by_id { image.topic_by_id(topic.topic_id) } else { image.topic(&topic.name) };
    let name = found.map_or(topic.name.as_str(), |found| &*found.name);
    if by_id && found.is_none() {
        Err(ErrorCode::UnknownTopicId)
    } else if !ctx.authorize(Operation::Read, Resource::Topic(name)) {
        Err(ErrorCode::TopicAuthorizationFailed)
    } else {
        found.map(|found| &**found).ok_or(ErrorCode::UnknownTopicOrPartition)
    }
}

fn wish(partition: &OffsetCommitRequestPartition) -> CommitPartition {
    CommitPartition {
        partition: partition.partition_index,
        offset: partition.committed_offset,
        leader_epoch: partition.committed_leader_epoch,
        metadata: partition.committed_metadata.clone().unwrap_or_default(),
    }
}

fn echo(
    topic: &OffsetCommitRequestTopic,
    partitions: Vec<OffsetCommitResponsePartition>,
) -> OffsetCommitResponseTopic {
    OffsetCommitResponseTopic { name: topic.name.clone(), topic_id: topic.topic_id, partitions }
}

fn answer(partition: &OffsetCommitRequestPartition, error: ErrorCode) -> OffsetCommitResponsePartition {
    OffsetCommitResponsePartition { partition_index: partition.partition_index, error_code: error.code() }
}

/// Writes the coordinator's verdict into the echoed topics.
fn mark(accepted: &mut [OffsetCommitResponseTopic], said: Said) {
    let error = match said {
        Ok(Response::Commit(Ok(too_long))) => {
            for (topic, partition) in too_long {
                let place = accepted.get_mut(topic).and_then(|topic| topic.partitions.get_mut(partition));
                if let Some(place) = place {
                    place.error_code = code(GroupError::MetadataTooLarge).code();
                }
            }
            return;
        }
        Ok(Response::Commit(Err(GroupError::RecordsTooLarge))) => ErrorCode::InvalidCommitOffsetSize,
        Ok(Response::Commit(Err(error))) | Err(error) => code(error),
        Ok(_) => ErrorCode::CoordinatorNotAvailable,
    };
    for partition in accepted.iter_mut().flat_map(|topic| &mut topic.partitions) {
        partition.error_code = error.code();
    }
}

/// Refused partitions of a topic come before the accepted ones of the same topic.
fn merge(
    refused: Vec<OffsetCommitResponseTopic>,
    accepted: Vec<OffsetCommitResponseTopic>,
) -> Vec<OffsetCommitResponseTopic> {
    let key = |topic: &OffsetCommitResponseTopic| (topic.name.clone(), topic.topic_id);
    once_each(refused.into_iter().chain(accepted), key, |before, topic| {
        before.partitions.extend(topic.partitions);
    })
}
