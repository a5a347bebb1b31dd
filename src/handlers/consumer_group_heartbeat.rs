//! ConsumerGroupHeartbeat (68), versions 0-1: a member of a consumer group joins, stays or leaves (KIP-848). Version 1
//! brings regular expressions, and member ids that members choose themselves (KIP-1082).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::consumer_group_heartbeat::{Assignment, TopicPartitions};
use barnabas_protocol::messages::{ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse};

use super::group::{code, java_address, may, then};
use super::{Answer, Ctx, Operation, Out, Resource};
use crate::coordinator::group::event::Beat;
use crate::coordinator::group::response::Beaten;
use crate::coordinator::{GroupError, Request, Response};

/// The member leaves for good.
const LEAVES: i32 = -1;
/// A static member leaves and keeps its place.
const GOES_AWAY: i32 = -2;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: ConsumerGroupHeartbeatRequest = ctx.decode(body)?;
    if !ctx.rooms.config.consumer_groups.enabled {
        return refuse(ctx, out, ErrorCode::UnsupportedVersion, None);
    }
    if !may(ctx, Operation::Read, &request.group_id) {
        return refuse(ctx, out, ErrorCode::GroupAuthorizationFailed, None);
    }
    let topics = request.subscribed_topic_names.iter().flatten();
    if !topics.clone().all(|topic| ctx.authorize(Operation::Describe, Resource::Topic(topic))) {
        return refuse(ctx, out, ErrorCode::TopicAuthorizationFailed, None);
    }
    if let Some((error, message)) = fault(ctx, &request) {
        return refuse(ctx, out, error, Some(message));
    }
    let owned = request.topic_partitions.map(|topics| {
        let topics = topics.into_iter().map(|topic| (topic.topic_id, topic.partitions));
        topics.collect()
    });
    let beat = Beat {
        group: request.group_id,
        member: request.member_id,
        epoch: request.member_epoch,
        instance: request.instance_id,
        rack: request.rack_id,
        rebalance_timeout_ms: request.rebalance_timeout_ms,
        topics: request.subscribed_topic_names,
        regex: request.subscribed_topic_regex,
        assignor: request.server_assignor,
        owned,
        client_id: ctx.client_id.clone().into_owned(),
        client_host: java_address(ctx.session.peer),
    };
    let asked = ctx.rooms.groups.ask(Request::Beat(Box::new(beat)));
    then(asked, ctx, out, |said, ctx, out| match said {
        Ok(Response::Beat(Ok(beaten))) => ctx.respond(out, &full(beaten)),
        Ok(Response::Beat(Err(refused))) => refuse(ctx, out, code(refused.error), refused.message),
        Ok(_) => refuse(ctx, out, code(GroupError::NotAvailable), None),
        Err(error) => refuse(ctx, out, code(error), None),
    })
}

fn refuse(ctx: &Ctx<'_>, out: &mut Out, error: ErrorCode, error_message: Option<String>) -> Answer {
    let response = ConsumerGroupHeartbeatResponse {
        error_code: error.code(),
        error_message,
        ..ConsumerGroupHeartbeatResponse::default()
    };
    ctx.respond(out, &response)
}

fn full(beaten: Beaten) -> ConsumerGroupHeartbeatResponse {
    let assignment = beaten.assignment.map(|topics| {
        let topics =
            topics.into_iter().map(|(topic_id, partitions)| TopicPartitions { topic_id, partitions });
        Assignment { topic_partitions: topics.collect() }
    });
    ConsumerGroupHeartbeatResponse {
        member_id: Some(beaten.member.to_string()),
        member_epoch: beaten.epoch,
        heartbeat_interval_ms: beaten.interval_ms,
        assignment,
        ..ConsumerGroupHeartbeatResponse::default()
    }
}

/// What is wrong with a request by itself, in the order in which Kafka looks.
fn fault(ctx: &Ctx<'_>, request: &ConsumerGroupHeartbeatRequest) -> Option<(ErrorCode, String)> {
    let invalid = |what: &str| Some((ErrorCode::InvalidRequest, what.to_owned()));
    let empty = |text: &Option<String>| text.as_ref().is_some_and(|text| text.trim().is_empty());
    let epoch = request.member_epoch;
    if request.member_id.trim().is_empty() && (ctx.version >= 1 || epoch > 0 || epoch == LEAVES) {
        return invalid("MemberId can't be empty.");
    }
    if request.group_id.trim().is_empty() {
        return invalid("GroupId can't be empty.");
    }
    if empty(&request.instance_id) {
        return invalid("InstanceId can't be empty.");
    }
    if empty(&request.rack_id) {
        return invalid("RackId can't be empty.");
    }
    match epoch {
        0 if request.rebalance_timeout_ms == -1 => {
            return invalid("RebalanceTimeoutMs must be provided in first request.");
        }
        0 if request.topic_partitions.as_ref().is_none_or(|topics| !topics.is_empty()) => {
            return invalid("TopicPartitions must be empty when (re-)joining.");
        }
        0 if request.subscribed_topic_names.is_none() && request.subscribed_topic_regex.is_none() => {
            return invalid(
                "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
            );
        }
        GOES_AWAY if request.instance_id.is_none() => return invalid("InstanceId can't be null."),
        epoch if epoch < GOES_AWAY => return invalid("MemberEpoch is invalid."),
        _ => {}
    }
    let assignors = &ctx.rooms.config.consumer_groups.assignors;
    let unknown = request.server_assignor.as_ref().filter(|name| !assignors.contains(name))?;
    let supported = assignors.join(", ");
    let what = format!("ServerAssignor {unknown} is not supported. Supported assignors: {supported}.");
    Some((ErrorCode::UnsupportedAssignor, what))
}
