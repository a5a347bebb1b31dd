//! DescribeLogDirs (35), versions 1-5: what is in each log directory, and how full its disk is.
//!
//! Version 3 has an error for the whole answer, 4 the sizes of the volume (KIP-827), 5 cordoned directories
//! (KIP-1066).

use std::collections::{BTreeMap, BTreeSet};

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::describe_log_dirs::{
    DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use barnabas_protocol::messages::{DescribeLogDirsRequest, DescribeLogDirsResponse};

use super::{Answer, Ctx, Operation, Out, Resource};
use crate::ids::{TopicName, TopicPartition};
use crate::partition::{LogDir, Partition};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DescribeLogDirsRequest = ctx.decode(body)?;
    if !ctx.authorize(Operation::Describe, Resource::Cluster) {
        let error_code = ErrorCode::ClusterAuthorizationFailed.code();
        return ctx.respond(out, &DescribeLogDirsResponse { error_code, ..Default::default() });
    }
    let wanted: Option<BTreeSet<TopicPartition>> = request.topics.map(|topics| {
        let pairs = |name: TopicName, partitions: Vec<i32>| {
            partitions.into_iter().map(move |index| TopicPartition::new(name.clone(), index))
        };
        topics.into_iter().flat_map(|topic| pairs(topic.topic.into(), topic.partitions)).collect()
    });
    let mut partitions = ctx.rooms.partitions.partitions();
    partitions.retain(|partition| wanted.as_ref().is_none_or(|wanted| wanted.contains(partition.id())));
    let dirs = ctx.rooms.partitions.dirs();
    let results = dirs.iter().map(|dir| describe(ctx, dir, &partitions)).collect();
    ctx.respond(out, &DescribeLogDirsResponse { results, ..Default::default() })
}

fn describe(ctx: &Ctx<'_>, dir: &LogDir, partitions: &[std::sync::Arc<Partition>]) -> DescribeLogDirsResult {
    let result = DescribeLogDirsResult { log_dir: dir.path().display().to_string(), ..Default::default() };
    if !dir.is_online() {
        return DescribeLogDirsResult { error_code: ErrorCode::KafkaStorageError.code(), ..result };
    }
    let mut topics: BTreeMap<TopicName, Vec<DescribeLogDirsPartition>> = BTreeMap::new();
    for partition in partitions.iter().filter(|partition| partition.dir().id() == dir.id()) {
        topics.entry(partition.id().topic.clone()).or_default().push(DescribeLogDirsPartition {
            partition_index: partition.id().partition,
            partition_size: i64::try_from(partition.log().size()).unwrap_or(i64::MAX),
            offset_lag: 0,
            is_future_key: false,
        });
    }
    let space = ctx.rooms.partitions.space(dir).ok();
    let bytes = |size: Option<u64>| size.map_or(-1, |bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
    DescribeLogDirsResult {
        topics: topics
            .into_iter()
            .map(|(name, partitions)| DescribeLogDirsTopic { name: name.to_string(), partitions })
            .collect(),
        total_bytes: bytes(space.map(|space| space.total)),
        usable_bytes: bytes(space.map(|space| space.usable)),
        ..result
    }
}
