//! OffsetFetch.

use std::sync::Arc;

use crate::coordinator::group::event::Fetch;
use crate::coordinator::group::record::OffsetValue;
use crate::coordinator::group::response::{FetchedPartition, FetchedTopic};
use crate::coordinator::group::{GroupError, Hard, Soft, consumer};

/// What a group has committed: of the partitions asked for, or everything.
pub(in crate::coordinator::group) fn fetch(
    hard: &Hard,
    soft: &Soft,
    request: &Fetch,
) -> Result<Vec<FetchedTopic>, GroupError> {
    let group = request.group.as_str();
    if let Some(consumers) = hard.consumer(group) {
        consumer::offsets::may_fetch(consumers, request)?;
    }
    let known =
        soft.groups.contains_key(group) || hard.consumer(group).is_some() || hard.kind(group).is_some();
    let one = |topic: &Arc<str>, partition: i32, value: Option<&OffsetValue>| {
        let unstable = request.require_stable && hard.is_pending(group, topic, partition);
        match value.filter(|_| known && !unstable) {
            Some(value) => FetchedPartition {
                partition,
                offset: value.offset,
                leader_epoch: value.leader_epoch,
                metadata: value.metadata.clone(),
                error: None,
            },
            None => FetchedPartition {
                partition,
                offset: -1,
                leader_epoch: -1,
                metadata: "".into(),
                error: unstable.then_some(GroupError::UnstableOffset),
            },
        }
    };
    let topics = match &request.topics {
        Some(topics) => topics
            .iter()
            .map(|(topic, partitions)| {
                let partitions = partitions.iter().map(|p| one(topic, *p, hard.offset(group, topic, *p)));
                FetchedTopic { topic: topic.clone(), partitions: partitions.collect() }
            })
            .collect(),
        None if !known => Vec::new(),
        None => hard
            .offsets(group)
            .map(|(topic, partitions)| FetchedTopic {
                topic: topic.clone(),
                partitions: partitions.map(|(partition, value)| one(topic, partition, Some(value))).collect(),
            })
            .collect(),
    };
    Ok(topics)
}
