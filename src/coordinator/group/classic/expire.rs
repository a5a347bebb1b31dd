//! Sessions: who is silent for too long is out.

use tracing::info;

use crate::coordinator::group::response::{Joined, Response, Synced};
use crate::coordinator::group::{GroupError, GroupId, Soft, Step, TimerKey};

use super::rebalance::{complete, prepare, prepare_or_complete};
use super::state::{ClassicGroup, Member, State};

/// A sign of life: the member's session starts anew, lasting its session timeout or what is said.
///
/// A timer that is armed already is left alone if it fires early enough: it will look at the new end then, so that
/// a heartbeat costs no timer.
pub(in crate::coordinator::group) fn touch(
    cx: &mut Step<'_>,
    group: &GroupId,
    member: &mut Member,
    lasts_ms: Option<u64>,
) {
    let lasts_ms = lasts_ms.unwrap_or_else(|| u64::try_from(member.session_timeout_ms).unwrap_or_default());
    member.session_ends_ms = cx.now.mono_ms.saturating_add(lasts_ms);
    if member.timer_ms.is_none_or(|armed| armed > member.session_ends_ms) {
        member.timer_ms = Some(member.session_ends_ms);
        let key = TimerKey::Session { group: group.clone(), member: member.id.clone() };
        cx.out.arm(key, member.session_ends_ms);
    }
}

/// A session's timer fired, or a pending member's.
pub(in crate::coordinator::group) fn session(cx: &mut Step<'_>, soft: &mut Soft, id: &GroupId, member: &str) {
    let Some(group) = soft.groups.get_mut(id) else { return };
    if group.pending.contains(member) {
        info!(group = %id, member, "pending member removed: it did not come back");
        group.remove(member);
        if group.state() == State::PreparingRebalance && group.has_all_joined() {
            complete(cx, group);
        }
        return;
    }
    let Some(found) = group.member_mut(member) else { return };
    found.timer_ms = None;
    if found.session_ends_ms > cx.now.mono_ms {
        found.timer_ms = Some(found.session_ends_ms);
        let key = TimerKey::Session { group: id.clone(), member: found.id.clone() };
        cx.out.arm(key, found.session_ends_ms);
        return;
    }
    // Who waits for an answer cannot send heartbeats; but a new member does not know its id yet and may be gone.
    if !found.is_new && (found.joining.is_some() || found.syncing.is_some()) {
        return;
    }
    info!(group = %id, member, "member removed: its session ended");
    put_out(cx, group, member);
    match group.state() {
        State::Stable | State::CompletingRebalance => {
            prepare_or_complete(cx, group, "the session of a member ended");
        }
        State::PreparingRebalance if group.has_all_joined() => complete(cx, group),
        State::PreparingRebalance | State::Empty => {}
    }
}

/// Takes a member out and answers its JoinGroup if that waits.
pub(in crate::coordinator::group) fn put_out(cx: &mut Step<'_>, group: &mut ClassicGroup, member: &str) {
    let Some(gone) = group.remove(member) else { return };
    if let Some(reply) = gone.joining {
        let refused = Joined::refused(GroupError::UnknownMember, "");
        cx.out.reply(reply, Response::Join(Box::new(refused)));
    }
    if let Some(reply) = gone.syncing {
        cx.out.reply(reply, Response::Sync(Synced::refused(GroupError::UnknownMember)));
    }
    cx.out.cancel(TimerKey::Session { group: group.id.clone(), member: gone.id });
}

/// The sync phase has lasted long enough: who has not asked for its share is out.
pub(in crate::coordinator::group) fn unsynced(cx: &mut Step<'_>, soft: &mut Soft, id: &str) {
    let Some(group) = soft.groups.get_mut(id) else { return };
    if !matches!(group.state(), State::CompletingRebalance | State::Stable) || group.pending_sync.is_empty() {
        return;
    }
    for member in std::mem::take(&mut group.pending_sync) {
        info!(group = %id, %member, "member removed: it did not ask for its assignment");
        put_out(cx, group, &member);
    }
    prepare(cx, group, "members did not sync");
}
