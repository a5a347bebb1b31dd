//! OffsetForLeaderEpoch (23), versions 2-4: where a leader epoch ends, for those who must truncate (KIP-101, KIP-320).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::offset_for_leader_epoch::{
    EpochEndOffset, OffsetForLeaderPartition, OffsetForLeaderTopicResult,
};
use barnabas_protocol::messages::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse};

use super::{Answer, Ctx, Operation, Out, Resource, error};
use crate::partition::PartitionError;
use crate::storage::EpochEnd;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: OffsetForLeaderEpochRequest = ctx.decode(body)?;
    let topics = request.topics.into_iter().map(|topic| {
        let allowed = ctx.authorize(Operation::Describe, Resource::Topic(&topic.topic));
        let partitions = topic.partitions.iter().map(|wanted| {
            let found = match allowed {
                true => find(ctx, &topic.topic, wanted).map_err(|cause| error::partition(&cause)),
                false => Err(ErrorCode::TopicAuthorizationFailed),
            };
            answer(wanted.partition, found)
        });
        OffsetForLeaderTopicResult { partitions: partitions.collect(), topic: topic.topic }
    });
    let topics = topics.collect();
    ctx.respond(out, &OffsetForLeaderEpochResponse { topics, ..Default::default() })
}

fn find(
    ctx: &Ctx<'_>,
    topic: &str,
    wanted: &OffsetForLeaderPartition,
) -> Result<Option<EpochEnd>, PartitionError> {
    let partition = ctx.rooms.partitions.partition(topic, wanted.partition)?;
    partition.check_epoch(wanted.current_leader_epoch)?;
    Ok(partition.log().end_offset_for_epoch(wanted.leader_epoch))
}

fn answer(partition: i32, found: Result<Option<EpochEnd>, ErrorCode>) -> EpochEndOffset {
    let answer = EpochEndOffset { partition, ..Default::default() };
    match found {
        Ok(None) => answer,
        Ok(Some(end)) => EpochEndOffset { leader_epoch: end.epoch, end_offset: end.end_offset, ..answer },
        Err(code) => EpochEndOffset { error_code: code.code(), ..answer },
    }
}
