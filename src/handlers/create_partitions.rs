//! CreatePartitions (37), versions 0-3: more partitions for a topic, never fewer.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::create_partitions::CreatePartitionsTopicResult;
use barnabas_protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse};

use super::{Answer, Ctx, Operation, Out, Resource, when};
use crate::controller::state::topics::duplicates;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let mut request: CreatePartitionsRequest = ctx.decode(body)?;
    let refused = |name: &str, code: ErrorCode| CreatePartitionsTopicResult {
        name: name.to_owned(),
        error_code: code.code(),
        error_message: None,
    };
    let twice = duplicates(request.topics.iter().map(|topic| topic.name.as_str()));
    if request.timeout_ms <= 0 && !request.topics.iter().all(|topic| twice.contains(topic.name.as_str())) {
        // Kafka's controller gives up before it begins, if there is anything that it would begin with.
        let results = request.topics.iter().map(|topic| refused(&topic.name, ErrorCode::RequestTimedOut));
        return ctx
            .respond(out, &CreatePartitionsResponse { results: results.collect(), ..Default::default() });
    }
    let mut denied = Vec::new();
    request.topics.retain(|topic| {
        let allowed = ctx.authorize(Operation::Alter, Resource::Topic(&topic.name));
        if !allowed {
            denied.push(refused(&topic.name, ErrorCode::TopicAuthorizationFailed));
        }
        allowed
    });
    if request.topics.is_empty() {
        return ctx.respond(out, &CreatePartitionsResponse { results: denied, ..Default::default() });
    }
    when(ctx.rooms.controller()?.create_partitions(&request), move |mut response, ctx, out| {
        response.results.append(&mut denied);
        ctx.respond(out, &response)
    })
}
