//! Elections that somebody asks for.

use barnabas_protocol::error::ErrorCode;
use barnabas_protocol::messages::elect_leaders::{PartitionResult, ReplicaElectionResult, TopicPartitions};
use barnabas_protocol::messages::records::metadata::PartitionChangeRecord;
use barnabas_protocol::messages::{ElectLeadersRequest, ElectLeadersResponse};

use super::super::election::{Elected, Election, elect};
use super::super::image::{Image, NO_LEADER, PartitionImage};
use super::super::record::Record;
use super::{Decision, Refusal, partitions};
use crate::ids::Uuid;

const PREFERRED: i8 = 0;
const UNCLEAN: i8 = 1;

/// Holds the elections of a request.
pub fn elect_leaders(image: &Image, request: &ElectLeadersRequest) -> Decision<ElectLeadersResponse> {
    if request.topic_partitions.as_ref().is_some_and(Vec::is_empty) {
        return Decision::only(ElectLeadersResponse::default());
    }
    let kind = match request.election_type {
        PREFERRED => Election::Preferred,
        UNCLEAN => Election::Unclean,
        other => return Decision::only(unknown_type(request, other)),
    };
    let mut records = Vec::new();
    let mut response = ElectLeadersResponse::default();
    let every = request.topic_partitions.is_none();
    let all = || {
        image.topics().map(|topic| TopicPartitions {
            topic: topic.name.to_string(),
            partitions: topic.partitions().iter().map(|partition| partition.index).collect(),
        })
    };
    for topic in request.topic_partitions.clone().unwrap_or_else(|| all().collect()) {
        let mut results = Vec::new();
        for index in topic.partitions {
            match elect_one(image, &topic.topic, index, kind) {
                Ok(record) => {
                    records.push(record);
                    results.push(result(index, None));
                }
                // Of all partitions only those are told that somebody would want to know of.
                Err(refusal) if every && refusal.code == ErrorCode::ElectionNotNeeded => {}
                Err(refusal) => results.push(result(index, Some(refusal))),
            }
        }
        response
            .replica_election_results
            .push(ReplicaElectionResult { topic: topic.topic, partition_result: results });
    }
    Decision { records, reply: response }
}

fn unknown_type(request: &ElectLeadersRequest, kind: i8) -> ElectLeadersResponse {
    let refusal = Refusal::new(ErrorCode::InvalidRequest, format!("Unknown election type {kind}"));
    let topics = request.topic_partitions.iter().flatten();
    let results = topics.map(|topic| ReplicaElectionResult {
        topic: topic.topic.clone(),
        partition_result: topic
            .partitions
            .iter()
            .map(|index| result(*index, Some(refusal.clone())))
            .collect(),
    });
    ElectLeadersResponse {
        error_code: refusal.code.code(),
        replica_election_results: results.collect(),
        ..Default::default()
    }
}

fn result(partition_id: i32, refusal: Option<Refusal>) -> PartitionResult {
    let (code, message) = refusal.map_or((ErrorCode::None, None), |refusal| (refusal.code, refusal.message));
    PartitionResult { partition_id, error_code: code.code(), error_message: message }
}

fn elect_one(image: &Image, topic: &str, index: i32, kind: Election) -> Result<Record, Refusal> {
    let unknown = |message| Refusal::new(ErrorCode::UnknownTopicOrPartition, message);
    let topic = image.topic(topic).ok_or_else(|| unknown(format!("No such topic as {topic}")))?;
    let partition = topic
        .partition(index)
        .ok_or_else(|| unknown(format!("No such partition as {}-{index}", topic.name)))?;
    let not_needed = match kind {
        Election::Preferred => partition.replicas.first() == Some(&partition.leader),
        Election::Any | Election::Unclean => partition.leader != NO_LEADER,
    };
    if not_needed {
        let message = "Leader election not needed for topic partition.";
        return Err(Refusal::new(ErrorCode::ElectionNotNeeded, message));
    }
    let alive = |id: i32| image.broker(id).is_some_and(|broker| broker.is_active());
    let elected = elect(partition, alive, kind);
    let in_vain = match kind {
        Election::Preferred => partition.replicas.first() != Some(&elected.leader),
        Election::Any | Election::Unclean => elected.leader == NO_LEADER,
    };
    match (in_vain, kind) {
        (false, _) => Ok(won(topic.id, partition, elected).into()),
        (true, Election::Preferred) => {
            let message = "The preferred leader was not available.";
            Err(Refusal::new(ErrorCode::PreferredLeaderNotAvailable, message))
        }
        (true, _) => {
            let message = "Eligible topic partition leaders are not available.";
            Err(Refusal::new(ErrorCode::EligibleLeadersNotAvailable, message))
        }
    }
}

/// The change that makes an election's outcome so. The leader epoch grows even if the leader is the old one.
pub(super) fn won(topic: Uuid, partition: &PartitionImage, elected: Elected) -> PartitionChangeRecord {
    let mut change = partitions::change(topic, partition.index);
    change.leader = elected.leader;
    if elected.leader == NO_LEADER {
        return change;
    }
    if elected.unclean || !partition.isr.contains(&elected.leader) {
        change.isr = Some(vec![elected.leader]);
    }
    if elected.unclean {
        change.leader_recovery_state = 1;
    }
    if elected.unclean || partition.elr.contains(&elected.leader) {
        let others = partition.elr.iter().copied().filter(|id| !elected.unclean && *id != elected.leader);
        change.eligible_leader_replicas = Some(others.collect());
    }
    if !partition.last_known_elr.is_empty() {
        change.last_known_elr = Some(Vec::new());
    }
    change
}
