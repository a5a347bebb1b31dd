//! AlterPartitionReassignments: replicas move to other brokers (KIP-455). The new ones are added first; once all of them
//! are in sync the old ones go (see [`Wish::decide`]).

use barnabas_protocol::error::ErrorCode;
use barnabas_protocol::messages::alter_partition_reassignments::{
    ReassignablePartition, ReassignablePartitionResponse, ReassignableTopicResponse,
};
use barnabas_protocol::messages::records::metadata::PartitionChangeRecord;
use barnabas_protocol::messages::{AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse};

use super::super::image::{Image, PartitionImage, TopicImage};
use super::super::record::Record;
use super::partition_change::Wish;
use super::{Decision, Refusal, View, partitions, topics};

/// Begins, changes or cancels moves; each partition succeeds or fails by itself.
pub fn alter(
    image: &Image,
    view: &View<'_>,
    request: &AlterPartitionReassignmentsRequest,
) -> Decision<AlterPartitionReassignmentsResponse> {
    let mut records: Vec<Record> = Vec::new();
    let mut response = AlterPartitionReassignmentsResponse {
        allow_replication_factor_change: request.allow_replication_factor_change,
        error_message: None,
        ..Default::default()
    };
    for asked in &request.topics {
        let mut partitions = Vec::new();
        for wanted in &asked.partitions {
            let outcome = one(image, view, request, &asked.name, wanted);
            let refusal = match outcome {
                Ok(change) => {
                    records.extend(change.map(Record::from));
                    Refusal::bare(ErrorCode::None)
                }
                Err(refusal) => refusal,
            };
            partitions.push(ReassignablePartitionResponse {
                partition_index: wanted.partition_index,
                error_code: refusal.code.code(),
                error_message: refusal.message,
            });
        }
        response.responses.push(ReassignableTopicResponse { name: asked.name.clone(), partitions });
    }
    Decision { records, reply: response }
}

fn one(
    image: &Image,
    view: &View<'_>,
    request: &AlterPartitionReassignmentsRequest,
    name: &str,
    wanted: &ReassignablePartition,
) -> Result<Option<PartitionChangeRecord>, Refusal> {
    let unknown = || {
        let message = format!("Unable to find a partition named {name}-{}.", wanted.partition_index);
        Refusal::new(ErrorCode::UnknownTopicOrPartition, message)
    };
    let topic = image.topic(name).ok_or_else(topics::no_such_topic)?;
    let partition = topic.partition(wanted.partition_index).ok_or_else(unknown)?;
    let wish = match &wanted.replicas {
        None => cancelled(image, view, topic, partition)?,
        Some(target) => {
            moved(image, view, topic, partition, target, request.allow_replication_factor_change)?
        }
    };
    Ok(wish.decide(|id| image.broker(id).is_some_and(|broker| broker.is_active())))
}

fn moved<'a>(
    image: &'a Image,
    view: &View<'_>,
    topic: &'a TopicImage,
    partition: &'a PartitionImage,
    target: &[i32],
    any_factor: bool,
) -> Result<Wish<'a>, Refusal> {
    partitions::check_by_hand(image, target, None)?;
    let before = partition.replicas.iter().filter(|id| !partition.adding.contains(id)).count();
    if !any_factor && before != target.len() {
        let message = format!(
            "The replication factor is changed from {before} to {} which is not allowed when \
             AllowReplicationFactorChange is false.",
            target.len()
        );
        return Err(Refusal::new(ErrorCode::InvalidReplicationFactor, message));
    }
    // What an earlier move was adding and has not finished is no replica that must be kept.
    let settled = |id: &i32| !partition.adding.contains(id);
    let current: Vec<i32> = partition.replicas.iter().copied().filter(settled).collect();
    let mut wish = Wish::new(image, view, topic, partition);
    wish.adding = target.iter().copied().filter(|id| !current.contains(id)).collect();
    wish.removing = current.iter().copied().filter(|id| !target.contains(id)).collect();
    wish.replicas = target.iter().chain(&wish.removing).copied().collect();
    wish.isr.retain(|id| wish.replicas.contains(id));
    Ok(wish)
}

fn cancelled<'a>(
    image: &'a Image,
    view: &View<'_>,
    topic: &'a TopicImage,
    partition: &'a PartitionImage,
) -> Result<Wish<'a>, Refusal> {
    if partition.adding.is_empty() && partition.removing.is_empty() {
        return Err(Refusal::new(
            ErrorCode::NoReassignmentInProgress,
            "No partition reassignment is in progress.",
        ));
    }
    let mut wish = Wish::new(image, view, topic, partition);
    wish.replicas.retain(|id| !partition.adding.contains(id));
    wish.isr.retain(|id| !partition.adding.contains(id));
    if wish.isr.is_empty() {
        let message =
            "Unable to revert partition assignment, because it would require an unclean leader election.";
        return Err(Refusal::new(ErrorCode::InvalidReplicaAssignment, message));
    }
    wish.adding.clear();
    wish.removing.clear();
    Ok(wish)
}

#[cfg(test)]
mod reassignments_test;
