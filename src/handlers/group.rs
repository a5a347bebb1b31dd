//! What the handlers of groups share: error codes, and answers that come now or later.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;

use barnabas_protocol::ErrorCode;

use super::{Answer, Ctx, Operation, Out, Resource, after_all, when};
use crate::coordinator::{Answer as Asked, GroupError, Reply, Response};

/// What a shard said, or why it did not.
pub type Said = Result<Response, GroupError>;

/// Kafka's code for a refusal.
pub fn code(error: GroupError) -> ErrorCode {
    match error {
        GroupError::NotAvailable => ErrorCode::CoordinatorNotAvailable,
        GroupError::NotCoordinator => ErrorCode::NotCoordinator,
        GroupError::Loading => ErrorCode::CoordinatorLoadInProgress,
        GroupError::InvalidGroupId => ErrorCode::InvalidGroupId,
        GroupError::UnknownMember => ErrorCode::UnknownMemberId,
        GroupError::IllegalGeneration => ErrorCode::IllegalGeneration,
        GroupError::InconsistentProtocol => ErrorCode::InconsistentGroupProtocol,
        GroupError::InvalidSessionTimeout => ErrorCode::InvalidSessionTimeout,
        GroupError::RebalanceInProgress => ErrorCode::RebalanceInProgress,
        GroupError::MemberIdRequired => ErrorCode::MemberIdRequired,
        GroupError::FencedInstance => ErrorCode::FencedInstanceId,
        GroupError::FencedMemberEpoch => ErrorCode::FencedMemberEpoch,
        GroupError::StaleMemberEpoch => ErrorCode::StaleMemberEpoch,
        GroupError::UnreleasedInstance => ErrorCode::UnreleasedInstanceId,
        GroupError::InvalidRegex => ErrorCode::InvalidRegularExpression,
        GroupError::UnsupportedVersion => ErrorCode::UnsupportedVersion,
        GroupError::MemberIdMissing => ErrorCode::UnknownServerError,
        GroupError::GroupFull => ErrorCode::GroupMaxSizeReached,
        GroupError::NonEmptyGroup => ErrorCode::NonEmptyGroup,
        GroupError::GroupIdNotFound => ErrorCode::GroupIdNotFound,
        GroupError::SubscribedToTopic => ErrorCode::GroupSubscribedToTopic,
        GroupError::MetadataTooLarge => ErrorCode::OffsetMetadataTooLarge,
        GroupError::UnstableOffset => ErrorCode::UnstableOffsetCommit,
        GroupError::ProducerFenced => ErrorCode::InvalidProducerEpoch,
        GroupError::TransactionEnded => ErrorCode::InvalidTxnState,
        GroupError::RecordsTooLarge => ErrorCode::UnknownServerError,
    }
}

/// The code of an optional refusal.
pub fn code_of(error: Option<GroupError>) -> i16 {
    error.map_or(ErrorCode::None, code).code()
}

/// May the principal do this to the group?
pub fn may(ctx: &Ctx<'_>, operation: Operation, group: &str) -> bool {
    ctx.authorize(operation, Resource::Group(group))
}

/// Goes on with a shard's answer, now or when it comes.
pub fn then<F>(asked: Asked<Response>, ctx: &Ctx<'_>, out: &mut Out, go_on: F) -> Answer
where
    F: FnOnce(Said, &Ctx<'_>, &mut Out) -> Answer + Send + 'static,
{
    match asked {
        Asked::Ready(reply) => go_on(reply.map_err(GroupError::from), ctx, out),
        Asked::Pending(receiver) => when(receiver, move |reply: Reply<Response>, ctx, out| {
            go_on(reply.map_err(GroupError::from), ctx, out)
        }),
    }
}

/// Goes on when all shards have answered; their answers are in the order of the questions.
pub fn then_all<F>(asked: Vec<Asked<Response>>, ctx: &Ctx<'_>, out: &mut Out, go_on: F) -> Answer
where
    F: FnOnce(Vec<Said>, &Ctx<'_>, &mut Out) -> Answer + Send + 'static,
{
    after_all(asked, ctx, out, |replies, ctx, out| {
        go_on(replies.into_iter().map(|reply| reply.map_err(GroupError::from)).collect(), ctx, out)
    })
}

/// Each thing once, in the order of its first mention, and for every mention which of them it is. A request may name
/// a large group as often as it likes: it is looked at once. Things without a key are all different.
pub fn distinct<T, K: Hash + Eq>(things: Vec<T>, key: impl Fn(&T) -> Option<K>) -> (Vec<T>, Vec<usize>) {
    let (mut once, mut mentions, mut seen) = (Vec::new(), Vec::new(), HashMap::new());
    for thing in things {
        let next = once.len();
        let at = key(&thing).map_or(next, |key| *seen.entry(key).or_insert(next));
        mentions.push(at);
        if at == next {
            once.push(thing);
        }
    }
    (once, mentions)
}

/// Each thing once, in the order of its first mention; what is mentioned again is joined to the first.
pub fn once_each<T, K: Hash + Eq>(
    things: impl Iterator<Item = T>,
    key: impl Fn(&T) -> K,
    join: impl Fn(&mut T, T),
) -> Vec<T> {
    let (mut once, mut places): (Vec<T>, HashMap<K, usize>) = (Vec::new(), HashMap::new());
    for thing in things {
        let at = *places.entry(key(&thing)).or_insert(once.len());
        match once.get_mut(at) {
            Some(known) => join(known, thing),
            None => once.push(thing),
        }
    }
    once
}

/// An address as Java prints it: `/127.0.0.1`, and IPv6 without abbreviations.
pub fn java_address(address: IpAddr) -> String {
    match address {
        IpAddr::V4(v4) => format!("/{v4}"),
        IpAddr::V6(v6) => {
            let parts: Vec<String> = v6.segments().iter().map(|part| format!("{part:x}")).collect();
            format!("/{}", parts.join(":"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_again_is_looked_at_once() {
        let named = vec!["a", "b", "a", "-", "-", "b"];
        let (once, mentions) = distinct(named, |name| (*name != "-").then_some(*name));
        assert_eq!((once, mentions), (vec!["a", "b", "-", "-"], vec![0, 1, 0, 2, 3, 1]));
    }

    #[test]
    fn what_is_named_again_is_joined() {
        let named = [("a", 1), ("b", 2), ("a", 3)].map(|(name, number)| (name, vec![number]));
        let joined = once_each(named.into_iter(), |(name, _)| *name, |known, (_, more)| known.1.extend(more));
        assert_eq!(joined, [("a", vec![1, 3]), ("b", vec![2])]);
    }

    #[test]
    fn addresses_are_javas() {
        assert_eq!(java_address("127.0.0.1".parse().unwrap()), "/127.0.0.1");
        assert_eq!(java_address("::1".parse().unwrap()), "/0:0:0:0:0:0:0:1");
    }
}
