//! SyncGroup: the leader brings the assignment, everybody gets a share.

use std::collections::HashMap;

use bytes::Bytes;
use tracing::{info, warn};

use crate::coordinator::group::event::Sync;
use crate::coordinator::group::record::Record;
use crate::coordinator::group::response::{Response, Synced};
use crate::coordinator::group::{GroupError, Soft, Step, TimerKey, consumer};
use crate::coordinator::machine::ReplyId;

use super::expire::touch;
use super::rebalance::{prepare, refuse_syncs};
use super::state::{ClassicGroup, State};

/// A member asks for its share; the leader's request carries everybody's.
pub(in crate::coordinator::group) fn sync(cx: &mut Step<'_>, soft: &mut Soft, reply: ReplyId, request: Sync) {
    if let Some(group) = cx.hard.consumer(&request.group) {
        let synced = consumer::classic::sync(cx, soft, &request, group).unwrap_or_else(Synced::refused);
        return cx.out.reply(reply, Response::Sync(synced));
    }
    let group = match find(soft, &request) {
        Ok(group) => group,
        Err(error) => return cx.out.reply(reply, Response::Sync(Synced::refused(error))),
    };
    group.pending_sync.remove(request.member.as_str());
    if group.pending_sync.is_empty() {
        cx.out.cancel(TimerKey::Sync(group.id.clone()));
    }
    if group.state() == State::Stable {
        let answer = share(group, &request.member);
        return cx.out.reply(reply, Response::Sync(answer));
    }
    let earlier = group.member_mut(&request.member).and_then(|member| member.syncing.replace(reply));
    if let Some(earlier) = earlier {
        // The same member has asked twice; only the later connection still listens.
        cx.out.reply(earlier, Response::Sync(Synced::refused(GroupError::RebalanceInProgress)));
    }
    if group.is_leader(&request.member) {
        take_assignment(cx, group, request.assignments);
    }
}

fn find<'s>(soft: &'s mut Soft, request: &Sync) -> Result<&'s mut ClassicGroup, GroupError> {
    if request.group.is_empty() {
        return Err(GroupError::InvalidGroupId);
    }
    let group = soft.groups.get_mut(request.group.as_str()).ok_or(GroupError::UnknownMember)?;
    group.check_member(&request.member, request.instance.as_deref())?;
    if request.generation != group.generation {
        return Err(GroupError::IllegalGeneration);
    }
    let differs =
        |asked: &Option<String>, has: &Option<_>| asked.is_some() && asked.as_deref() != has.as_deref();
    if differs(&request.protocol_type, &group.protocol_type) || differs(&request.protocol, &group.protocol) {
        return Err(GroupError::InconsistentProtocol);
    }
    match group.state() {
        State::Empty => Err(GroupError::UnknownMember),
        State::PreparingRebalance => Err(GroupError::RebalanceInProgress),
        State::CompletingRebalance | State::Stable => Ok(group),
    }
}

fn share(group: &ClassicGroup, member: &str) -> Synced {
    Synced {
        error: None,
        protocol_type: group.protocol_type.clone(),
        protocol: group.protocol.clone(),
        assignment: group.member(member).map(|member| member.assignment.clone()).unwrap_or_default(),
    }
}

/// The leader has decided: the group is stable once that is on record.
fn take_assignment(cx: &mut Step<'_>, group: &mut ClassicGroup, assignments: Vec<(String, Bytes)>) {
    let mut shares: HashMap<String, Bytes> = assignments.into_iter().collect();
    let value = group.to_record(|member| shares.get(&*member.id).cloned().unwrap_or_default());
    let mut record = Record::Group { group: group.id.clone(), value: Some(value) };
    if record.size() > cx.settings.max_batch_bytes {
        warn!(group = %group.id, "the assignment does not fit into a batch of the log");
        refuse_syncs(cx, group, GroupError::RecordsTooLarge);
        return prepare(cx, group, "the assignment is too large");
    }
    let members = group.members().len();
    info!(group = %group.id, generation = group.generation, members, "stable");
    group.enter(State::Stable, cx.now.wall_ms);
    if let Record::Group { value: Some(value), .. } = &mut record {
        // What is loaded after a fail-over shows the same age as the living group.
        value.since_ms = cx.now.wall_ms;
    }
    cx.out.record(record);
    let id = group.id.clone();
    let mut waiting = Vec::new();
    for member in group.members_mut() {
        member.assignment = shares.remove(&*member.id).unwrap_or_default();
        if let Some(reply) = member.syncing.take() {
            touch(cx, &id, member, None);
            waiting.push((reply, member.id.clone()));
        }
    }
    for (reply, member) in waiting {
        let answer = share(group, &member);
        cx.out.reply(reply, Response::Sync(answer));
    }
}
