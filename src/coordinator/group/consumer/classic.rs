//! Members of a consumer group that speak the classic protocol: JoinGroup, SyncGroup and Heartbeat take the place of
//! the consumers' heartbeat. They hear of the group's epochs as generations, lead nothing, and join again at each step
//! towards their targets.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use tracing::debug;

use crate::coordinator::group::event::{Heartbeat, Join, Sync};
use crate::coordinator::group::response::{Joined, Response, Synced};
use crate::coordinator::group::subscription::{assignment_bytes, subscription};
use crate::coordinator::group::{GroupError, GroupId, MemberId, Soft, Step};
use crate::coordinator::machine::ReplyId;
use crate::ids::Uuid;

use super::advance::{Word, advance, check_room, settle};
use super::find::Seat;
use super::live::{self, Task};
use super::state::{About, Classic, ConsumerGroup, Member, MemberState};
use super::{Refused, downgrade};

/// JoinGroup: a member says what it reads and holds, and takes its next step.
pub(in crate::coordinator::group) fn join(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    reply: ReplyId,
    request: &Join,
    group: &ConsumerGroup,
) {
    let joined = try_join(cx, soft, request, group).unwrap_or_else(|refused| {
        debug!(group = request.group, member = request.member, ?refused, "a classic member cannot join");
        cx.out.clear();
        Joined::refused(refused.error, "")
    });
    cx.out.reply(reply, Response::Join(Box::new(joined)));
}

fn try_join(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    request: &Join,
    group: &ConsumerGroup,
) -> Result<Joined, Refused> {
    check_room(cx, group, &request.member)?;
    let classics = group.classic_members().count();
    let all_know = |name: &str| {
        let knows = |classic: &Classic| classic.protocols.iter().any(|(known, _)| **known == *name);
        group.classic_members().filter(|(_, classic)| knows(classic)).count() == classics
    };
    let inconsistent = || Refused::from(GroupError::InconsistentProtocol);
    let (protocol, metadata) = request.protocols.first().ok_or_else(inconsistent)?;
    if request.protocol_type != "consumer" || !request.protocols.iter().any(|(name, _)| all_know(name)) {
        return Err(inconsistent());
    }
    let said = subscription(metadata).ok_or_else(inconsistent)?;
    let id: GroupId = request.group.as_str().into();
    let fresh: MemberId = Uuid(request.fresh.to_be_bytes()).to_string().into();
    if request.member.is_empty() && request.instance.is_none() && request.member_id_required {
        return Ok(Joined::refused(GroupError::MemberIdRequired, fresh));
    }
    let topics: BTreeSet<Arc<str>> = said.topics.iter().map(|topic| Arc::from(topic.as_str())).collect();
    let owned: Vec<(Uuid, Vec<i32>)> = said
        .owned_partitions
        .iter()
        .filter_map(|owned| Some((cx.cluster.topic(&owned.topic)?.id, owned.partitions.clone())))
        .collect();
    let about = |before: &Arc<About>| {
        Arc::new(About {
            instance: request.instance.as_deref().map(Arc::from).or_else(|| before.instance.clone()),
            rack: said.rack_id.as_deref().map(Arc::from).or_else(|| before.rack.clone()),
            client_id: request.client_id.as_str().into(),
            client_host: request.client_host.as_str().into(),
            topics,
            regex: "".into(),
            rebalance_timeout_ms: request.rebalance_timeout_ms,
            assignor: before.assignor.clone(),
            classic: Some(Classic {
                session_timeout_ms: request.session_timeout_ms,
                protocols: request
                    .protocols
                    .iter()
                    .map(|(name, metadata)| (name.as_str().into(), metadata.clone()))
                    .collect(),
            }),
        })
    };
    let word = Word::of(seat(group, request, fresh)?, about, Some(&owned));
    let decided = advance(cx, soft, &id, group, word)?;
    settle(cx, soft, &id, &decided);
    if decided.replaced.is_some() {
        let after = downgrade::foresee(cx, &id, group);
        if downgrade::is_due(cx, &after, &[]) {
            downgrade::replaced(cx, soft, &id, &after);
        }
    }
    Ok(Joined {
        error: None,
        generation: decided.current.epoch,
        protocol_type: Some("consumer".into()),
        protocol: Some(protocol.as_str().into()),
        leader: "".into(),
        skip_assignment: false,
        member: decided.member,
        members: Vec::new(),
    })
}

/// Finds the member. A static one that has lost its id takes its old place, whichever protocol it spoke.
fn seat<'g>(group: &'g ConsumerGroup, request: &Join, fresh: MemberId) -> Result<Seat<'g>, GroupError> {
    let is_new = request.member.is_empty();
    let member: MemberId = if is_new { fresh } else { request.member.as_str().into() };
    let Some(instance) = &request.instance else {
        return Ok(match group.members().get_key_value(&*member) {
            Some((id, state)) => Seat::Known(id, state),
            None => Seat::New(member),
        });
    };
    match group.static_member(instance) {
        Some((old_id, old)) if is_new => Ok(Seat::Returns(member, old_id, old)),
        None if is_new => Ok(Seat::New(member)),
        None => Err(GroupError::UnknownMember),
        Some((owner, _)) if **owner != *member => Err(GroupError::FencedInstance),
        Some((owner, state)) => Ok(Seat::Known(owner, state)),
    }
}

/// SyncGroup: a member asks for its share.
pub(in crate::coordinator::group) fn sync(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    request: &Sync,
    group: &ConsumerGroup,
) -> Result<Synced, GroupError> {
    let (id, member, classic) = find(group, &request.member, request.instance.as_deref())?;
    if request.generation != member.current.epoch {
        return Err(GroupError::IllegalGeneration);
    }
    let (protocol, metadata) = classic.protocols.first().ok_or(GroupError::InconsistentProtocol)?;
    if request.protocol_type.as_deref().is_some_and(|name| name != "consumer")
        || request.protocol.as_deref().is_some_and(|name| name != &**protocol)
    {
        return Err(GroupError::InconsistentProtocol);
    }
    let group_id: GroupId = request.group.as_str().into();
    // One that has joined and must give partitions up first learns here which it keeps.
    let must_join =
        member.current.epoch < group.assignment_epoch && member.current.state != MemberState::Unrevoked;
    if let Some(live) = soft.consumers.get_mut(&group_id) {
        if must_join {
            expect_join(cx, live, &group_id, id, member);
        } else {
            live::end(cx, live, &group_id, id, Task::Sync);
            live::touch(cx, live, &group_id, id, classic.session_timeout_ms);
        }
    }
    if must_join {
        return Err(GroupError::RebalanceInProgress);
    }
    let assigned = member.current.assigned.iter();
    let assigned = assigned.map(|(topic, partitions)| (*topic, partitions.keys().copied().collect()));
    Ok(Synced {
        error: None,
        protocol_type: request.protocol_type.as_deref().map(Arc::from),
        protocol: request.protocol.as_deref().map(Arc::from),
        assignment: share(cx, metadata, assigned),
    })
}

/// Heartbeat: keeps a member's session, and tells it when it can take another step.
pub(in crate::coordinator::group) fn heartbeat(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    request: &Heartbeat,
    group: &ConsumerGroup,
) -> Result<(), GroupError> {
    let (id, member, classic) = find(group, &request.member, request.instance.as_deref())?;
    if request.generation != member.current.epoch {
        return Err(GroupError::IllegalGeneration);
    }
    let must_join = member.current.epoch < group.assignment_epoch
        || match member.current.state {
            MemberState::Unrevoked => true,
            MemberState::Unreleased => !group.waits_for_others(id, member),
            MemberState::Stable | MemberState::Unknown => false,
        };
    let group_id: GroupId = request.group.as_str().into();
    if let Some(live) = soft.consumers.get_mut(&group_id) {
        live::touch(cx, live, &group_id, id, classic.session_timeout_ms);
        if must_join {
            expect_join(cx, live, &group_id, id, member);
        }
    }
    if must_join { Err(GroupError::RebalanceInProgress) } else { Ok(()) }
}

fn expect_join(cx: &mut Step<'_>, live: &mut live::Live, group: &GroupId, id: &MemberId, member: &Member) {
    if !live::expects(live, id, Task::Join) {
        live::expect(cx, live, group, id, Task::Join, member.about.rebalance_timeout_ms);
    }
}

/// A member that speaks the classic protocol.
fn find<'g>(
    group: &'g ConsumerGroup,
    member: &str,
    instance: Option<&str>,
) -> Result<(&'g MemberId, &'g Member, &'g Classic), GroupError> {
    let found = match instance {
        None => group.members().get_key_value(member),
        Some(instance) => group.static_member(instance),
    };
    let (id, state) = found.ok_or(GroupError::UnknownMember)?;
    if **id != *member {
        return Err(GroupError::FencedInstance);
    }
    let classic = state.about.classic.as_ref().ok_or(GroupError::UnknownMember)?;
    Ok((id, state, classic))
}

/// Partitions as a member's own protocol writes them, in the version of its metadata. Topics that are gone are left
/// out.
pub(super) fn share(
    cx: &Step<'_>,
    metadata: &[u8],
    partitions: impl Iterator<Item = (Uuid, Vec<i32>)>,
) -> Bytes {
    let topics =
        partitions.filter_map(|(id, partitions)| Some((cx.cluster.topic_by_id(id)?.name, partitions)));
    assignment_bytes(metadata, topics)
}
