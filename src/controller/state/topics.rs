//! Topics: making and deleting them.

use std::collections::{BTreeMap, BTreeSet};

use barnabas_protocol::error::ErrorCode;
use barnabas_protocol::messages::create_topics::{
    CreatableTopic, CreatableTopicConfigs, CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse,
};
use barnabas_protocol::messages::records::metadata::{RemoveTopicRecord, TopicRecord};

use super::super::image::{Changes, ConfigResource, Image, Overrides, ResourceKind, TopicImage};
use super::super::record::Record;
use super::partitions::{self, Assignment};
use super::{Decision, Refusal, ReplayError, View, configs, names};
use crate::ids::{TopicName, Uuid};

/// The most partitions that one request may make.
pub const MOST_PARTITIONS: usize = 10_000;

/// The metadata log's own topic, which is in no image.
const CLUSTER_METADATA: &str = "__cluster_metadata";

/// What the caller draws at random for a request.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// One id for each topic of the request.
    pub topic_ids: Vec<Uuid>,
    /// Where placement begins.
    pub start: usize,
}

/// Makes the topics that can be made; each of the others gets its own error.
pub fn create(
    image: &Image,
    view: &View<'_>,
    request: &CreateTopicsRequest,
    drawn: &Drawn,
) -> Decision<CreateTopicsResponse> {
    let mut records = Vec::new();
    let mut response = CreateTopicsResponse::default();
    let mut described_last: Option<(Overrides, Vec<CreatableTopicConfigs>)> = None;
    let duplicates = duplicates(request.topics.iter().map(|topic| topic.name.as_str()));
    let unique = || request.topics.iter().filter(|topic| !duplicates.contains(topic.name.as_str()));
    let too_many =
        unique().map(|topic| asked_for(topic, view)).fold(0, usize::saturating_add) > MOST_PARTITIONS;
    for (at, topic) in request.topics.iter().enumerate() {
        if duplicates.contains(topic.name.as_str()) {
            continue;
        }
        let outcome = if too_many {
            let message = "Excessively large number of partitions per request.";
            Err(Refusal::new(ErrorCode::PolicyViolation, message))
        } else {
            let id = drawn.topic_ids.get(at).copied().unwrap_or(Uuid::ZERO);
            create_one(image, view, topic, id, drawn.start.wrapping_add(at))
        };
        response.topics.push(match outcome {
            Ok(mut made) => {
                // Topics that are made together are mostly alike.
                let known = described_last.take().filter(|(of, _)| *of == made.overrides);
                let (_, configs) = described_last.insert(known.unwrap_or_else(|| {
                    let configs = described(image, view, &made.overrides);
                    (made.overrides, configs)
                }));
                made.result.configs = Some(configs.clone());
                if !request.validate_only {
                    records.append(&mut made.records);
                }
                made.result
            }
            Err(refusal) => refused(&topic.name, refusal),
        });
    }
    for name in duplicates {
        response.topics.push(refused(name, Refusal::new(ErrorCode::InvalidRequest, "Duplicate topic name.")));
    }
    Decision { records, reply: response }
}

struct Made {
    records: Vec<Record>,
    overrides: Overrides,
    /// Without its settings yet.
    result: CreatableTopicResult,
}

/// Names that occur more than once.
pub fn duplicates<'a>(names: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| !seen.insert(*name)).collect()
}

/// How many partitions a topic asks for, good or bad.
fn asked_for(topic: &CreatableTopic, view: &View<'_>) -> usize {
    match (topic.assignments.len(), topic.num_partitions) {
        (0, -1) => usize::try_from(view.num_partitions).unwrap_or_default(),
        (0, count) => usize::try_from(count).unwrap_or_default(),
        (assigned, _) => assigned,
    }
}

fn refused(name: &str, refusal: Refusal) -> CreatableTopicResult {
    CreatableTopicResult {
        name: name.to_owned(),
        error_code: refusal.code.code(),
        error_message: refusal.message,
        ..Default::default()
    }
}

fn create_one(
    image: &Image,
    view: &View<'_>,
    topic: &CreatableTopic,
    id: Uuid,
    start: usize,
) -> Result<Made, Refusal> {
    check_name(image, &topic.name)?;
    let overrides = overrides_of(view, topic)?;
    let placed = assign(image, view, topic, start)?;
    let mut records = vec![Record::from(TopicRecord { name: topic.name.clone(), topic_id: id })];
    let resource = ConfigResource::topic(&topic.name);
    records
        .extend(overrides.iter().map(|(name, value)| configs::record(&resource, name, Some(value)).into()));
    records.extend(placed.iter().map(|assignment| partitions::new_record(id, assignment).into()));
    let factor = placed.first().map_or(0, |first| first.replicas.len());
    let result = CreatableTopicResult {
        name: topic.name.clone(),
        topic_id: id,
        error_code: 0,
        error_message: None,
        num_partitions: i32::try_from(placed.len()).unwrap_or(i32::MAX),
        replication_factor: i16::try_from(factor).unwrap_or(i16::MAX),
        ..Default::default()
    };
    Ok(Made { records, overrides, result })
}

fn check_name(image: &Image, name: &str) -> Result<(), Refusal> {
    if name == CLUSTER_METADATA {
        let message = format!("Creation of internal topic {name} is prohibited.");
        return Err(Refusal::new(ErrorCode::InvalidRequest, message));
    }
    if let Some(fault) = names::fault_of(name) {
        return Err(Refusal::new(ErrorCode::InvalidTopicException, fault));
    }
    if image.topic(name).is_some() {
        return Err(Refusal::new(ErrorCode::TopicAlreadyExists, format!("Topic '{name}' already exists.")));
    }
    match names::blurred(name).and_then(|blurred| image.blurred.get(blurred.as_str())) {
        Some(twin) => {
            let message = format!("Topic '{name}' collides with existing topic: {twin}");
            Err(Refusal::new(ErrorCode::InvalidTopicException, message))
        }
        None => Ok(()),
    }
}

fn overrides_of(view: &View<'_>, topic: &CreatableTopic) -> Result<Overrides, Refusal> {
    let mut overrides = Overrides::new();
    let mut nulls = Vec::new();
    for config in &topic.configs {
        match &config.value {
            Some(value) => drop(overrides.insert(config.name.clone(), value.clone())),
            None => nulls.push(config.name.as_str()),
        }
    }
    if !nulls.is_empty() {
        let message = format!("Null value not supported for topic configs: {}", nulls.join(","));
        return Err(Refusal::new(ErrorCode::InvalidConfig, message));
    }
    if !overrides.is_empty() {
        view.rules.check(&ConfigResource::topic(&topic.name), &Overrides::new(), &overrides)?;
    }
    Ok(overrides)
}

fn assign(
    image: &Image,
    view: &View<'_>,
    topic: &CreatableTopic,
    start: usize,
) -> Result<Vec<Assignment>, Refusal> {
    if !topic.assignments.is_empty() {
        return assign_by_hand(image, topic);
    }
    if topic.replication_factor < -1 || topic.replication_factor == 0 {
        let message = "Replication factor must be larger than 0, or -1 to use the default value.";
        return Err(Refusal::new(ErrorCode::InvalidReplicationFactor, message));
    }
    if topic.num_partitions < -1 || topic.num_partitions == 0 {
        let message = "Number of partitions was set to an invalid non-positive value.";
        return Err(Refusal::new(ErrorCode::InvalidPartitions, message));
    }
    let factor = match topic.replication_factor {
        -1 => view.default_replication_factor,
        given => given,
    };
    partitions::place(image, 0, asked_for(topic, view), usize::try_from(factor).unwrap_or_default(), start)
}

fn assign_by_hand(image: &Image, topic: &CreatableTopic) -> Result<Vec<Assignment>, Refusal> {
    if topic.replication_factor != -1 {
        let message =
            "A manual partition assignment was specified, but replication factor was not set to -1.";
        return Err(Refusal::new(ErrorCode::InvalidRequest, message));
    }
    if topic.num_partitions != -1 {
        let message = "A manual partition assignment was specified, but numPartitions was not set to -1.";
        return Err(Refusal::new(ErrorCode::InvalidRequest, message));
    }
    let invalid = |message: String| Refusal::new(ErrorCode::InvalidReplicaAssignment, message);
    let mut assigned = BTreeMap::new();
    let mut factor = None;
    for assignment in &topic.assignments {
        let index = assignment.partition_index;
        if assigned.contains_key(&index) {
            return Err(invalid(format!(
                "Found multiple manual partition assignments for partition {index}"
            )));
        }
        let checked = partitions::by_hand(image, index, &assignment.broker_ids, factor)?;
        factor = Some(assignment.broker_ids.len());
        assigned.insert(index, checked);
    }
    if !assigned.keys().copied().eq(0..i32::try_from(assigned.len()).unwrap_or(i32::MAX)) {
        return Err(invalid("partitions should be a consecutive 0-based integer sequence".to_owned()));
    }
    Ok(assigned.into_values().collect())
}

fn described(image: &Image, view: &View<'_>, overrides: &Overrides) -> Vec<CreatableTopicConfigs> {
    let setting = |setting: super::TopicSetting| CreatableTopicConfigs {
        name: setting.name,
        value: setting.value,
        read_only: setting.read_only,
        config_source: setting.source,
        is_sensitive: setting.sensitive,
    };
    view.rules.describe_topic(image, overrides).into_iter().map(setting).collect()
}

/// How somebody names a topic that is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doomed {
    /// By its name.
    Name(String),
    /// By its id.
    Id(Uuid),
}

/// What became of it: its name and id as far as they are known, and why it stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Its name.
    pub name: Option<String>,
    /// Its id; zero if unknown.
    pub id: Uuid,
    /// Why it was not deleted.
    pub refusal: Option<Refusal>,
}

/// Deletes topics; who asks has seen to it that nothing is named twice in the same way.
pub fn delete(image: &Image, topics: &[Doomed]) -> Decision<Vec<Deleted>> {
    let by_id: BTreeSet<Uuid> =
        topics.iter().filter_map(|topic| if let Doomed::Id(id) = topic { Some(*id) } else { None }).collect();
    let mut twice = BTreeSet::new();
    let mut reply = Vec::new();
    for topic in topics {
        let Doomed::Name(name) = topic else { continue };
        let found = image.topic(name).map(|topic| topic.id);
        let refusal = match found {
            None => Some(no_such_topic()),
            Some(id) if by_id.contains(&id) => {
                twice.insert(id);
                let message = "The provided topic name maps to an ID that was already supplied.";
                Some(Refusal::new(ErrorCode::InvalidRequest, message))
            }
            Some(_) => None,
        };
        reply.push(Deleted { name: Some(name.clone()), id: found.unwrap_or(Uuid::ZERO), refusal });
    }
    for id in by_id.difference(&twice) {
        let found = image.topic_by_id(*id);
        let message = "This server does not host this topic ID.";
        let refusal = found.is_none().then(|| Refusal::new(ErrorCode::UnknownTopicId, message));
        reply.push(Deleted { name: found.map(|topic| topic.name.to_string()), id: *id, refusal });
    }
    let gone = reply.iter().filter(|deleted| deleted.refusal.is_none());
    let records = gone.map(|deleted| RemoveTopicRecord { topic_id: deleted.id }.into()).collect();
    Decision { records, reply }
}

/// What Kafka says of a name that it does not know.
pub fn no_such_topic() -> Refusal {
    Refusal::new(ErrorCode::UnknownTopicOrPartition, "This server does not host this topic-partition.")
}

pub(super) fn to_record(topic: &TopicImage) -> TopicRecord {
    TopicRecord { name: topic.name.to_string(), topic_id: topic.id }
}

pub(super) fn replay(
    image: &mut Image,
    changes: &mut Changes,
    record: &TopicRecord,
) -> Result<(), ReplayError> {
    let name: TopicName = record.name.as_str().into();
    if image.by_name.contains_key(&name) || image.by_id.contains_key(&record.topic_id) {
        return Err(ReplayError::TopicExists(record.name.clone()));
    }
    changes.topics.insert(record.topic_id);
    let topic = TopicImage::new(record.topic_id, name.clone());
    image.by_id.insert_mut(record.topic_id, topic.into());
    image.by_name.insert_mut(name.clone(), record.topic_id);
    if let Some(blurred) = names::blurred(&name) {
        image.blurred.insert_mut(blurred.into(), name.clone());
    }
    image.names.insert_mut(name);
    Ok(())
}

pub(super) fn replay_remove(image: &mut Image, changes: &mut Changes, id: Uuid) -> Result<(), ReplayError> {
    let topic = image.by_id.get(&id).cloned().ok_or(ReplayError::UnknownTopic(id))?;
    image.by_id.remove_mut(&id);
    image.by_name.remove_mut(&topic.name);
    image.names.remove_mut(&topic.name);
    if let Some(blurred) = names::blurred(&topic.name)
        && image.blurred.get(blurred.as_str()) == Some(&topic.name)
    {
        image.blurred.remove_mut(blurred.as_str());
    }
    configs::forget(image, changes, ResourceKind::Topic, &topic.name);
    changes.topics.remove(&id);
    changes.removed.insert(id, topic);
    Ok(())
}

#[cfg(test)]
mod topics_test;
