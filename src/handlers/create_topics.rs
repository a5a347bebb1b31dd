//! CreateTopics (19), versions 2-7. Version 5 returns each topic's settings, version 7 its id.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::create_topics::CreatableTopicResult;
use barnabas_protocol::messages::{CreateTopicsRequest, CreateTopicsResponse};

use super::{Answer, Ctx, Operation, Out, Resource, when};
use crate::controller::state::topics::duplicates;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let mut request: CreateTopicsRequest = ctx.decode(body)?;
    let twice = duplicates(request.topics.iter().map(|topic| topic.name.as_str()));
    if request.timeout_ms <= 0 && !request.topics.iter().all(|topic| twice.contains(topic.name.as_str())) {
        // Kafka's controller gives up before it begins, if there is anything that it would begin with.
        let topics =
            request.topics.iter().map(|topic| refused(&topic.name, ErrorCode::RequestTimedOut, None));
        return ctx.respond(out, &CreateTopicsResponse { topics: topics.collect(), ..Default::default() });
    }
    let mut denied = Vec::new();
    if !ctx.authorize(Operation::Create, Resource::Cluster) {
        request.topics.retain(|topic| {
            let allowed = ctx.authorize(Operation::Create, Resource::Topic(&topic.name));
            if !allowed {
                let code = ErrorCode::TopicAuthorizationFailed;
                denied.push(refused(&topic.name, code, Some("Authorization failed.".to_owned())));
            }
            allowed
        });
    }
    if request.topics.is_empty() {
        return ctx.respond(out, &CreateTopicsResponse { topics: denied, ..Default::default() });
    }
    when(ctx.rooms.controller()?.create_topics(&request), move |mut response, ctx, out| {
        response.topics.append(&mut denied);
        ctx.respond(out, &response)
    })
}

fn refused(name: &str, code: ErrorCode, message: Option<String>) -> CreatableTopicResult {
    CreatableTopicResult {
        name: name.to_owned(),
        error_code: code.code(),
        error_message: message,
        ..Default::default()
    }
}
