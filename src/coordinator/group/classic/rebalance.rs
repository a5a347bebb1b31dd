//! A rebalance from its cause to the joined generation.

use bytes::Bytes;
use tracing::{info, warn};

use crate::coordinator::group::record::Record;
use crate::coordinator::group::response::{Joined, Response, Synced};
use crate::coordinator::group::{GroupError, MemberId, Soft, Step, TimerKey};

use super::expire::touch;
use super::state::{ClassicGroup, InitialDelay, State};

/// Members have changed: rebalances, or ends the join phase under way if nobody else is expected.
pub(in crate::coordinator::group) fn prepare_or_complete(
    cx: &mut Step<'_>,
    group: &mut ClassicGroup,
    why: &str,
) {
    if group.state() == State::PreparingRebalance {
        complete_if_all_joined(cx, group);
    } else {
        prepare(cx, group, why);
    }
}

/// Starts a rebalance: everybody joins again. An empty group waits for more members first.
pub(in crate::coordinator::group) fn prepare(cx: &mut Step<'_>, group: &mut ClassicGroup, why: &str) {
    if group.state() == State::CompletingRebalance {
        refuse_syncs(cx, group, GroupError::RebalanceInProgress);
    }
    group.pending_sync.clear();
    cx.out.cancel(TimerKey::Sync(group.id.clone()));
    let was_empty = group.state() == State::Empty;
    info!(group = %group.id, generation = group.generation, "preparing a rebalance: {why}");
    group.enter(State::PreparingRebalance, cx.now.wall_ms);
    if was_empty {
        let delay_ms = cx.settings.initial_rebalance_delay_ms;
        let remaining_ms = group.rebalance_timeout_ms().saturating_sub(delay_ms);
        group.initial = Some(InitialDelay { delay_ms, remaining_ms });
        arm_join(cx, group, delay_ms);
    } else if group.has_all_joined() {
        complete(cx, group);
    } else {
        let wait_ms = group.rebalance_timeout_ms();
        arm_join(cx, group, wait_ms);
    }
}

/// Answers the members that wait for their shares.
pub(in crate::coordinator::group) fn refuse_syncs(
    cx: &mut Step<'_>,
    group: &mut ClassicGroup,
    error: GroupError,
) {
    let id = group.id.clone();
    for member in group.members_mut() {
        member.assignment = Bytes::new();
        if let Some(reply) = member.syncing.take() {
            cx.out.reply(reply, Response::Sync(Synced::refused(error)));
            touch(cx, &id, member, None);
        }
    }
}

/// Ends the join phase if everybody has joined, unless the group still waits for its first members.
pub(in crate::coordinator::group) fn complete_if_all_joined(cx: &mut Step<'_>, group: &mut ClassicGroup) {
    if group.state() == State::PreparingRebalance && group.initial.is_none() && group.has_all_joined() {
        complete(cx, group);
    }
}

fn arm_join(cx: &mut Step<'_>, group: &ClassicGroup, wait_ms: u64) {
    cx.out.arm(TimerKey::Join(group.id.clone()), cx.now.mono_ms.saturating_add(wait_ms));
}

/// The join phase has lasted long enough.
pub(in crate::coordinator::group) fn join_time_is_up(cx: &mut Step<'_>, soft: &mut Soft, id: &str) {
    let Some(group) = soft.groups.get_mut(id) else { return };
    if group.state() != State::PreparingRebalance {
        return;
    }
    match group.initial {
        Some(wait) if group.new_member && wait.remaining_ms != 0 => {
            // Somebody came during the wait: more may follow.
            group.new_member = false;
            let delay_ms = cx.settings.initial_rebalance_delay_ms.min(wait.remaining_ms);
            let remaining_ms = wait.remaining_ms.saturating_sub(wait.delay_ms);
            group.initial = Some(InitialDelay { delay_ms, remaining_ms });
            arm_join(cx, group, delay_ms);
        }
        _ => complete(cx, group),
    }
}

/// Ends the join phase: who has not come is out (static members stay), and the next generation begins.
pub(in crate::coordinator::group) fn complete(cx: &mut Step<'_>, group: &mut ClassicGroup) {
    cx.out.cancel(TimerKey::Join(group.id.clone()));
    let missing: Vec<_> = group
        .members()
        .values()
        .filter(|member| member.joining.is_none() && member.instance.is_none())
        .map(|member| member.id.clone())
        .collect();
    for member in missing {
        info!(group = %group.id, %member, "member removed: it did not join again");
        group.remove(&member);
        cx.out.cancel(TimerKey::Session { group: group.id.clone(), member });
    }
    if !group.elect_joined_leader() && !group.members().is_empty() {
        // Only static members are left and none came: their sessions decide.
        warn!(group = %group.id, "the rebalance cannot end: no member joined");
        let wait_ms = group.rebalance_timeout_ms();
        arm_join(cx, group, wait_ms);
        return;
    }
    group.next_generation(cx.now.wall_ms);
    if group.state() == State::Empty {
        info!(group = %group.id, generation = group.generation, "the group is empty");
        let value = group.to_record(|_| Bytes::new());
        cx.out.record(Record::Group { group: group.id.clone(), value: Some(value) });
        return;
    }
    let size = group.members().len();
    info!(group = %group.id, generation = group.generation, members = size, "joined");
    answer_joins(cx, group);
    let wait_ms = group.rebalance_timeout_ms();
    cx.out.arm(TimerKey::Sync(group.id.clone()), cx.now.mono_ms.saturating_add(wait_ms));
}

fn answer_joins(cx: &mut Step<'_>, group: &mut ClassicGroup) {
    let ids: Vec<_> = group.members().keys().cloned().collect();
    let id = group.id.clone();
    for member in ids {
        let answer = joined(group, &member);
        if let Some(reply) = group.take_join(&member) {
            cx.out.reply(reply, Response::Join(Box::new(answer)));
        }
        if let Some(member) = group.member_mut(&member) {
            member.is_new = false;
            touch(cx, &id, member, None);
        }
        group.pending_sync.insert(member);
    }
}

/// What a member of the present generation is told when it joins.
pub(in crate::coordinator::group) fn joined(group: &ClassicGroup, member: &MemberId) -> Joined {
    Joined {
        error: None,
        generation: group.generation,
        protocol_type: group.protocol_type.clone(),
        protocol: group.protocol.clone(),
        leader: group.leader.clone().unwrap_or_else(|| "".into()),
        skip_assignment: false,
        member: member.clone(),
        members: if group.is_leader(member) { group.joined_members() } else { Vec::new() },
    }
}
