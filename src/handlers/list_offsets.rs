//! ListOffsets (2), versions 1-11: the first, the last, or the offset of a time.
//!
//! Version 2 brings isolation, 4 leader epochs, 7 the largest timestamp (KIP-734), 8, 9 and 11 the offsets of
//! tiered storage (KIP-405, KIP-1005, KIP-1023). A special timestamp that the version does not have is
//! UNSUPPORTED_VERSION for its partition.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsPartitionResponse, ListOffsetsTopic, ListOffsetsTopicResponse,
};
use barnabas_protocol::messages::{ListOffsetsRequest, ListOffsetsResponse};

use super::{Answer, Ctx, Operation, Out, Resource, blocking, error};
use crate::partition::{Isolation, Partition, PartitionError};
use crate::storage::TimestampOffset;

const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;
const EARLIEST_PENDING_UPLOAD: i64 = -6;

/// What is known of a partition's answer before the log is searched.
enum Step {
    Known(Result<Option<TimestampOffset>, ErrorCode>),
    Search { partition: Arc<Partition>, timestamp: i64, upper: i64 },
}

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: ListOffsetsRequest = ctx.decode(body)?;
    let isolation = match (request.replica_id >= 0, request.isolation_level) {
        (_, ..0 | 2..) => return ctx.respond(out, &tripped_over(request.topics)),
        (true, _) => Isolation::LogEnd,
        (false, 0) => Isolation::HighWatermark,
        (false, 1) => Isolation::LastStable,
    };
    let mut searches = false;
    let mut topics = Vec::with_capacity(request.topics.len());
    for (name, partitions) in merged(request.topics) {
        let mut steps = Vec::with_capacity(partitions.len());
        for (index, wanted) in partitions {
            let step = match wanted {
                Some(wanted) => first_step(ctx, &name, &wanted, isolation),
                None => Step::Known(Err(ErrorCode::InvalidRequest)),
            };
            searches |= matches!(step, Step::Search { .. });
            steps.push((index, step));
        }
        topics.push((name, steps));
    }
    if !searches {
        return ctx.respond(out, &finish(topics));
    }
    // Searching by time reads batches, perhaps from the disk.
    blocking(ctx, move || finish(topics), |response, ctx, out| ctx.respond(out, &response))
}

/// Kafka's answer where the isolation is none that there is.
fn tripped_over(topics: Vec<ListOffsetsTopic>) -> ListOffsetsResponse {
    let topics = topics.into_iter().map(|topic| ListOffsetsTopicResponse {
        name: topic.name,
        partitions: topic
            .partitions
            .iter()
            .map(|wanted| ListOffsetsPartitionResponse {
                partition_index: wanted.partition_index,
                error_code: ErrorCode::UnknownServerError.code(),
                ..Default::default()
            })
            .collect(),
    });
    ListOffsetsResponse { topics: topics.collect(), ..Default::default() }
}

/// A topic's partitions by index; `None` where one was named twice: it has one answer all the same, an error.
type Wanted = BTreeMap<i32, Option<ListOffsetsPartition>>;

/// Each topic with partitions once, in the order of the first mention.
fn merged(topics: Vec<ListOffsetsTopic>) -> Vec<(String, Wanted)> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut merged: Vec<(String, Wanted)> = Vec::with_capacity(topics.len());
    for topic in topics.into_iter().filter(|topic| !topic.partitions.is_empty()) {
        let at = *places.entry(topic.name.clone()).or_insert(merged.len());
        if at == merged.len() {
            merged.push((topic.name, Wanted::new()));
        }
        let Some((_, partitions)) = merged.get_mut(at) else { continue };
        for wanted in topic.partitions {
            let index = wanted.partition_index;
            partitions.entry(index).and_modify(|known| *known = None).or_insert(Some(wanted));
        }
    }
    merged
}

fn first_step(ctx: &Ctx<'_>, topic: &str, wanted: &ListOffsetsPartition, isolation: Isolation) -> Step {
    if !ctx.authorize(Operation::Describe, Resource::Topic(topic)) {
        return Step::Known(Err(ErrorCode::TopicAuthorizationFailed));
    }
    let least = match ctx.version {
        ..7 => EARLIEST,
        7 => MAX_TIMESTAMP,
        8 => EARLIEST_LOCAL,
        9..11 => LATEST_TIERED,
        11.. => EARLIEST_PENDING_UPLOAD,
    };
    if wanted.timestamp < least {
        return Step::Known(Err(ErrorCode::UnsupportedVersion));
    }
    let found = ctx.rooms.partitions.partition(topic, wanted.partition_index);
    match found.and_then(|partition| look(&partition, wanted, isolation)) {
        Ok(step) => step,
        // Older clients know of no better word.
        Err(PartitionError::OffsetNotAvailable) if ctx.version < 5 => {
            Step::Known(Err(ErrorCode::LeaderNotAvailable))
        }
        Err(cause) => Step::Known(Err(error::partition(&cause))),
    }
}

fn look(
    partition: &Arc<Partition>,
    wanted: &ListOffsetsPartition,
    isolation: Isolation,
) -> Result<Step, PartitionError> {
    let leader_epoch = partition.check_epoch(wanted.current_leader_epoch)?;
    if isolation != Isolation::LogEnd && !matches!(wanted.timestamp, EARLIEST | EARLIEST_LOCAL) {
        partition.check_end_known()?;
    }
    let upper = partition.upper_bound(isolation);
    let log = partition.log();
    Ok(match wanted.timestamp {
        LATEST => Step::Known(Ok(Some(TimestampOffset { timestamp: -1, offset: upper, leader_epoch }))),
        EARLIEST | EARLIEST_LOCAL => {
            let offset = log.start_offset();
            let leader_epoch = log.epoch_for_offset(offset).unwrap_or(-1);
            Step::Known(Ok(Some(TimestampOffset { timestamp: -1, offset, leader_epoch })))
        }
        LATEST_TIERED | EARLIEST_PENDING_UPLOAD => Step::Known(Ok(None)),
        timestamp => Step::Search { partition: partition.clone(), timestamp, upper },
    })
}

fn finish(topics: Vec<(String, Vec<(i32, Step)>)>) -> ListOffsetsResponse {
    let answer = |(partition_index, step)| {
        let found = match step {
            Step::Known(found) => found,
            Step::Search { partition, timestamp, upper } => search(&partition, timestamp, upper),
        };
        let response = ListOffsetsPartitionResponse { partition_index, ..Default::default() };
        match found {
            Ok(None) => response,
            Ok(Some(found)) => ListOffsetsPartitionResponse {
                timestamp: found.timestamp,
                offset: found.offset,
                leader_epoch: found.leader_epoch,
                ..response
            },
            Err(code) => ListOffsetsPartitionResponse { error_code: code.code(), ..response },
        }
    };
    let topics = topics.into_iter().map(|(name, steps)| ListOffsetsTopicResponse {
        name,
        partitions: steps.into_iter().map(answer).collect(),
    });
    ListOffsetsResponse { topics: topics.collect(), ..Default::default() }
}

fn search(partition: &Partition, timestamp: i64, upper: i64) -> Result<Option<TimestampOffset>, ErrorCode> {
    let found = match timestamp {
        MAX_TIMESTAMP => partition.max_timestamp(),
        timestamp => partition.offset_for_timestamp(timestamp),
    };
    // What is not committed, or of an open transaction, is not shown.
    found.map(|found| found.filter(|found| found.offset < upper)).map_err(|cause| error::partition(&cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_named_twice_is_one_and_a_partition_named_twice_is_an_error() {
        let topic = |name: &str, indexes: &[i32]| ListOffsetsTopic {
            name: name.to_owned(),
            partitions: indexes
                .iter()
                .map(|index| ListOffsetsPartition { partition_index: *index, ..Default::default() })
                .collect(),
        };
        let merged =
            merged(vec![topic("b", &[1, 0]), topic("c", &[]), topic("a", &[2, 2]), topic("b", &[3, 1])]);
        let shown: Vec<(&str, Vec<(i32, bool)>)> = merged
            .iter()
            .map(|(name, wanted)| (name.as_str(), wanted.iter().map(|(i, w)| (*i, w.is_some())).collect()))
            .collect();
        assert_eq!(shown, [("b", vec![(0, true), (1, false), (3, true)]), ("a", vec![(2, false)])]);
    }
}
