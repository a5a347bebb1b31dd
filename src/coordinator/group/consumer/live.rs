//! What lives of a consumer group besides its records: sessions, and what has been looked up.

use std::collections::BTreeMap;

use tracing::info;

use crate::coordinator::group::{GroupId, MemberId, Soft, Step, TimerKey};

use super::leave::fence;
use super::state::{ConsumerGroup, MemberState};

/// A group's sessions. Made when a member is heard of or the group is loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    sessions: BTreeMap<MemberId, Session>,
    /// The subscribed topics are as the group's hash says.
    pub(super) knows_topics: bool,
    /// Regular expressions are being looked up.
    pub(super) resolving: bool,
}

/// A member's times, in monotonic milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Session {
    /// When it is put out if it stays silent.
    ends_ms: u64,
    /// When its timer looks at `ends_ms`, never later than that.
    timer_ms: Option<u64>,
    /// The epoch in which it must give partitions up before its rebalance timeout.
    revoking: Option<i32>,
}

impl Live {
    /// Topics may have changed: the group's hash is to be computed again.
    pub(in crate::coordinator::group) fn forget_topics(&mut self) {
        self.knows_topics = false;
    }
}

/// A sign of life: the member's session starts anew.
pub(super) fn touch(cx: &mut Step<'_>, live: &mut Live, group: &GroupId, member: &MemberId, lasts_ms: i32) {
    let ends_ms = cx.now.mono_ms.saturating_add(u64::try_from(lasts_ms).unwrap_or_default());
    let session = match live.sessions.get_mut(member) {
        Some(session) => session,
        None => live.sessions.entry(member.clone()).or_default(),
    };
    session.ends_ms = ends_ms;
    if session.timer_ms.is_none_or(|armed| armed > ends_ms) {
        session.timer_ms = Some(ends_ms);
        cx.out.arm(TimerKey::Session { group: group.clone(), member: member.clone() }, ends_ms);
    }
}

/// The member has no session any more.
pub(super) fn forget(cx: &mut Step<'_>, live: &mut Live, group: &GroupId, member: &MemberId) {
    if let Some(session) = live.sessions.remove(member) {
        cx.out.cancel(TimerKey::Session { group: group.clone(), member: member.clone() });
        if session.revoking.is_some() {
            cx.out.cancel(TimerKey::Revocation { group: group.clone(), member: member.clone() });
        }
    }
}

/// The member has so long to give partitions up, or has nothing to give up.
pub(super) fn watch_revocation(
    cx: &mut Step<'_>,
    live: &mut Live,
    group: &GroupId,
    member: &MemberId,
    within: Option<(i32, i32)>,
) {
    let Some(session) = live.sessions.get_mut(member) else { return };
    let key = || TimerKey::Revocation { group: group.clone(), member: member.clone() };
    match within {
        Some((epoch, timeout_ms)) => {
            session.revoking = Some(epoch);
            let wait_ms = u64::try_from(timeout_ms).unwrap_or_default();
            cx.out.arm(key(), cx.now.mono_ms.saturating_add(wait_ms));
        }
        None if session.revoking.take().is_some() => cx.out.cancel(key()),
        None => {}
    }
}

/// A session's timer fired.
pub(in crate::coordinator::group) fn session(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &GroupId,
    member: &MemberId,
) {
    let Some(session) = soft.consumers.get_mut(id).and_then(|live| live.sessions.get_mut(member)) else {
        return;
    };
    if session.ends_ms > cx.now.mono_ms {
        session.timer_ms = Some(session.ends_ms);
        cx.out.arm(TimerKey::Session { group: id.clone(), member: member.clone() }, session.ends_ms);
        return;
    }
    session.timer_ms = None;
    let Some(group) = cx.hard.consumer(id) else { return };
    if group.member(member).is_some() {
        info!(group = %id, %member, "member removed: its session ended");
        fence(cx, soft, id, group, std::slice::from_ref(member));
    }
}

/// A member has taken too long to give partitions up.
pub(in crate::coordinator::group) fn revocation(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &GroupId,
    member: &MemberId,
) {
    let session = soft.consumers.get_mut(id).and_then(|live| live.sessions.get_mut(member));
    let (Some(session), Some(group)) = (session, cx.hard.consumer(id)) else { return };
    let epoch = session.revoking.take();
    if epoch.is_some() && group.member(member).map(|member| member.current.epoch) == epoch {
        info!(group = %id, %member, "member removed: it did not give up its partitions in time");
        fence(cx, soft, id, group, std::slice::from_ref(member));
    }
}

/// After the log has been replayed: sessions start anew.
pub(in crate::coordinator::group) fn loaded(cx: &mut Step<'_>, id: &GroupId, group: &ConsumerGroup) -> Live {
    let mut live = Live::default();
    for (member_id, member) in group.members() {
        let lasts_ms = cx.session_ms(id);
        touch(cx, &mut live, id, member_id, lasts_ms);
        if member.current.state == MemberState::Unrevoked {
            let within = Some((member.current.epoch, member.about.rebalance_timeout_ms));
            watch_revocation(cx, &mut live, id, member_id, within);
        }
    }
    live
}
