//! From records to the image, and back for a snapshot.

use barnabas_protocol::messages::records::metadata::{
    BrokerRegistrationChangeRecord, FeatureLevelRecord, ProducerIdsRecord, RemoveTopicRecord,
};
use thiserror::Error;

use super::super::image::{Changes, Image, TopicImage};
use super::super::record::Record;
use super::features::METADATA_VERSION;
use super::{brokers, configs, features, kept, partitions, producer_ids, topics};
use crate::ids::Uuid;

/// A record that does not fit what came before it: the log is damaged or was written by something else.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message says it")]
pub enum ReplayError {
    #[error("a record speaks of the unknown topic {0}")]
    UnknownTopic(Uuid),
    #[error("the topic {0} is created twice")]
    TopicExists(String),
    #[error("a record speaks of the unknown partition {index} of topic {topic}")]
    UnknownPartition { topic: String, index: i32 },
    #[error("a record speaks of the unknown broker {0}")]
    UnknownBroker(i32),
    #[error("a record configures a resource of unknown type {0}")]
    UnknownResourceType(i8),
    #[error("the next producer id {0} is not above the last one")]
    ProducerIdsWentBack(i64),
    #[error("a transaction of metadata records {0}")]
    Transaction(&'static str),
}

/// The durable truth: the image and what is needed to go on with it. Only [`apply`] changes it.
#[derive(Clone, Debug)]
pub struct Hard {
    /// What the records say so far.
    pub image: Image,
    /// The image at the start of the transaction that is open.
    before_transaction: Option<Image>,
    /// What changed since somebody asked last.
    pub(in crate::controller) changes: Changes,
}

impl Hard {
    /// Starts from an image.
    pub fn new(image: Image) -> Hard {
        Hard { image, before_transaction: None, changes: Changes::default() }
    }

    /// Notes how far the log has been applied: the last record's offset, and epoch and append time of its batch.
    pub fn advance(&mut self, offset: i64, epoch: i32, timestamp_ms: i64) {
        (self.image.offset, self.image.epoch, self.image.timestamp_ms) = (offset, epoch, timestamp_ms);
    }

    /// A transaction of records began and did not end: whoever leads next must abort it.
    pub fn in_transaction(&self) -> bool {
        self.before_transaction.is_some()
    }
}

/// Takes one record into the truth.
///
/// # Errors
/// The record contradicts what came before.
pub fn apply(hard: &mut Hard, record: &Record) -> Result<(), ReplayError> {
    let (image, changes) = (&mut hard.image, &mut hard.changes);
    match record {
        Record::Topic(topic) => topics::replay(image, changes, topic)?,
        Record::RemoveTopic(RemoveTopicRecord { topic_id }) => {
            topics::replay_remove(image, changes, *topic_id)?;
        }
        Record::Partition(partition) => partitions::replay(image, changes, partition)?,
        Record::PartitionChange(change) => partitions::replay_change(image, changes, change)?,
        Record::ClearElr(clear) => partitions::replay_clear_elr(image, changes, clear),
        Record::Config(config) => configs::replay(image, changes, config)?,
        Record::FeatureLevel(level) => features::replay(image, changes, level),
        Record::ProducerIds(ids) => producer_ids::replay(image, ids)?,
        Record::RegisterBroker(broker) => brokers::replay(image, changes, broker),
        Record::UnregisterBroker(broker) => brokers::replay_unregister(image, changes, broker.broker_id),
        Record::BrokerRegistrationChange(change) => brokers::replay_change(image, changes, change)?,
        Record::FenceBroker(broker) => {
            brokers::replay_change(image, changes, &fence(broker.id, broker.epoch, 1))?;
        }
        Record::UnfenceBroker(broker) => {
            brokers::replay_change(image, changes, &fence(broker.id, broker.epoch, -1))?;
        }
        Record::RegisterController(controller) => brokers::replay_controller(image, changes, controller),
        Record::UnregisterController(controller) => {
            brokers::replay_unregister_controller(image, changes, controller.controller_id);
        }
        Record::NoOp(_) => {}
        Record::BeginTransaction(_) => {
            let before = Some(image.clone());
            if std::mem::replace(&mut hard.before_transaction, before).is_some() {
                return Err(ReplayError::Transaction("begins inside another"));
            }
        }
        Record::EndTransaction(_) => {
            hard.before_transaction.take().ok_or(ReplayError::Transaction("ends that did not begin"))?;
        }
        Record::AbortTransaction(_) => {
            let before = hard.before_transaction.take();
            *image = before.ok_or(ReplayError::Transaction("is aborted that did not begin"))?;
        }
        other => {
            let known = kept::replay(image, other);
            debug_assert!(known, "every kind of record is applied or kept");
        }
    }
    Ok(())
}

fn fence(broker_id: i32, broker_epoch: i64, fenced: i8) -> BrokerRegistrationChangeRecord {
    BrokerRegistrationChangeRecord { broker_id, broker_epoch, fenced, ..Default::default() }
}

/// The records that give this image when applied to the empty one, in the order Kafka's snapshots have.
pub fn to_records(image: &Image) -> Vec<Record> {
    let level = |(name, level): (&str, i16)| {
        Record::from(FeatureLevelRecord { name: name.to_owned(), feature_level: level })
    };
    // Whoever reads the snapshot must know the metadata version before anything else.
    let (first, rest): (Vec<_>, Vec<_>) = image.features().partition(|(name, _)| *name == METADATA_VERSION);
    let mut records: Vec<Record> = first.into_iter().chain(rest).map(level).collect();
    records.extend(image.brokers().map(|broker| brokers::to_record(broker).into()));
    records.extend(image.controllers().map(|controller| brokers::controller_to_record(controller).into()));
    records.extend(image.topics().flat_map(|topic| topic_records(topic)));
    records.extend(configs::to_records(image));
    if image.next_producer_id > 0 {
        let ids =
            ProducerIdsRecord { broker_id: -1, broker_epoch: -1, next_producer_id: image.next_producer_id };
        records.push(ids.into());
    }
    records.extend(image.kept.values().map(|record| (**record).clone()));
    records
}

fn topic_records(topic: &TopicImage) -> impl Iterator<Item = Record> {
    let partitions =
        topic.partitions().iter().map(|partition| partitions::to_record(topic.id, partition).into());
    std::iter::once(topics::to_record(topic).into()).chain(partitions)
}
