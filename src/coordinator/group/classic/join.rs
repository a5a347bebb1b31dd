//! JoinGroup: new members, members that come back, static members that replace themselves.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use tracing::info;

use crate::coordinator::group::event::Join;
use crate::coordinator::group::record::Record;
use crate::coordinator::group::response::{Joined, Response, Synced};
use crate::coordinator::group::settings::NEW_MEMBER_JOIN_MS;
use crate::coordinator::group::{GroupError, GroupId, MemberId, Soft, Step, TimerKey, consumer};
use crate::coordinator::machine::ReplyId;

use super::expire::touch;
use super::rebalance::{complete_if_all_joined, joined, prepare, prepare_or_complete};
use super::state::{ClassicGroup, Member, State};

/// Somebody wants to be a member, or to stay one.
pub(in crate::coordinator::group) fn join(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    reply: ReplyId,
    request: &Join,
) {
    if let Err(error) = check_request(cx, request) {
        return refuse(cx, reply, error, &request.member);
    }
    if let Some(group) = cx.hard.consumer(&request.group).filter(|group| !group.members().is_empty()) {
        return consumer::classic::join(cx, soft, reply, request, group);
    }
    let known = soft.groups.contains_key(request.group.as_str());
    if !known && !request.member.is_empty() {
        return refuse(cx, reply, GroupError::UnknownMember, &request.member);
    }
    let id: GroupId = request.group.as_str().into();
    if let Some(empty) = cx.hard.consumer(&id) {
        // A consumer group without members gives way; its offsets stay.
        cx.out.records.extend(consumer::leave::tombstones(&id, empty));
        soft.consumers.remove(&id);
    }
    let wall_ms = cx.now.wall_ms;
    let group = soft.groups.entry(id.clone()).or_insert_with(|| ClassicGroup::new(id.clone(), wall_ms));
    let records = cx.out.records.len();
    if !has_room(cx, group, &request.member) {
        group.remove(&request.member);
        refuse(cx, reply, GroupError::GroupFull, "");
    } else if !group.supports(&request.protocol_type, &request.protocols) {
        refuse(cx, reply, GroupError::InconsistentProtocol, &request.member);
    } else if request.member.is_empty() {
        join_new(cx, group, reply, request);
    } else {
        join_known(cx, group, reply, request);
    }
    if !known && cx.out.records.len() == records {
        // The group exists from now on, also for whoever coordinates it next.
        let value = ClassicGroup::new(id.clone(), wall_ms).to_record(|_| Bytes::new());
        cx.out.record(Record::Group { group: id, value: Some(value) });
    }
}

fn refuse(cx: &mut Step<'_>, reply: ReplyId, error: GroupError, member: &str) {
    cx.out.reply(reply, Response::Join(Box::new(Joined::refused(error, member))));
}

fn check_request(cx: &Step<'_>, request: &Join) -> Result<(), GroupError> {
    if request.group.is_empty() {
        return Err(GroupError::InvalidGroupId);
    }
    let bounds = cx.settings.min_session_ms..=cx.settings.max_session_ms;
    if !bounds.contains(&request.session_timeout_ms) {
        return Err(GroupError::InvalidSessionTimeout);
    }
    let names: BTreeSet<&str> = request.protocols.iter().map(|(name, _)| name.as_str()).collect();
    // Kafka never answers a protocol named twice.
    if names.len() < request.protocols.len() || cx.hard.kind(&request.group).is_some() {
        return Err(GroupError::InconsistentProtocol);
    }
    Ok(())
}

/// `group.max.size` admits the member. While members join again, those that wait count, not those of old.
fn has_room(cx: &Step<'_>, group: &ClassicGroup, member: &str) -> bool {
    let max = cx.settings.max_size;
    match group.state() {
        State::Empty => true,
        State::PreparingRebalance => {
            group.member(member).is_some_and(|member| member.joining.is_some()) || group.joining() < max
        }
        State::CompletingRebalance | State::Stable => {
            group.member(member).is_some() || group.members().len() < max
        }
    }
}

fn join_new(cx: &mut Step<'_>, group: &mut ClassicGroup, reply: ReplyId, request: &Join) {
    let named = request.instance.as_deref().unwrap_or(&request.client_id);
    let fresh: MemberId = format!("{named}-{}", uuid_text(request.fresh)).into();
    if let Some(instance) = &request.instance {
        match group.static_member(instance).cloned() {
            Some(old) => replace_static(cx, group, reply, request, &old, &fresh),
            None => add(cx, group, reply, request, &fresh),
        }
    } else if request.member_id_required {
        group.pending.insert(fresh.clone());
        let wait_ms = u64::try_from(request.session_timeout_ms).unwrap_or_default();
        let key = TimerKey::Session { group: group.id.clone(), member: fresh.clone() };
        cx.out.arm(key, cx.now.mono_ms.saturating_add(wait_ms));
        refuse(cx, reply, GroupError::MemberIdRequired, &fresh);
    } else {
        add(cx, group, reply, request, &fresh);
    }
}

/// A random number as Java prints a UUID.
fn uuid_text(bits: u128) -> String {
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

fn join_known(cx: &mut Step<'_>, group: &mut ClassicGroup, reply: ReplyId, request: &Join) {
    if group.pending.contains(request.member.as_str()) {
        if request.instance.is_some() {
            return refuse(cx, reply, GroupError::UnknownMember, &request.member);
        }
        return add(cx, group, reply, request, &request.member.as_str().into());
    }
    if let Err(error) = group.check_member(&request.member, request.instance.as_deref()) {
        return refuse(cx, reply, error, &request.member);
    }
    let Some(member) = group.member(&request.member) else { return };
    let unchanged = member.matches(&request.protocols);
    let id = member.id.clone();
    let stays = match group.state() {
        State::PreparingRebalance => false,
        State::CompletingRebalance => unchanged,
        // The leader may know more than its metadata tells: topics that have grown.
        State::Stable => unchanged && !group.is_leader(&id),
        State::Empty => return refuse(cx, reply, GroupError::UnknownMember, &request.member),
    };
    if stays {
        let answer = joined(group, &id);
        return cx.out.reply(reply, Response::Join(Box::new(answer)));
    }
    update(cx, group, reply, request, &id);
    prepare_or_complete(cx, group, "a member joins again");
}

fn add(cx: &mut Step<'_>, group: &mut ClassicGroup, reply: ReplyId, request: &Join, id: &MemberId) {
    if group.members().is_empty() {
        group.protocol_type = Some(request.protocol_type.as_str().into());
    }
    if group.initial.is_some() {
        group.new_member = true;
    }
    info!(group = %group.id, member = %id, "a member joins");
    group.add(Member {
        id: id.clone(),
        instance: request.instance.as_deref().map(Arc::from),
        client_id: request.client_id.as_str().into(),
        client_host: request.client_host.as_str().into(),
        rebalance_timeout_ms: request.rebalance_timeout_ms,
        session_timeout_ms: request.session_timeout_ms,
        protocols: request
            .protocols
            .iter()
            .map(|(name, data)| (name.as_str().into(), data.clone()))
            .collect(),
        assignment: Bytes::new(),
        joining: Some(reply),
        syncing: None,
        is_new: true,
        session_ends_ms: 0,
        timer_ms: None,
    });
    let group_id = group.id.clone();
    if let Some(member) = group.member_mut(id) {
        touch(cx, &group_id, member, Some(NEW_MEMBER_JOIN_MS));
    }
    prepare_or_complete(cx, group, "a new member");
}

/// Takes over what the member says of itself, and lets its request wait.
fn update(cx: &mut Step<'_>, group: &mut ClassicGroup, reply: ReplyId, request: &Join, id: &MemberId) {
    group.set_protocols(id, &request.protocols);
    if let Some(member) = group.member_mut(id) {
        member.rebalance_timeout_ms = request.rebalance_timeout_ms;
        member.session_timeout_ms = request.session_timeout_ms;
    }
    if let Some(earlier) = group.wait_for_join(id, reply) {
        // The same member has asked twice; only the later connection still listens.
        refuse(cx, earlier, GroupError::RebalanceInProgress, id);
    }
}

/// A static member has restarted and does not know its member id: it takes its old place under a new one.
fn replace_static(
    cx: &mut Step<'_>,
    group: &mut ClassicGroup,
    reply: ReplyId,
    request: &Join,
    old: &MemberId,
    new: &MemberId,
) {
    info!(group = %group.id, member = %new, %old, "a static member comes back");
    let led_by = group.leader.clone();
    swap(cx, group, old, new);
    update(cx, group, reply, request, new);
    match group.state() {
        State::Stable if group.protocol == group.vote() => {
            let value = group.to_record(|member| member.assignment.clone());
            cx.out.record(Record::Group { group: group.id.clone(), value: Some(value) });
            let mut answer = joined(group, new);
            if request.can_skip_assignment {
                answer.skip_assignment = group.is_leader(new);
            } else {
                // Naming the old leader keeps the new one from assigning what it must not.
                answer.leader = led_by.unwrap_or_else(|| "".into());
                answer.members = Vec::new();
            }
            group.take_join(new);
            cx.out.reply(reply, Response::Join(Box::new(answer)));
        }
        State::Stable => prepare(cx, group, "a static member comes back with another protocol"),
        // The leader may already have been told of the old id.
        State::CompletingRebalance => prepare(cx, group, "a static member comes back"),
        State::PreparingRebalance | State::Empty => complete_if_all_joined(cx, group),
    }
}

fn swap(cx: &mut Step<'_>, group: &mut ClassicGroup, old: &MemberId, new: &MemberId) {
    let led = group.is_leader(old);
    let Some(mut member) = group.remove(old) else { return };
    if let Some(waiting) = member.joining.take() {
        refuse(cx, waiting, GroupError::FencedInstance, old);
    }
    if let Some(waiting) = member.syncing.take() {
        cx.out.reply(waiting, Response::Sync(Synced::refused(GroupError::FencedInstance)));
    }
    cx.out.cancel(TimerKey::Session { group: group.id.clone(), member: old.clone() });
    member.id = new.clone();
    member.timer_ms = None;
    let id = group.id.clone();
    group.add(member);
    if led {
        group.leader = Some(new.clone());
    }
    if let Some(member) = group.member_mut(new) {
        touch(cx, &id, member, None);
    }
}
