//! CreateTopics (19), versions 2-7. Version 5 returns each topic's settings, version 7 its id.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::create_topics::CreatableTopicResult;
use barnabas_protocol::messages::{CreateTopicsRequest, CreateTopicsResponse};

use super::{Answer, Ctx, Operation, Out, Resource, when};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let mut request: CreateTopicsRequest = ctx.decode(body)?;
    let mut denied = Vec::new();
    if !ctx.authorize(Operation::Create, Resource::Cluster) {
        request.topics.retain(|topic| {
            let allowed = ctx.authorize(Operation::Create, Resource::Topic(&topic.name));
            if !allowed {
                denied.push(CreatableTopicResult {
                    name: topic.name.clone(),
                    error_code: ErrorCode::TopicAuthorizationFailed.code(),
                    error_message: Some("Authorization failed.".to_owned()),
                    ..Default::default()
                });
            }
            allowed
        });
    }
    if request.topics.is_empty() {
        return ctx.respond(out, &CreateTopicsResponse { topics: denied, ..Default::default() });
    }
    when(ctx.rooms.controller.create_topics(&request), move |mut response, ctx, out| {
        response.topics.append(&mut denied);
        ctx.respond(out, &response)
    })
}
