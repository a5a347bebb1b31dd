//! Metadata (3), versions 0-13: brokers and topics as a client on this listener sees them.
//!
//! Version 1 tells the controller and takes null for all topics, 2 the cluster id, 4 may forbid auto-creation, 5 shows
//! offline replicas, 7 leader epochs, 8 authorized operations (8-10 for the cluster, too), 10 ids, 12 asks by id.

use std::collections::BTreeSet;
use std::sync::Arc;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::metadata::{
    MetadataRequestTopic, MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use barnabas_protocol::messages::{MetadataRequest, MetadataResponse};

use super::{Answer, Ctx, Operation, Out, Resource, hash_order};
use crate::controller::image::{PartitionImage, TopicImage};
use crate::controller::reach::{Leaderless, Reach};
use crate::controller::{Image, internal_topics, names};

/// Asking by id, or without a name, came with this version although the fields are older.
const BY_ID: i16 = 12;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: MetadataRequest = ctx.decode(body)?;
    if let Some(refused) = refuse(&request, ctx.version) {
        return ctx.respond(out, &refused);
    }
    let image = ctx.rooms.image();
    let reach = Reach::new(&image, &ctx.session.listener);
    let seen = Seen { reach, version: ctx.version };
    let mut topics = match &request.topics {
        Some(asked) if !(asked.is_empty() && ctx.version == 0) => {
            match asked.iter().any(|topic| !topic.topic_id.is_zero()) {
                true => by_id(ctx, &image, seen, asked),
                false => by_name(ctx, &image, seen, asked, request.allow_auto_topic_creation),
            }
        }
        _ => image
            .topics()
            .filter(|topic| ctx.authorize(Operation::Describe, Resource::Topic(&topic.name)))
            .map(|topic| seen.topic(topic))
            .collect(),
    };
    if request.include_topic_authorized_operations {
        for topic in &mut topics {
            if let Some(name) = &topic.name {
                topic.topic_authorized_operations = ctx.topic_operations(name);
            }
        }
    }
    let response = MetadataResponse {
        brokers: reach
            .brokers()
            .map(|(broker, endpoint)| MetadataResponseBroker {
                node_id: broker.id,
                host: endpoint.host.to_string(),
                port: i32::from(endpoint.port),
                rack: broker.rack.as_deref().map(str::to_owned),
            })
            .collect(),
        cluster_id: Some(image.cluster_id().to_owned()),
        controller_id: ctx.rooms.config.node_id,
        topics,
        cluster_authorized_operations: if request.include_cluster_authorized_operations {
            ctx.cluster_operations()
        } else {
            i32::MIN
        },
        ..Default::default()
    };
    ctx.respond(out, &response)
}

/// A request that names topics in a way its version does not have gets nothing but errors.
fn refuse(request: &MetadataRequest, version: i16) -> Option<MetadataResponse> {
    let asked = request.topics.as_deref()?;
    let nameless = |topic: &MetadataRequestTopic| topic.name.is_none() && topic.topic_id.is_zero();
    let code =
        if version < BY_ID && asked.iter().any(|topic| topic.name.is_none() || !topic.topic_id.is_zero()) {
            ErrorCode::InvalidRequest
        } else if asked.iter().all(|topic| topic.topic_id.is_zero()) && asked.iter().any(nameless) {
            ErrorCode::UnknownServerError
        } else {
            return None;
        };
    let topic = |topic: &MetadataRequestTopic| MetadataResponseTopic {
        error_code: code.code(),
        name: Some(topic.name.clone().unwrap_or_default()),
        topic_id: topic.topic_id,
        ..Default::default()
    };
    Some(MetadataResponse { topics: asked.iter().map(topic).collect(), ..Default::default() })
}

/// Topics by id; names in the same request count for nothing. What is unknown comes first.
fn by_id(
    ctx: &Ctx<'_>,
    image: &Image,
    seen: Seen<'_>,
    asked: &[MetadataRequestTopic],
) -> Vec<MetadataResponseTopic> {
    let mut done = BTreeSet::new();
    let (mut unknown, mut known) = (Vec::new(), Vec::new());
    for id in asked.iter().map(|topic| topic.topic_id).filter(|id| !id.is_zero()) {
        if !done.insert(id) {
            continue;
        }
        let nameless = |code: ErrorCode| MetadataResponseTopic {
            error_code: code.code(),
            name: None,
            topic_id: id,
            ..Default::default()
        };
        match image.topic_by_id(id) {
            None => unknown.push(nameless(ErrorCode::UnknownTopicId)),
            Some(topic) if ctx.authorize(Operation::Describe, Resource::Topic(&topic.name)) => {
                known.push(seen.topic(topic));
            }
            Some(_) => unknown.push(nameless(ErrorCode::TopicAuthorizationFailed)),
        }
    }
    unknown.append(&mut known);
    unknown
}

/// Topics by name. What is unknown comes last, and is made if that is wanted: the client asks again.
fn by_name(
    ctx: &Ctx<'_>,
    image: &Image,
    seen: Seen<'_>,
    asked: &[MetadataRequestTopic],
    may_create: bool,
) -> Vec<MetadataResponseTopic> {
    let (mut known, mut unknown, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
    for name in hash_order::as_set(asked.iter().filter_map(|topic| topic.name.as_deref())) {
        let missing = |code: ErrorCode| MetadataResponseTopic {
            error_code: code.code(),
            name: Some(name.to_owned()),
            is_internal: internal_topics::is_internal(name),
            ..Default::default()
        };
        if !ctx.authorize(Operation::Describe, Resource::Topic(name)) {
            unknown.push(missing(ErrorCode::TopicAuthorizationFailed));
        } else if let Some(topic) = image.topic(name) {
            known.push(seen.topic(topic));
        } else if names::fault_of(name).is_some() {
            unknown.push(missing(ErrorCode::InvalidTopicException));
        } else {
            if may_create && ctx.rooms.config.topics.auto_create && may_make(ctx, name) {
                wanted.push(internal_topics::new_topic(name, &ctx.rooms.config));
            }
            unknown.push(missing(ErrorCode::UnknownTopicOrPartition));
        }
    }
    // Kafka answers this request without them, too.
    ctx.rooms.channel.make_topics(&wanted);
    known.append(&mut unknown);
    known
}

fn may_make(ctx: &Ctx<'_>, name: &str) -> bool {
    ctx.authorize(Operation::Create, Resource::Cluster)
        || ctx.authorize(Operation::Create, Resource::Topic(name))
}

/// Topics through the eyes of a listener and a version.
#[derive(Clone, Copy)]
struct Seen<'a> {
    reach: Reach<'a>,
    version: i16,
}

impl Seen<'_> {
    fn topic(self, topic: &TopicImage) -> MetadataResponseTopic {
        MetadataResponseTopic {
            error_code: 0,
            name: Some(topic.name.to_string()),
            topic_id: topic.id,
            is_internal: topic.is_internal(),
            partitions: topic.partitions().iter().map(|partition| self.partition(partition)).collect(),
            ..Default::default()
        }
    }

    fn partition(self, partition: &Arc<PartitionImage>) -> MetadataResponsePartition {
        // The oldest clients cannot bear brokers that they were not told of.
        let (replicas, isr) = match self.version {
            0 => (self.reach.alive(&partition.replicas), self.reach.alive(&partition.isr)),
            _ => (partition.replicas.clone(), partition.isr.clone()),
        };
        let missing = replicas.len() < partition.replicas.len() || isr.len() < partition.isr.len();
        let (leader, error) = match self.reach.leader(partition) {
            Ok(leader) if missing => (leader, ErrorCode::ReplicaNotAvailable),
            Ok(leader) => (leader, ErrorCode::None),
            Err(Leaderless::NotHere) if self.version >= 6 => (-1, ErrorCode::ListenerNotFound),
            Err(_) => (-1, ErrorCode::LeaderNotAvailable),
        };
        MetadataResponsePartition {
            error_code: error.code(),
            partition_index: partition.index,
            leader_id: leader,
            leader_epoch: partition.leader_epoch,
            replica_nodes: replicas,
            isr_nodes: isr,
            offline_replicas: self.reach.offline(partition),
        }
    }
}

#[cfg(test)]
mod tests {
    use barnabas_protocol::Uuid;

    use super::*;

    fn asking(name: Option<&str>, topic_id: Uuid) -> MetadataRequest {
        let topic = MetadataRequestTopic { name: name.map(str::to_owned), topic_id };
        MetadataRequest { topics: Some(vec![topic]), ..Default::default() }
    }

    #[test]
    fn asking_by_id_before_version_12_is_refused() {
        let id = Uuid([7; 16]);
        let refused = refuse(&asking(None, id), 10).unwrap();
        assert_eq!((refused.topics[0].error_code, refused.topics[0].topic_id), (42, id));
        assert_eq!((refused.controller_id, refused.cluster_id), (-1, None));
        assert_eq!(refuse(&asking(None, id), 12), None);
    }

    #[test]
    fn a_topic_without_name_and_id_is_refused() {
        assert_eq!(refuse(&asking(None, Uuid::ZERO), 11).unwrap().topics[0].error_code, 42);
        assert_eq!(refuse(&asking(None, Uuid::ZERO), 12).unwrap().topics[0].error_code, -1);
        assert_eq!(refuse(&asking(Some("t"), Uuid::ZERO), 12), None);
    }
}
