//! CreatePartitions (37), versions 0-3: more partitions for a topic, never fewer.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::create_partitions::CreatePartitionsTopicResult;
use barnabas_protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse};

use super::{Answer, Ctx, Operation, Out, Resource, when};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let mut request: CreatePartitionsRequest = ctx.decode(body)?;
    let mut denied = Vec::new();
    request.topics.retain(|topic| {
        let allowed = ctx.authorize(Operation::Alter, Resource::Topic(&topic.name));
        if !allowed {
            denied.push(CreatePartitionsTopicResult {
                name: topic.name.clone(),
                error_code: ErrorCode::TopicAuthorizationFailed.code(),
                error_message: None,
            });
        }
        allowed
    });
    if request.topics.is_empty() {
        return ctx.respond(out, &CreatePartitionsResponse { results: denied, ..Default::default() });
    }
    when(ctx.rooms.controller.create_partitions(&request), move |mut response, ctx, out| {
        response.results.append(&mut denied);
        ctx.respond(out, &response)
    })
}
