//! ConsumerGroupDescribe (69), versions 0-1: consumer groups with their members and targets (KIP-848). Version 1 tells
//! the protocol of each member (KIP-1099).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::consumer_group_describe::{
    Assignment, DescribedGroup, Member, TopicPartitions,
};
use barnabas_protocol::messages::{ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse};

use super::describe_groups::operations;
use super::group::{Said, code, distinct, may, then_all};
use super::{Answer, Ctx, Operation, Out, Resource};
use crate::controller::Image;
use crate::coordinator::group::consumer::describe::Described;
use crate::coordinator::group::consumer::state;
use crate::coordinator::{Answer as Asked, Request, Response, Unavailable};
use crate::ids::Uuid;

/// Kafka's numbers for the protocol a member speaks.
const CLASSIC_MEMBER: i8 = 0;
const CONSUMER_MEMBER: i8 = 1;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: ConsumerGroupDescribeRequest = ctx.decode(body)?;
    let ask = |group: &String| match may(ctx, Operation::Describe, group) && !group.is_empty() {
        true => ctx.rooms.groups.ask(Request::DescribeConsumers(group.clone())),
        // Nobody is asked; `describe` says why.
        false => Asked::Ready(Err(Unavailable::NotHere)),
    };
    let (groups, mentions) = distinct(request.group_ids, |group| Some(group.clone()));
    let asked = groups.iter().map(ask).collect();
    then_all(asked, ctx, out, move |said, ctx, out| {
        let with_operations = request.include_authorized_operations;
        let described = groups.into_iter().zip(said).map(|(group, said)| {
            let mut described = describe(ctx, group, said);
            if with_operations && described.error_code == 0 {
                described.authorized_operations = operations(ctx, &described.group_id);
            }
            described
        });
        let described: Vec<DescribedGroup> = described.collect();
        let groups = ctx.gather(mentions.into_iter().filter_map(|at| described.get(at).cloned()))?;
        ctx.respond(out, &ConsumerGroupDescribeResponse { groups, ..Default::default() })
    })
}

fn describe(ctx: &Ctx<'_>, group_id: String, said: Said) -> DescribedGroup {
    let error = |error: ErrorCode, error_message, group_id| DescribedGroup {
        error_code: error.code(),
        error_message,
        group_id,
        ..DescribedGroup::default()
    };
    if !may(ctx, Operation::Describe, &group_id) {
        return error(ErrorCode::GroupAuthorizationFailed, None, group_id);
    }
    if group_id.is_empty() {
        return error(ErrorCode::InvalidGroupId, None, group_id);
    }
    match said {
        Ok(Response::DescribeConsumers(Ok(described))) => full(ctx, group_id, described),
        Ok(Response::DescribeConsumers(Err(refused))) => {
            error(code(refused.error), refused.message, group_id)
        }
        Ok(_) => error(ErrorCode::CoordinatorNotAvailable, None, group_id),
        Err(other) => error(code(other), None, group_id),
    }
}

fn full(ctx: &Ctx<'_>, group_id: String, described: Described) -> DescribedGroup {
    let image = ctx.rooms.image();
    let members: Vec<Member> = described
        .members
        .iter()
        .map(|(id, member, target)| {
            let about = &member.about;
            let text = |text: &std::sync::Arc<str>| text.to_string();
            let assigned = member.current.assigned.iter();
            let revoking = &member.current.revoking;
            Member {
                member_id: text(id),
                instance_id: about.instance.as_ref().map(text),
                rack_id: about.rack.as_ref().map(text),
                member_epoch: member.current.epoch,
                client_id: text(&about.client_id),
                client_host: text(&about.client_host),
                subscribed_topic_names: about.topics.iter().map(text).collect(),
                subscribed_topic_regex: Some(text(&about.regex)),
                assignment: assignment(&image, held(assigned, revoking)),
                target_assignment: assignment(
                    &image,
                    target.iter().map(|(topic, partitions)| (*topic, partitions.iter().copied().collect())),
                ),
                member_type: if about.classic.is_some() { CLASSIC_MEMBER } else { CONSUMER_MEMBER },
            }
        })
        .collect();
    let seen = |topics: &Assignment| {
        let mut topics = topics.topic_partitions.iter();
        topics.all(|topic| ctx.authorize(Operation::Describe, Resource::Topic(&topic.topic_name)))
    };
    if !members.iter().all(|member| seen(&member.assignment) && seen(&member.target_assignment)) {
        let message = "The group has described topic(s) that the client is not authorized to describe.";
        return DescribedGroup {
            error_code: ErrorCode::TopicAuthorizationFailed.code(),
            error_message: Some(message.to_owned()),
            group_id,
            ..DescribedGroup::default()
        };
    }
    DescribedGroup {
        group_id,
        group_state: described.state.to_owned(),
        group_epoch: described.epoch,
        assignment_epoch: described.assignment_epoch,
        assignor_name: described.assignor,
        members,
        ..DescribedGroup::default()
    }
}

/// What a member has, and what it has not given up yet.
fn held<'a>(
    assigned: impl Iterator<Item = (&'a Uuid, &'a std::collections::BTreeMap<i32, i32>)>,
    revoking: &'a state::Owned,
) -> impl Iterator<Item = (Uuid, Vec<i32>)> {
    let mut all = revoking.clone();
    for (topic, partitions) in assigned {
        all.entry(*topic).or_default().extend(partitions);
    }
    all.into_iter().map(|(topic, partitions)| (topic, partitions.into_keys().collect()))
}

/// Topics that are gone are left out.
fn assignment(image: &Image, topics: impl Iterator<Item = (Uuid, Vec<i32>)>) -> Assignment {
    let topics = topics.filter_map(|(topic_id, partitions)| {
        let topic_name = image.topic_by_id(topic_id)?.name.to_string();
        Some(TopicPartitions { topic_id, topic_name, partitions })
    });
    Assignment { topic_partitions: topics.collect() }
}
