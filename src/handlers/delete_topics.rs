//! DeleteTopics (20), versions 1-6. Version 6 takes ids besides names.

use std::collections::BTreeSet;

use barnabas_protocol::messages::delete_topics::{DeletableTopicResult, DeleteTopicState};
use barnabas_protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse};
use barnabas_protocol::{ErrorCode, Uuid};

use super::{Answer, Ctx, Operation, Out, Resource, when};
use crate::controller::{Deleted, Doomed, Image, Refusal};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DeleteTopicsRequest = ctx.decode(body)?;
    let timed_out = request.timeout_ms <= 0;
    let asked = asked_for(request);
    if !ctx.rooms.config.topics.delete_enable {
        // The code is younger than the first versions.
        let code = if ctx.version < 3 { ErrorCode::InvalidRequest } else { ErrorCode::TopicDeletionDisabled };
        return ctx.respond(out, &all_refused(&asked, &Refusal::new(code, "Topic deletion is disabled.")));
    }
    let (doomed, mut results) = sort_out(&asked);
    if timed_out && !doomed.is_empty() {
        // Kafka's controller gives up before it begins.
        return ctx.respond(out, &all_refused(&asked, &Refusal::bare(ErrorCode::RequestTimedOut)));
    }
    let image = ctx.rooms.image();
    let (doomed, denied): (Vec<_>, Vec<_>) = doomed.into_iter().partition(|topic| {
        let name = name_of(&image, topic);
        name.is_none_or(|name| ctx.authorize(Operation::Delete, Resource::Topic(&name)))
    });
    let code = ErrorCode::TopicAuthorizationFailed;
    results
        .extend(denied.into_iter().map(|topic| refused(topic, &Refusal::new(code, "Authorization failed."))));
    if doomed.is_empty() {
        return ctx.respond(out, &DeleteTopicsResponse { responses: results, ..Default::default() });
    }
    when(ctx.rooms.controller()?.delete_topics(&doomed), move |deleted, ctx, out| {
        results.extend(deleted.into_iter().map(result));
        ctx.respond(out, &DeleteTopicsResponse { responses: results, ..Default::default() })
    })
}

/// What was asked for, whatever the version.
fn asked_for(request: DeleteTopicsRequest) -> Vec<DeleteTopicState> {
    let by_name = |name| DeleteTopicState { name: Some(name), topic_id: Uuid::ZERO };
    request.topics.into_iter().chain(request.topic_names.into_iter().map(by_name)).collect()
}

fn all_refused(asked: &[DeleteTopicState], refusal: &Refusal) -> DeleteTopicsResponse {
    let responses = asked.iter().map(|topic| row(topic.name.clone(), topic.topic_id, Some(refusal)));
    DeleteTopicsResponse { responses: responses.collect(), ..Default::default() }
}

/// Takes out what is named wrongly or twice; each of those has its result at once.
fn sort_out(asked: &[DeleteTopicState]) -> (Vec<Doomed>, Vec<DeletableTopicResult>) {
    let invalid = |message: &str| Refusal::new(ErrorCode::InvalidRequest, message);
    let (mut names, mut ids) = (BTreeSet::new(), BTreeSet::new());
    let (mut names_twice, mut ids_twice) = (BTreeSet::new(), BTreeSet::new());
    let mut results = Vec::new();
    for topic in asked {
        match (&topic.name, topic.topic_id) {
            (None, Uuid::ZERO) => {
                let refusal = invalid("Neither topic name nor id were specified.");
                results.push(row(None, Uuid::ZERO, Some(&refusal)));
            }
            (Some(name), Uuid::ZERO) => {
                if !names.insert(name) && names_twice.insert(name) {
                    results.push(row(
                        Some(name.clone()),
                        Uuid::ZERO,
                        Some(&invalid("Duplicate topic name.")),
                    ));
                }
            }
            (None, id) => {
                if !ids.insert(id) && ids_twice.insert(id) {
                    results.push(row(None, id, Some(&invalid("Duplicate topic id."))));
                }
            }
            (Some(name), id) => {
                let refusal = invalid("You may not specify both topic name and topic id.");
                results.push(row(Some(name.clone()), id, Some(&refusal)));
            }
        }
    }
    let once = names.difference(&names_twice).map(|name| Doomed::Name((*name).clone()));
    let doomed = once.chain(ids.difference(&ids_twice).copied().map(Doomed::Id)).collect();
    (doomed, results)
}

fn name_of(image: &Image, topic: &Doomed) -> Option<String> {
    match topic {
        Doomed::Name(name) => Some(name.clone()),
        Doomed::Id(id) => image.topic_by_id(*id).map(|topic| topic.name.to_string()),
    }
}

fn refused(topic: Doomed, refusal: &Refusal) -> DeletableTopicResult {
    match topic {
        Doomed::Name(name) => row(Some(name), Uuid::ZERO, Some(refusal)),
        Doomed::Id(id) => row(None, id, Some(refusal)),
    }
}

fn result(deleted: Deleted) -> DeletableTopicResult {
    // A name that is refused does not give away its id, unless the id was asked for as well.
    let hide =
        deleted.refusal.as_ref().is_some_and(|refusal| refusal.code == ErrorCode::UnknownTopicOrPartition);
    let id = if hide { Uuid::ZERO } else { deleted.id };
    row(deleted.name, id, deleted.refusal.as_ref())
}

fn row(name: Option<String>, topic_id: Uuid, refusal: Option<&Refusal>) -> DeletableTopicResult {
    DeletableTopicResult {
        name,
        topic_id,
        error_code: refusal.map_or(ErrorCode::None, |refusal| refusal.code).code(),
        error_message: refusal.and_then(|refusal| refusal.message.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> DeleteTopicState {
        DeleteTopicState { name: Some(name.to_owned()), topic_id: Uuid::ZERO }
    }

    #[test]
    fn what_is_named_twice_is_not_deleted() {
        let (doomed, results) = sort_out(&[named("a"), named("b"), named("a"), named("a")]);
        assert_eq!(doomed, [Doomed::Name("b".to_owned())]);
        assert_eq!(results.len(), 1);
        assert_eq!(results[0].error_message.as_deref(), Some("Duplicate topic name."));
    }
}
