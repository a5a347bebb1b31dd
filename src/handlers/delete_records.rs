//! DeleteRecords (21), versions 0-2: nothing before an offset is readable any more (KIP-107).

use std::collections::BTreeMap;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::delete_records::{
    DeleteRecordsPartitionResult, DeleteRecordsTopic, DeleteRecordsTopicResult,
};
use barnabas_protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse};

use super::{Answer, Ctx, Operation, Out, Resource, error};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DeleteRecordsRequest = ctx.decode(body)?;
    let topics = merged(request.topics).into_iter().map(|(name, partitions)| {
        let allowed = ctx.authorize(Operation::Delete, Resource::Topic(&name));
        let partitions = partitions.into_iter().map(|(partition_index, offset)| {
            let done = match allowed {
                true => delete(ctx, &name, partition_index, offset),
                false => Err(ErrorCode::TopicAuthorizationFailed),
            };
            DeleteRecordsPartitionResult {
                partition_index,
                low_watermark: *done.as_ref().unwrap_or(&-1),
                error_code: done.err().unwrap_or_default().code(),
            }
        });
        DeleteRecordsTopicResult { partitions: partitions.collect(), name }
    });
    let topics = topics.collect();
    ctx.respond(out, &DeleteRecordsResponse { topics, ..Default::default() })
}

/// Offsets by topic and partition; of a partition that is named twice the last counts, as in Kafka.
fn merged(topics: Vec<DeleteRecordsTopic>) -> BTreeMap<String, BTreeMap<i32, i64>> {
    let mut merged: BTreeMap<String, BTreeMap<i32, i64>> = BTreeMap::new();
    for topic in topics {
        let offsets = topic.partitions.iter().map(|wanted| (wanted.partition_index, wanted.offset));
        merged.entry(topic.name).or_default().extend(offsets);
    }
    merged
}

/// The first offset that is left. A compacted-only topic is only ever cleaned by its keys.
fn delete(ctx: &Ctx<'_>, name: &str, index: i32, offset: i64) -> Result<i64, ErrorCode> {
    let topic = ctx.rooms.partitions.topic(name).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let partition = topic.find(index).map_err(|cause| error::partition(&cause))?;
    if !topic.config().delete {
        return Err(ErrorCode::PolicyViolation);
    }
    partition.delete_records(offset).map_err(|cause| error::partition(&cause))
}

#[cfg(test)]
mod tests {
    use barnabas_protocol::messages::delete_records::DeleteRecordsPartition;

    use super::*;

    #[test]
    fn what_is_named_twice_is_done_once() {
        let topic = |name: &str, offsets: &[(i32, i64)]| DeleteRecordsTopic {
            name: name.to_owned(),
            partitions: offsets
                .iter()
                .map(|(partition_index, offset)| DeleteRecordsPartition {
                    partition_index: *partition_index,
                    offset: *offset,
                })
                .collect(),
        };
        let merged = merged(vec![topic("t", &[(0, 1), (0, 2)]), topic("u", &[]), topic("t", &[(1, 3)])]);
        let expected = [("t", vec![(0, 2), (1, 3)]), ("u", vec![])];
        let expected = expected.map(|(name, offsets)| (name.to_owned(), offsets.into_iter().collect()));
        assert_eq!(merged, BTreeMap::from(expected));
    }
}
