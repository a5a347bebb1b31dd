//! DeleteRecords (21), versions 0-2: nothing before an offset is readable any more (KIP-107).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsPartitionResult, DeleteRecordsTopicResult,
};
use barnabas_protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse};

use super::{Answer, Ctx, Operation, Out, Resource, error};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DeleteRecordsRequest = ctx.decode(body)?;
    let topics = request.topics.into_iter().map(|topic| {
        let allowed = ctx.authorize(Operation::Delete, Resource::Topic(&topic.name));
        let partitions = topic.partitions.iter().map(|wanted| {
            let done = match allowed {
                true => delete(ctx, &topic.name, wanted),
                false => Err(ErrorCode::TopicAuthorizationFailed),
            };
            DeleteRecordsPartitionResult {
                partition_index: wanted.partition_index,
                low_watermark: *done.as_ref().unwrap_or(&-1),
                error_code: done.err().unwrap_or_default().code(),
            }
        });
        DeleteRecordsTopicResult { partitions: partitions.collect(), name: topic.name }
    });
    let topics = topics.collect();
    ctx.respond(out, &DeleteRecordsResponse { topics, ..Default::default() })
}

/// The first offset that is left. A compacted-only topic is only ever cleaned by its keys.
fn delete(ctx: &Ctx<'_>, name: &str, wanted: &DeleteRecordsPartition) -> Result<i64, ErrorCode> {
    let topic = ctx.rooms.partitions.topic(name).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let partition = topic.find(wanted.partition_index).map_err(|cause| error::partition(&cause))?;
    if !topic.config().delete {
        return Err(ErrorCode::PolicyViolation);
    }
    partition.delete_records(wanted.offset).map_err(|cause| error::partition(&cause))
}
