//! AlterPartition: a leader says who is in sync with it.

use barnabas_protocol::error::ErrorCode;
use barnabas_protocol::messages::alter_partition::{
    BrokerState, RequestPartitionData, ResponsePartitionData, ResponseTopicData,
};
use barnabas_protocol::messages::{AlterPartitionRequest, AlterPartitionResponse};

use super::super::image::{Image, NO_LEADER, PartitionImage};
use super::super::record::Record;
use super::partition_change::Wish;
use super::registration::check_epoch;
use super::{Decision, Refusal, View};

/// Checks each partition by itself and changes those that may be changed.
pub fn alter(
    image: &Image,
    view: &View<'_>,
    request: &AlterPartitionRequest,
) -> Decision<Result<AlterPartitionResponse, Refusal>> {
    if let Err(refusal) = check_epoch(image, request.broker_id, request.broker_epoch) {
        return Decision::only(Err(refusal));
    }
    let mut records: Vec<Record> = Vec::new();
    let mut response = AlterPartitionResponse::default();
    let may_lead = |id: i32| image.broker(id).is_some_and(|broker| broker.is_active());
    for asked in &request.topics {
        let topic = image.topic_by_id(asked.topic_id);
        let mut partitions = Vec::new();
        for wanted in &asked.partitions {
            let failed = |code: ErrorCode| ResponsePartitionData {
                partition_index: wanted.partition_index,
                error_code: code.code(),
                ..Default::default()
            };
            let Some(topic) = topic else {
                partitions.push(failed(ErrorCode::UnknownTopicId));
                continue;
            };
            let Some(partition) = topic.partition(wanted.partition_index) else {
                partitions.push(failed(ErrorCode::UnknownTopicOrPartition));
                continue;
            };
            if let Err(code) = check(image, request.broker_id, partition, wanted) {
                partitions.push(failed(code));
                continue;
            }
            let mut wish = Wish::new(image, view, topic, partition);
            wish.isr = ids(wanted).collect();
            wish.recovering = wanted.leader_recovery_state == 1;
            let recovering = wish.recovering;
            let changed = wish.decide(may_lead);
            let epoch = partition.partition_epoch.saturating_add(i32::from(changed.is_some()));
            let leader = changed.as_ref().map_or(NO_LEADER, |change| change.leader);
            let isr = changed.as_ref().and_then(|change| change.isr.clone());
            records.extend(changed.map(Record::from));
            // The end of a move may take the lead away from whoever asked.
            if leader >= 0 && leader != partition.leader {
                partitions.push(failed(ErrorCode::NewLeaderElected));
                continue;
            }
            partitions.push(ResponsePartitionData {
                partition_index: wanted.partition_index,
                error_code: 0,
                leader_id: partition.leader,
                leader_epoch: partition.leader_epoch.saturating_add(i32::from(leader >= 0)),
                isr: isr.unwrap_or_else(|| ids(wanted).collect()),
                leader_recovery_state: i8::from(recovering),
                partition_epoch: epoch,
            });
        }
        response.topics.push(ResponseTopicData { topic_id: asked.topic_id, partitions });
    }
    Decision { records, reply: Ok(response) }
}

/// Who is to be in sync: version 3 has their epochs, version 2 only their ids. A leader in the controller's own process
/// says both.
fn members(wanted: &RequestPartitionData) -> impl Iterator<Item = (i32, i64)> {
    let with_epochs = wanted.new_isr_with_epochs.iter();
    let with_epochs = with_epochs.map(|BrokerState { broker_id, broker_epoch }| (*broker_id, *broker_epoch));
    let ids = if wanted.new_isr_with_epochs.is_empty() { &wanted.new_isr[..] } else { &[] };
    with_epochs.chain(ids.iter().map(|id| (*id, -1)))
}

fn ids(wanted: &RequestPartitionData) -> impl Iterator<Item = i32> {
    members(wanted).map(|(id, _)| id)
}

fn check(
    image: &Image,
    broker: i32,
    partition: &PartitionImage,
    wanted: &RequestPartitionData,
) -> Result<(), ErrorCode> {
    let refuse = |when: bool, code: ErrorCode| if when { Err(code) } else { Ok(()) };
    // It knows more than this controller, which therefore is the active one no more.
    let ahead =
        wanted.leader_epoch > partition.leader_epoch || wanted.partition_epoch > partition.partition_epoch;
    refuse(ahead, ErrorCode::NotController)?;
    refuse(wanted.leader_epoch < partition.leader_epoch, ErrorCode::FencedLeaderEpoch)?;
    refuse(broker != partition.leader, ErrorCode::InvalidRequest)?;
    refuse(wanted.partition_epoch < partition.partition_epoch, ErrorCode::InvalidUpdateVersion)?;
    let isr: Vec<i32> = ids(wanted).collect();
    let mut unique = isr.clone();
    unique.sort_unstable();
    unique.dedup();
    let known = isr.iter().all(|id| partition.replicas.contains(id));
    refuse(
        unique.len() != isr.len() || !known || !isr.contains(&partition.leader),
        ErrorCode::InvalidRequest,
    )?;
    let recovering = match wanted.leader_recovery_state {
        0 => false,
        1 => true,
        _ => return Err(ErrorCode::InvalidRequest),
    };
    refuse(recovering && (isr.len() > 1 || !partition.recovering), ErrorCode::InvalidRequest)?;
    let eligible = |(id, epoch): (i32, i64)| {
        let active = image.broker(id).filter(|broker| broker.is_active());
        active.is_some_and(|broker| epoch == -1 || broker.epoch == epoch)
    };
    refuse(!members(wanted).all(eligible), ErrorCode::IneligibleReplica)
}

#[cfg(test)]
mod alter_partition_test;
