//! OffsetFetch (9), versions 1-10: reads what groups have committed.
//!
//! From version 2 no topics mean all, and the group's error stands beside the topics; 5 brings the leader epoch, 7
//! `require_stable` (KIP-447), 8 several groups at once, 9 members of KIP-848 groups, 10 topic ids instead of names.

use barnabas_protocol::messages::offset_fetch::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopics, OffsetFetchResponseGroup,
    OffsetFetchResponsePartition, OffsetFetchResponsePartitions, OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
};
use barnabas_protocol::messages::{OffsetFetchRequest, OffsetFetchResponse};
use barnabas_protocol::{ErrorCode, Uuid};

use super::group::{Said, code, distinct, may, then_all};
use super::{Answer, Ctx, Operation, Out, Resource};
use crate::controller::Image;
use crate::coordinator::group::event::Fetch;
use crate::coordinator::group::response::{FetchedPartition, FetchedTopic};
use crate::coordinator::{Answer as Asked, Request, Response, Unavailable};
use crate::ids::TopicName;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: OffsetFetchRequest = ctx.decode(body)?;
    let require_stable = request.require_stable;
    let groups = if ctx.version >= 8 { request.groups } else { vec![single(request)] };
    // Everything that a group has committed is looked for once.
    let everything = |group: &OffsetFetchRequestGroup| {
        let key = (group.group_id.clone(), group.member_id.clone(), group.member_epoch);
        group.topics.is_none().then_some(key)
    };
    let (groups, mentions) = distinct(groups, everything);
    let image = ctx.rooms.image();
    let plans: Vec<Plan> = groups.into_iter().map(|group| Plan::new(ctx, &image, group)).collect();
    let asked = plans.iter().map(|plan| match plan.denied {
        // Nobody is asked; the plan says why.
        true => Asked::Ready(Err(Unavailable::NotHere)),
        false => {
            let topics = if plan.all { None } else { Some(plan.asked.clone()) };
            let (member, epoch) = (plan.member.clone(), plan.epoch);
            let fetch = Fetch { group: plan.group.clone(), member, epoch, require_stable, topics };
            ctx.rooms.groups.ask(Request::Fetch(fetch))
        }
    });
    let asked: Vec<_> = asked.collect();
    then_all(asked, ctx, out, move |said, ctx, out| {
        let image = ctx.rooms.image();
        let groups: Vec<_> =
            plans.into_iter().zip(said).map(|(plan, said)| plan.answer(ctx, &image, said)).collect();
        let groups = ctx.gather(mentions.into_iter().filter_map(|at| groups.get(at).cloned()))?;
        if ctx.version >= 8 {
            return ctx.respond(out, &OffsetFetchResponse { groups, ..OffsetFetchResponse::default() });
        }
        let group = groups.into_iter().next().unwrap_or_default();
        let response = OffsetFetchResponse {
            error_code: group.error_code,
            topics: group.topics.into_iter().map(old_topic).collect(),
            ..OffsetFetchResponse::default()
        };
        ctx.respond(out, &response)
    })
}

/// The one group of an old request, in the form of the new ones.
fn single(request: OffsetFetchRequest) -> OffsetFetchRequestGroup {
    let topics = request.topics.map(|topics| {
        let topics = topics.into_iter().map(|topic| OffsetFetchRequestTopics {
            name: topic.name,
            topic_id: Uuid::ZERO,
            partition_indexes: topic.partition_indexes,
        });
        topics.collect()
    });
    OffsetFetchRequestGroup { group_id: request.group_id, member_id: None, member_epoch: -1, topics }
}

/// What is asked of one group, and what is refused at once.
struct Plan {
    group: String,
    member: Option<String>,
    epoch: i32,
    denied: bool,
    all: bool,
    asked: Vec<(TopicName, Vec<i32>)>,
    ids: Vec<Uuid>,
    refused: Vec<OffsetFetchResponseTopics>,
}

impl Plan {
    fn new(ctx: &Ctx<'_>, image: &Image, group: OffsetFetchRequestGroup) -> Plan {
        let mut plan = Plan {
            denied: !may(ctx, Operation::Describe, &group.group_id),
            all: group.topics.is_none(),
            group: group.group_id,
            member: group.member_id,
            epoch: group.member_epoch,
            asked: Vec::new(),
            ids: Vec::new(),
            refused: Vec::new(),
        };
        for topic in group.topics.unwrap_or_default() {
            let name = if ctx.version >= 10 {
                image.topic_by_id(topic.topic_id).map(|found| found.name.clone())
            } else {
                Some(topic.name.as_str().into())
            };
            match name {
                None => plan.refused.push(refused(topic, ErrorCode::UnknownTopicId)),
                Some(name) if !ctx.authorize(Operation::Describe, Resource::Topic(&name)) => {
                    plan.refused.push(refused(topic, ErrorCode::TopicAuthorizationFailed));
                }
                Some(name) => {
                    plan.ids.push(topic.topic_id);
                    plan.asked.push((name, topic.partition_indexes));
                }
            }
        }
        plan
    }

    fn answer(self, ctx: &Ctx<'_>, image: &Image, said: Said) -> OffsetFetchResponseGroup {
        let fetched = match said {
            _ if self.denied => Err(ErrorCode::GroupAuthorizationFailed),
            Ok(Response::Fetch(Ok(topics))) => Ok(topics),
            Ok(Response::Fetch(Err(error))) | Err(error) => Err(code(error)),
            Ok(_) => Err(ErrorCode::CoordinatorNotAvailable),
        };
        let (topics, error) = match fetched {
            Ok(topics) if self.all => (everything(ctx, image, topics), ErrorCode::None),
            Ok(topics) => {
                let named = topics.into_iter().zip(self.ids).map(|(topic, id)| found(topic, id));
                (named.chain(self.refused).collect(), ErrorCode::None)
            }
            // Version 1 has no place for the group's error but the partitions.
            Err(error) if ctx.version < 2 => {
                let topics = self.asked.into_iter().map(|(name, partition_indexes)| {
                    let name = name.to_string();
                    refused(OffsetFetchRequestTopics { name, topic_id: Uuid::ZERO, partition_indexes }, error)
                });
                (topics.collect(), error)
            }
            Err(error) => (Vec::new(), error),
        };
        OffsetFetchResponseGroup { group_id: self.group, topics, error_code: error.code() }
    }
}

/// All topics of a group; by id only those that still exist.
fn everything(ctx: &Ctx<'_>, image: &Image, topics: Vec<FetchedTopic>) -> Vec<OffsetFetchResponseTopics> {
    let may_see = |topic: &FetchedTopic| ctx.authorize(Operation::Describe, Resource::Topic(&topic.topic));
    let visible = topics.into_iter().filter(may_see);
    let with_ids = visible.filter_map(|topic| {
        let id = image.topic(&topic.topic).map(|found| found.id);
        (ctx.version < 10 || id.is_some()).then(|| found(topic, id.unwrap_or_default()))
    });
    with_ids.collect()
}

fn found(topic: FetchedTopic, topic_id: Uuid) -> OffsetFetchResponseTopics {
    let partition = |p: FetchedPartition| OffsetFetchResponsePartitions {
        partition_index: p.partition,
        committed_offset: p.offset,
        committed_leader_epoch: p.leader_epoch,
        metadata: Some(p.metadata.to_string()),
        error_code: p.error.map_or(ErrorCode::None, code).code(),
    };
    OffsetFetchResponseTopics {
        name: topic.topic.to_string(),
        topic_id,
        partitions: topic.partitions.into_iter().map(partition).collect(),
    }
}

fn refused(topic: OffsetFetchRequestTopics, error: ErrorCode) -> OffsetFetchResponseTopics {
    let partition = |partition_index| OffsetFetchResponsePartitions {
        partition_index,
        committed_offset: -1,
        committed_leader_epoch: -1,
        metadata: Some(String::new()),
        error_code: error.code(),
    };
    OffsetFetchResponseTopics {
        name: topic.name,
        topic_id: topic.topic_id,
        partitions: topic.partition_indexes.into_iter().map(partition).collect(),
    }
}

fn old_topic(topic: OffsetFetchResponseTopics) -> OffsetFetchResponseTopic {
    let partition = |p: OffsetFetchResponsePartitions| OffsetFetchResponsePartition {
        partition_index: p.partition_index,
        committed_offset: p.committed_offset,
        committed_leader_epoch: p.committed_leader_epoch,
        metadata: p.metadata,
        error_code: p.error_code,
    };
    OffsetFetchResponseTopic {
        name: topic.name,
        partitions: topic.partitions.into_iter().map(partition).collect(),
    }
}
