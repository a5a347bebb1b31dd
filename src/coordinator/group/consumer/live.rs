//! What lives of a consumer group besides its records: sessions, and what has been looked up.

use std::collections::{BTreeMap, BTreeSet};

use tracing::info;

use crate::coordinator::group::{GroupId, MemberId, Soft, Step, TimerKey};

use super::leave::fence;
use super::state::{About, ConsumerGroup, Current, MemberState};

/// A group's sessions. Made when a member is heard of or the group is loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    sessions: BTreeMap<MemberId, Session>,
    /// The subscribed topics are as the group's hash says.
    pub(super) knows_topics: bool,
    /// Regular expressions are being looked up.
    pub(super) resolving: bool,
}

/// What a member is to do in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// To give partitions up.
    Revoke,
    /// A classic member: to join again.
    Join,
    /// A classic member: to ask for its share after it has joined.
    Sync,
}

/// A member's times, in monotonic milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
struct Session {
    /// When it is put out if it stays silent.
    ends_ms: u64,
    /// When its timer looks at `ends_ms`, never later than that.
    timer_ms: Option<u64>,
    /// What it has not done yet, each with a timer.
    tasks: BTreeSet<Task>,
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
        for task in session.tasks {
            cx.out.cancel(TimerKey::Task { group: group.clone(), member: member.clone(), task });
        }
    }
}

/// The group has no sessions any more.
pub(super) fn forget_all(cx: &mut Step<'_>, soft: &mut Soft, id: &GroupId) {
    let Some(mut live) = soft.consumers.remove(id) else { return };
    let members: Vec<MemberId> = live.sessions.keys().cloned().collect();
    for member in members {
        forget(cx, &mut live, id, &member);
    }
}

/// The member has so many milliseconds for a task, counted from now.
pub(super) fn expect(
    cx: &mut Step<'_>,
    live: &mut Live,
    group: &GroupId,
    member: &MemberId,
    task: Task,
    within_ms: i32,
) {
    let Some(session) = live.sessions.get_mut(member) else { return };
    session.tasks.insert(task);
    let wait_ms = u64::try_from(within_ms).unwrap_or_default();
    let key = TimerKey::Task { group: group.clone(), member: member.clone(), task };
    cx.out.arm(key, cx.now.mono_ms.saturating_add(wait_ms));
}

/// The member is to do something already.
pub(super) fn expects(live: &Live, member: &MemberId, task: Task) -> bool {
    live.sessions.get(member).is_some_and(|session| session.tasks.contains(&task))
}

/// The member has done it, or need not do it any more.
pub(super) fn end(cx: &mut Step<'_>, live: &mut Live, group: &GroupId, member: &MemberId, task: Task) {
    if live.sessions.get_mut(member).is_some_and(|session| session.tasks.remove(&task)) {
        cx.out.cancel(TimerKey::Task { group: group.clone(), member: member.clone(), task });
    }
}

/// The member has its rebalance timeout to give partitions up, or has nothing to give up.
pub(super) fn watch_revocation(
    cx: &mut Step<'_>,
    live: &mut Live,
    group: &GroupId,
    member: &MemberId,
    current: &Current,
    about: &About,
) {
    if current.state == MemberState::Unrevoked {
        expect(cx, live, group, member, Task::Revoke, about.rebalance_timeout_ms);
    } else {
        end(cx, live, group, member, Task::Revoke);
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

/// A member has taken too long for something.
pub(in crate::coordinator::group) fn overdue(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &GroupId,
    member: &MemberId,
    task: Task,
) {
    let session = soft.consumers.get_mut(id).and_then(|live| live.sessions.get_mut(member));
    let (Some(session), Some(group)) = (session, cx.hard.consumer(id)) else { return };
    if session.tasks.remove(&task) && group.member(member).is_some() {
        info!(group = %id, %member, ?task, "member removed: it did not do in time what it had to");
        fence(cx, soft, id, group, std::slice::from_ref(member));
    }
}

/// After the log has been replayed: sessions start anew.
pub(in crate::coordinator::group) fn loaded(cx: &mut Step<'_>, id: &GroupId, group: &ConsumerGroup) -> Live {
    let mut live = Live::default();
    for (member_id, member) in group.members() {
        let lasts_ms = cx.member_session_ms(id, &member.about);
        touch(cx, &mut live, id, member_id, lasts_ms);
        if member.about.classic.is_none() {
            watch_revocation(cx, &mut live, id, member_id, &member.current, &member.about);
        }
    }
    live
}
