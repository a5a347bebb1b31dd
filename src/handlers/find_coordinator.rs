//! FindCoordinator (10), versions 0-6: which broker coordinates a group or a transactional id.
//!
//! The topic behind it is made when it is first asked for; until it has a leader, the answer is
//! COORDINATOR_NOT_AVAILABLE. Version 1 brings transactions, 4 several keys at once (KIP-699), 6 share groups.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::find_coordinator::Coordinator;
use barnabas_protocol::messages::{FindCoordinatorRequest, FindCoordinatorResponse};
use tracing::warn;

use super::{Answer, Ctx, Operation, Out, Resource, error};
use crate::controller::Image;
use crate::controller::internal_topics::{self, CONSUMER_OFFSETS, TRANSACTION_STATE};
use crate::coordinator::group::java_hash::partition_of;

const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;
const SHARE: i8 = 2;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: FindCoordinatorRequest = ctx.decode(body)?;
    let keys = if ctx.version >= 4 { request.coordinator_keys } else { vec![request.key] };
    let image = ctx.rooms.image();
    let mut missing = None;
    let mut found =
        ctx.gather(keys.into_iter().map(|key| find(ctx, &image, request.key_type, key, &mut missing)))?;
    if let Some(topic) = missing.map(|name| internal_topics::new_topic(name, &ctx.rooms.config)) {
        let made = ctx.rooms.channel.ensure_topic(&topic);
        ctx.rooms.spawner.spawn(async move {
            if let Ok(Err(refusal)) = made.await {
                let (code, message) = (refusal.code, refusal.message.unwrap_or_default());
                let factor = topic.replication_factor;
                warn!(topic = topic.name, factor, %code, "an internal topic cannot be made: {message}");
            }
        });
    }
    if ctx.version >= 4 {
        let response = FindCoordinatorResponse { coordinators: found, ..FindCoordinatorResponse::default() };
        return ctx.respond(out, &response);
    }
    let one = found.pop().unwrap_or_default();
    let error = ErrorCode::from_code(one.error_code).unwrap_or_default();
    let response = FindCoordinatorResponse {
        error_code: one.error_code,
        error_message: Some(error::sentence(error).to_owned()),
        node_id: one.node_id,
        host: one.host,
        port: one.port,
        ..FindCoordinatorResponse::default()
    };
    ctx.respond(out, &response)
}

fn find(
    ctx: &Ctx<'_>,
    image: &Image,
    key_type: i8,
    key: String,
    missing: &mut Option<&'static str>,
) -> Coordinator {
    match locate(ctx, image, key_type, &key, missing) {
        Ok((node_id, host, port)) => {
            let error_message = Some(String::new());
            Coordinator { key, node_id, host, port, error_code: 0, error_message }
        }
        Err(error) => {
            // Of a key it only tells the code, of a type that there is not the sentence, too.
            let known = (GROUP..=SHARE).contains(&key_type);
            let error_message = Some(if known { "" } else { error::sentence(error) }.to_owned());
            Coordinator {
                key,
                node_id: -1,
                host: String::new(),
                port: -1,
                error_code: error.code(),
                error_message,
            }
        }
    }
}

fn locate(
    ctx: &Ctx<'_>,
    image: &Image,
    key_type: i8,
    key: &str,
    missing: &mut Option<&'static str>,
) -> Result<(i32, String, i32), ErrorCode> {
    let (topic_name, wanted) = match key_type {
        GROUP if ctx.authorize(Operation::Describe, Resource::Group(key)) => {
            (CONSUMER_OFFSETS, ctx.rooms.config.offsets.num_partitions)
        }
        GROUP => return Err(ErrorCode::GroupAuthorizationFailed),
        TRANSACTION if ctx.authorize(Operation::Describe, Resource::TransactionalId(key)) => {
            (TRANSACTION_STATE, ctx.rooms.config.transactions.num_partitions)
        }
        TRANSACTION => return Err(ErrorCode::TransactionalIdAuthorizationFailed),
        // Share groups keep their state elsewhere, and nothing here keeps it yet.
        SHARE if ctx.version >= 6 && is_share_key(key) => return Err(ErrorCode::CoordinatorNotAvailable),
        _ => return Err(ErrorCode::InvalidRequest),
    };
    let Some(topic) = image.topic(topic_name) else {
        *missing = Some(topic_name);
        return Err(ErrorCode::CoordinatorNotAvailable);
    };
    let count = if topic.partition_count() > 0 { topic.partition_count() } else { wanted };
    let partition = topic.partition(partition_of(key, count)).ok_or(ErrorCode::CoordinatorNotAvailable)?;
    let broker = image.broker(partition.leader).filter(|broker| !broker.fenced);
    let endpoint = broker.and_then(|broker| broker.endpoint(&ctx.session.listener));
    let endpoint = endpoint.ok_or(ErrorCode::CoordinatorNotAvailable)?;
    Ok((partition.leader, endpoint.host.to_string(), i32::from(endpoint.port)))
}

/// `group:topic id:partition`.
fn is_share_key(key: &str) -> bool {
    let mut parts = key.rsplitn(3, ':');
    let partition = parts.next().is_some_and(|partition| partition.parse::<i32>().is_ok());
    let topic = parts.next().is_some_and(|id| crate::ids::Uuid::parse(id).is_some());
    partition && topic && parts.next().is_some_and(|group| !group.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_keys_name_group_topic_and_partition() {
        assert!(is_share_key("g:AAAAAAAAAAAAAAAAAAAAAQ:0"));
        assert!(is_share_key("g:AAAAAAAAAAAAAAAAAAAAAQ:-1"), "Kafka takes any number");
        assert!(is_share_key("a:b:AAAAAAAAAAAAAAAAAAAAAQ:12"));
        for bad in [
            "",
            "g",
            "g:AAAAAAAAAAAAAAAAAAAAAQ",
            ":AAAAAAAAAAAAAAAAAAAAAQ:0",
            "g:x:0",
            "g:AAAAAAAAAAAAAAAAAAAAAQ:x",
        ] {
            assert!(!is_share_key(bad), "{bad}");
        }
    }
}
