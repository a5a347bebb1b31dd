//! Partitions: where replicas are, and how that changes.

use std::sync::Arc;

use barnabas_protocol::error::ErrorCode;
use barnabas_protocol::messages::create_partitions::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic, CreatePartitionsTopicResult,
};
use barnabas_protocol::messages::records::metadata::{
    ClearElrRecord, PartitionChangeRecord, PartitionRecord,
};
use barnabas_protocol::messages::{
    AssignReplicasToDirsRequest, AssignReplicasToDirsResponse, assign_replicas_to_dirs as assign,
};

use super::super::image::{BrokerImage, Changes, Image, NO_LEADER, PartitionImage, TopicImage};
use super::super::placement::{self, Candidate, PlacementError};
use super::super::record::Record;
use super::directories::UNASSIGNED;
use super::topics::{MOST_PARTITIONS, duplicates};
use super::{Decision, Refusal, ReplayError, registration};
use crate::ids::Uuid;

/// In a change: the leader stays.
const SAME_LEADER: i32 = -2;
/// In a change: recovering or not, as before.
const SAME_RECOVERY: i8 = -1;

/// A partition that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Its index.
    pub index: i32,
    /// Who holds it, the preferred leader first.
    pub replicas: Vec<i32>,
    /// Which of them are alive.
    pub isr: Vec<i32>,
    /// Where each replica lies.
    pub directories: Vec<Uuid>,
}

impl Assignment {
    /// `None` if no replica is alive.
    fn new(image: &Image, index: i32, replicas: Vec<i32>) -> Option<Assignment> {
        let alive = |id: &i32| image.broker(*id).is_some_and(|broker| broker.is_active());
        let isr: Vec<i32> = replicas.iter().copied().filter(alive).collect();
        let directories = replicas.iter().map(|id| directory(image, *id)).collect();
        (!isr.is_empty()).then_some(Assignment { index, replicas, isr, directories })
    }
}

/// The directory of a new replica, if its broker has but one.
pub(super) fn directory(image: &Image, broker: i32) -> Uuid {
    match image.broker(broker).map(|broker| broker.directories.as_slice()) {
        Some([only]) => *only,
        _ => UNASSIGNED,
    }
}

/// Ids that stand for "not chosen yet", "lost" and the like (KIP-858).
pub fn is_reserved(directory: Uuid) -> bool {
    u128::from_be_bytes(directory.0) < 100
}

/// Places `count` new partitions from index `first` on.
pub fn place(
    image: &Image,
    first: i32,
    count: usize,
    factor: usize,
    start: usize,
) -> Result<Vec<Assignment>, Refusal> {
    let candidates: Vec<Candidate> =
        image.brokers().filter(|broker| takes_replicas(broker)).map(|broker| candidate(broker)).collect();
    let placed = placement::place(&candidates, count, factor, start).map_err(|error| {
        let why = match error {
            PlacementError::NobodyAlive => {
                "All brokers are currently fenced, or have all their log directories cordoned.".to_owned()
            }
            PlacementError::TooFewBrokers { brokers } => format!(
                "The target replication factor of {factor} cannot be reached because only {brokers} broker(s) are \
                 registered or some brokers have all their log directories cordoned."
            ),
        };
        let message = format!("Unable to replicate the partition {factor} time(s): {why}");
        Refusal::new(ErrorCode::InvalidReplicationFactor, message)
    })?;
    let assignments =
        (first..).zip(placed).filter_map(|(index, replicas)| Assignment::new(image, index, replicas));
    Ok(assignments.collect())
}

fn takes_replicas(broker: &BrokerImage) -> bool {
    let cordoned = broker.cordoned.as_deref().unwrap_or_default();
    cordoned.is_empty() || broker.directories.iter().any(|directory| !cordoned.contains(directory))
}

fn candidate(broker: &BrokerImage) -> Candidate {
    let rack = broker.rack.as_deref().map(str::to_owned);
    Candidate { id: broker.id, rack, fenced: !broker.is_active() }
}

/// Checks replicas that somebody chose; `factor` is what the partitions before had.
pub fn check_by_hand(image: &Image, replicas: &[i32], factor: Option<usize>) -> Result<(), Refusal> {
    let invalid = |message: String| Err(Refusal::new(ErrorCode::InvalidReplicaAssignment, message));
    if replicas.is_empty() {
        return invalid("The manual partition assignment includes an empty replica list.".to_owned());
    }
    let mut sorted = replicas.to_vec();
    sorted.sort_unstable();
    let mut previous = None;
    for id in sorted {
        if image.broker(id).is_none() {
            return invalid(format!(
                "The manual partition assignment includes broker {id}, but no such broker is registered."
            ));
        }
        if previous == Some(id) {
            return invalid(format!(
                "The manual partition assignment includes the broker {id} more than once."
            ));
        }
        previous = Some(id);
    }
    if let Some(factor) = factor.filter(|factor| *factor != replicas.len()) {
        return invalid(format!(
            "The manual partition assignment includes a partition with {} replica(s), but this is not consistent \
             with previous partitions, which have {factor} replica(s).",
            replicas.len()
        ));
    }
    Ok(())
}

/// A partition whose replicas somebody chose.
pub fn by_hand(
    image: &Image,
    index: i32,
    replicas: &[i32],
    factor: Option<usize>,
) -> Result<Assignment, Refusal> {
    check_by_hand(image, replicas, factor)?;
    Assignment::new(image, index, replicas.to_vec()).ok_or_else(|| {
        let message = format!(
            "All brokers specified in the manual partition assignment for partition {index} are fenced or in \
             controlled shutdown."
        );
        Refusal::new(ErrorCode::InvalidReplicaAssignment, message)
    })
}

/// Adds partitions to topics; each topic succeeds or fails by itself.
pub fn create(
    image: &Image,
    request: &CreatePartitionsRequest,
    start: usize,
) -> Decision<CreatePartitionsResponse> {
    let twice = duplicates(request.topics.iter().map(|topic| topic.name.as_str()));
    let mut response = CreatePartitionsResponse::default();
    let mut answer = |name: &str, refusal: Option<Refusal>| {
        let (code, message) =
            refusal.map_or((ErrorCode::None, None), |refusal| (refusal.code, refusal.message));
        response.results.push(CreatePartitionsTopicResult {
            name: name.to_owned(),
            error_code: code.code(),
            error_message: message,
        });
    };
    for name in &twice {
        answer(name, Some(Refusal::new(ErrorCode::InvalidRequest, "Duplicate topic name.")));
    }
    let unique = || request.topics.iter().filter(|topic| !twice.contains(topic.name.as_str()));
    let asked = unique().map(|topic| additional(image, topic)).fold(0, usize::saturating_add);
    let mut records: Vec<Record> = Vec::new();
    for topic in unique() {
        let added = if asked > MOST_PARTITIONS {
            let message = "Excessively large number of additional partitions per request.";
            Err(Refusal::new(ErrorCode::PolicyViolation, message))
        } else {
            add(image, topic, start)
        };
        match added {
            Ok((id, assignments)) => {
                if !request.validate_only {
                    records.extend(assignments.iter().map(|assignment| new_record(id, assignment).into()));
                }
                answer(&topic.name, None);
            }
            Err(refusal) => answer(&topic.name, Some(refusal)),
        }
    }
    Decision { records, reply: response }
}

/// How many are to be made; of a topic that is unknown none.
fn additional(image: &Image, topic: &CreatePartitionsTopic) -> usize {
    let present = image.topic(&topic.name).map_or(i32::MAX, |topic| topic.partition_count());
    usize::try_from(topic.count.saturating_sub(present)).unwrap_or_default()
}

fn add(
    image: &Image,
    asked: &CreatePartitionsTopic,
    start: usize,
) -> Result<(Uuid, Vec<Assignment>), Refusal> {
    let Some(topic) = image.topic(&asked.name) else {
        return Err(Refusal::bare(ErrorCode::UnknownTopicOrPartition));
    };
    let present = topic.partition_count();
    if asked.count == present {
        let message = format!("Topic already has {present} partition(s).");
        return Err(Refusal::new(ErrorCode::InvalidPartitions, message));
    }
    if asked.count < present {
        let message = format!(
            "The topic {} currently has {present} partition(s); {} would not be an increase.",
            asked.name, asked.count
        );
        return Err(Refusal::new(ErrorCode::InvalidPartitions, message));
    }
    let count = additional(image, asked);
    let factor = topic.partition(0).map_or(0, |partition| partition.replicas.len());
    let Some(assignments) = &asked.assignments else {
        return Ok((topic.id, place(image, present, count, factor, start)?));
    };
    if assignments.len() != count {
        let message = format!(
            "Attempted to add {count} additional partition(s), but only {} assignment(s) were specified.",
            assignments.len()
        );
        return Err(Refusal::new(ErrorCode::InvalidReplicaAssignment, message));
    }
    let checked = (present..).zip(assignments);
    let checked =
        checked.map(|(index, assignment)| by_hand(image, index, &assignment.broker_ids, Some(factor)));
    Ok((topic.id, checked.collect::<Result<_, _>>()?))
}

/// The record that makes a partition.
pub fn new_record(topic: Uuid, assignment: &Assignment) -> PartitionRecord {
    PartitionRecord {
        partition_id: assignment.index,
        topic_id: topic,
        replicas: assignment.replicas.clone(),
        isr: assignment.isr.clone(),
        leader: assignment.isr.first().copied().unwrap_or(NO_LEADER),
        leader_epoch: 0,
        partition_epoch: 0,
        directories: assignment.directories.clone(),
        ..Default::default()
    }
}

/// A change of a partition that changes nothing yet.
pub fn change(topic: Uuid, partition: i32) -> PartitionChangeRecord {
    PartitionChangeRecord {
        partition_id: partition,
        topic_id: topic,
        leader: SAME_LEADER,
        leader_recovery_state: SAME_RECOVERY,
        ..Default::default()
    }
}

/// AssignReplicasToDirs: notes the directories that a broker chose for its replicas.
pub fn assign_directories(
    image: &Image,
    request: &AssignReplicasToDirsRequest,
) -> Decision<Result<AssignReplicasToDirsResponse, Refusal>> {
    let broker = request.broker_id;
    if let Err(refusal) = registration::check_epoch(image, broker, request.broker_epoch) {
        return Decision::only(Err(refusal));
    }
    let mut records = Vec::new();
    let mut response = AssignReplicasToDirsResponse::default();
    for asked in &request.directories {
        let mut topics = Vec::new();
        for topic in &asked.topics {
            let one = |wanted: &assign::RequestPartitionData| {
                let change = assign_one(image, broker, topic.topic_id, wanted.partition_index, asked.id);
                let error_code = change.as_ref().err().map_or(0, |code| code.code());
                let partition_index = wanted.partition_index;
                records.extend(change.ok().flatten().map(Record::from));
                assign::ResponsePartitionData { partition_index, error_code }
            };
            let partitions = topic.partitions.iter().map(one).collect();
            topics.push(assign::ResponseTopicData { topic_id: topic.topic_id, partitions });
        }
        response.directories.push(assign::ResponseDirectoryData { id: asked.id, topics });
    }
    Decision { records, reply: Ok(response) }
}

fn assign_one(
    image: &Image,
    broker: i32,
    topic: Uuid,
    index: i32,
    directory: Uuid,
) -> Result<Option<PartitionChangeRecord>, ErrorCode> {
    let known = image.topic_by_id(topic).ok_or(ErrorCode::UnknownTopicId)?;
    let partition = known.partition(index).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let at = partition.replicas.iter().position(|replica| *replica == broker);
    let at = at.ok_or(ErrorCode::NotLeaderOrFollower)?;
    let mut directories = partition.directories.clone();
    directories.resize(partition.replicas.len(), UNASSIGNED);
    Ok(directories
        .get_mut(at)
        .filter(|old| **old != directory)
        .map(|place| *place = directory)
        .map(|()| PartitionChangeRecord { directories: Some(directories), ..change(topic, index) }))
}

pub(super) fn to_record(topic: Uuid, partition: &PartitionImage) -> PartitionRecord {
    let unless_empty = |ids: &Vec<i32>| (!ids.is_empty()).then(|| ids.clone());
    PartitionRecord {
        partition_id: partition.index,
        topic_id: topic,
        replicas: partition.replicas.clone(),
        isr: partition.isr.clone(),
        removing_replicas: partition.removing.clone(),
        adding_replicas: partition.adding.clone(),
        leader: partition.leader,
        leader_recovery_state: i8::from(partition.recovering),
        leader_epoch: partition.leader_epoch,
        partition_epoch: partition.partition_epoch,
        directories: partition.directories.clone(),
        eligible_leader_replicas: unless_empty(&partition.elr),
        last_known_elr: unless_empty(&partition.last_known_elr),
    }
}

fn topic_mut<'a>(
    image: &'a mut Image,
    changes: &mut Changes,
    id: Uuid,
) -> Result<&'a mut TopicImage, ReplayError> {
    let topic = image.by_id.get_mut(&id).ok_or(ReplayError::UnknownTopic(id))?;
    changes.topics.insert(id);
    Ok(Arc::make_mut(topic))
}

pub(super) fn replay(
    image: &mut Image,
    changes: &mut Changes,
    record: &PartitionRecord,
) -> Result<(), ReplayError> {
    let topic = topic_mut(image, changes, record.topic_id)?;
    topic.put(PartitionImage {
        index: record.partition_id,
        leader: record.leader,
        leader_epoch: record.leader_epoch,
        partition_epoch: record.partition_epoch,
        recovering: record.leader_recovery_state == 1,
        replicas: record.replicas.clone(),
        isr: record.isr.clone(),
        elr: record.eligible_leader_replicas.clone().unwrap_or_default(),
        last_known_elr: record.last_known_elr.clone().unwrap_or_default(),
        adding: record.adding_replicas.clone(),
        removing: record.removing_replicas.clone(),
        directories: record.directories.clone(),
    });
    Ok(())
}

pub(super) fn replay_change(
    image: &mut Image,
    changes: &mut Changes,
    record: &PartitionChangeRecord,
) -> Result<(), ReplayError> {
    let topic = topic_mut(image, changes, record.topic_id)?;
    let Some(old) = topic.partition(record.partition_id) else {
        let topic = topic.name.to_string();
        return Err(ReplayError::UnknownPartition { topic, index: record.partition_id });
    };
    let mut new = PartitionImage::clone(old);
    let update = |field: &mut Vec<i32>, value: &Option<Vec<i32>>| {
        if let Some(value) = value {
            field.clone_from(value);
        }
    };
    update(&mut new.isr, &record.isr);
    update(&mut new.replicas, &record.replicas);
    update(&mut new.removing, &record.removing_replicas);
    update(&mut new.adding, &record.adding_replicas);
    update(&mut new.elr, &record.eligible_leader_replicas);
    update(&mut new.last_known_elr, &record.last_known_elr);
    if let Some(directories) = &record.directories {
        new.directories.clone_from(directories);
    }
    if record.leader != SAME_LEADER {
        new.leader = record.leader;
        new.leader_epoch = new.leader_epoch.saturating_add(1);
    }
    if record.leader_recovery_state != SAME_RECOVERY {
        new.recovering = record.leader_recovery_state == 1;
    }
    new.partition_epoch = new.partition_epoch.saturating_add(1);
    topic.put(new);
    Ok(())
}

/// Forgets eligible leaders of one topic, or of all if it has no name.
pub(super) fn replay_clear_elr(image: &mut Image, changes: &mut Changes, record: &ClearElrRecord) {
    let named = |topic: &TopicImage| record.topic_name.is_empty() || *topic.name == *record.topic_name;
    let has_some = |topic: &TopicImage| {
        topic
            .partitions
            .iter()
            .any(|partition| !partition.elr.is_empty() || !partition.last_known_elr.is_empty())
    };
    let ids: Vec<Uuid> =
        image.topics().filter(|topic| named(topic) && has_some(topic)).map(|topic| topic.id).collect();
    for id in ids {
        let Ok(topic) = topic_mut(image, changes, id) else { continue };
        for partition in &mut topic.partitions {
            let partition = Arc::make_mut(partition);
            partition.elr.clear();
            partition.last_known_elr.clear();
        }
    }
}

#[cfg(test)]
mod partitions_test;
