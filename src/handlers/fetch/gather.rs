//! Reading what a fetch asked for, partition by partition, within its limits.

use std::sync::Arc;

use barnabas_protocol::ErrorCode;

use super::session::{Told, TopicKey, Wanted};
use crate::handlers::{Ctx, Operation, Resource, error};
use crate::ids::{TopicName, Uuid};
use crate::partition::{
    Fetched, FollowerFetch, Isolation, Partition, PartitionError, Read, Sees, Topic, Waiter,
};

/// A broker that fetches as a follower.
#[derive(Clone, Copy, Debug)]
pub struct Replica {
    /// Its node id.
    pub id: i32,
    /// Its broker epoch, or -1.
    pub epoch: i64,
}

/// What holds for all partitions of a fetch.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of the whole answer, in bytes; the first batch may be larger. Where there is something to read, Kafka trips over
    /// less than nothing.
    pub max_bytes: i64,
    /// It is worth answering with so many.
    pub min_bytes: u64,
    /// Up to where.
    pub isolation: Isolation,
    /// Who fetches, if it is no consumer.
    pub follower: Option<Replica>,
}

/// One partition's part of the answer.
pub struct Part {
    /// Where it stands in its session.
    pub place: u64,
    /// The topic's name, as far as it is known.
    pub topic: TopicName,
    /// The topic's id, if the request goes by ids.
    pub id: Uuid,
    /// The partition's index.
    pub index: i32,
    /// What was read.
    pub result: Result<Fetched, ErrorCode>,
    /// What the session last said of it.
    pub told: Told,
    /// Whom to watch while waiting.
    partition: Option<Arc<Partition>>,
}

impl Part {
    /// The partition was not found, or may not be read: no log was asked.
    pub fn is_unknown(&self) -> bool {
        self.partition.is_none()
    }

    fn bytes(&self) -> u64 {
        self.result.as_ref().map_or(0, |fetched| fetched.records.len())
    }
}

/// Everything that was read.
#[derive(Default)]
pub struct Gathered {
    /// In the order of serving.
    pub parts: Vec<Part>,
    bytes: u64,
    /// The fetch has not waited yet.
    pub is_first: bool,
    /// There is something to tell at once: an error, or a log that has diverged.
    urgent: bool,
}

impl Gathered {
    /// Worth answering now, however long the client would wait?
    pub fn suffices(&self, limits: &Limits) -> bool {
        self.urgent || self.bytes >= limits.min_bytes || self.parts.is_empty()
    }

    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.bytes = 0;
        self.urgent = false;
    }

    /// Reads one more partition.
    pub fn read(&mut self, ctx: &Ctx<'_>, limits: &Limits, place: u64, wanted: &Wanted, told: Told) {
        let topic = match &wanted.topic {
            TopicKey::Id(id) => ctx.rooms.partitions.topic_by_id(*id),
            TopicKey::Name(name) => ctx.rooms.partitions.topic(name),
        };
        let (name, id) = match (&wanted.topic, &topic) {
            (TopicKey::Id(id), Some(topic)) => (topic.name.clone(), *id),
            (TopicKey::Id(id), None) => (TopicName::from(""), *id),
            (TopicKey::Name(name), _) => (name.clone(), Uuid::ZERO),
        };
        let partition = find(ctx, topic.as_deref(), wanted);
        let result = match &partition {
            Ok(partition) => {
                let read = self.read_partition(ctx, partition, limits, wanted);
                read.map_err(|cause| error::partition(&cause))
            }
            Err(code) => Err(*code),
        };
        self.urgent |= result.as_ref().map_or(true, |fetched| is_urgent(fetched, wanted, told));
        let part =
            Part { place, topic: name, id, index: wanted.partition, result, told, partition: partition.ok() };
        self.bytes = self.bytes.saturating_add(part.bytes());
        self.parts.push(part);
    }

    fn read_partition(
        &self,
        ctx: &Ctx<'_>,
        partition: &Arc<Partition>,
        limits: &Limits,
        wanted: &Wanted,
    ) -> Result<Fetched, PartitionError> {
        if let Some(follower) = limits.follower {
            partition.check_follower(follower.id, wanted.current_leader_epoch)?;
        }
        let read_bytes = i64::try_from(self.bytes).unwrap_or(i64::MAX);
        let left = limits.max_bytes.min(limits.max_bytes.saturating_sub(read_bytes).max(0));
        let max_bytes = u64::try_from(left.min(i64::from(wanted.max_bytes)));
        let read = Read {
            offset: wanted.fetch_offset,
            max_bytes: max_bytes.unwrap_or_default(),
            min_one: max_bytes.is_ok() && self.bytes == 0,
            isolation: limits.isolation,
            current_leader_epoch: wanted.current_leader_epoch,
            last_fetched_epoch: wanted.last_fetched_epoch,
        };
        let fetched = partition.read(&read)?;
        if max_bytes.is_err() && wanted.fetch_offset < partition.upper_bound(limits.isolation) {
            return Err(PartitionError::InvalidSize);
        }
        if let Some(Replica { id, epoch }) = limits.follower.filter(|_| self.is_first)
            && fetched.diverging.is_none()
        {
            let fetch = FollowerFetch {
                broker: id,
                broker_epoch: epoch,
                offset: wanted.fetch_offset,
                log_start: wanted.log_start_offset,
            };
            partition.fetched_by(&fetch, ctx.now.mono_ms)?;
        }
        Ok(fetched)
    }

    /// Watches every partition for more bytes. The waiter has fired already if some came since they were read.
    pub fn watch(&self, limits: &Limits) -> Arc<Waiter> {
        let missing = limits.min_bytes.saturating_sub(self.bytes);
        let waiter = Waiter::for_bytes(i64::try_from(missing).unwrap_or(i64::MAX));
        let sees = match limits.isolation {
            Isolation::HighWatermark => Sees::All,
            Isolation::LastStable => Sees::Stable,
            Isolation::LogEnd => Sees::Appended,
        };
        for part in &self.parts {
            let (Some(partition), Ok(fetched)) = (&part.partition, &part.result) else { continue };
            partition.waiters().watch(waiter.clone(), sees);
            let moved = partition.high_watermark() != fetched.high_watermark
                || partition.last_stable_offset() != fetched.last_stable_offset
                || (sees == Sees::Appended && partition.log().end_offset() != fetched.log_end);
            if moved || partition.leader_epoch().is_err() {
                waiter.fire();
            }
        }
        waiter
    }
}

/// A log that has diverged, and a high watermark that a follower lacks (KIP-1166), are told at once.
fn is_urgent(fetched: &Fetched, wanted: &Wanted, told: Told) -> bool {
    let (known, now) = (wanted.high_watermark, fetched.high_watermark);
    fetched.diverging.is_some() || (known < now && told.high_watermark != now)
}

fn find(ctx: &Ctx<'_>, topic: Option<&Topic>, wanted: &Wanted) -> Result<Arc<Partition>, ErrorCode> {
    let unknown = match wanted.topic {
        TopicKey::Id(_) => PartitionError::UnknownTopicId,
        TopicKey::Name(_) => PartitionError::UnknownTopicOrPartition,
    };
    let topic = topic.ok_or_else(|| error::partition(&unknown))?;
    if !ctx.authorize(Operation::Read, Resource::Topic(&topic.name)) {
        return Err(ErrorCode::TopicAuthorizationFailed);
    }
    topic.find(wanted.partition).map_err(|cause| error::partition(&cause))
}
