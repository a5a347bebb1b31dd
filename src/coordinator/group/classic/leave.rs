//! LeaveGroup, one member or many.

use tracing::info;

use crate::coordinator::group::event::Leave;
use crate::coordinator::group::{GroupError, MemberId, Soft, Step, TimerKey, consumer};

use super::expire::put_out;
use super::rebalance::{complete_if_all_joined, prepare_or_complete};
use super::state::{ClassicGroup, State};

/// Takes members out; each one's fate, in the order of the request.
pub(in crate::coordinator::group) fn leave(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    request: &Leave,
) -> Result<Vec<Option<GroupError>>, GroupError> {
    if request.group.is_empty() {
        return Err(GroupError::InvalidGroupId);
    }
    if let Some(group) = cx.hard.consumer(&request.group) {
        let id = request.group.as_str().into();
        return Ok(consumer::leave::leave_named(cx, soft, &id, group, &request.members));
    }
    let Some(group) = soft.groups.get_mut(request.group.as_str()) else {
        return Ok(request.members.iter().map(|_| Some(GroupError::UnknownMember)).collect());
    };
    let mut fates = Vec::with_capacity(request.members.len());
    for (member, instance) in &request.members {
        match who(group, member, instance.as_deref()) {
            Ok(member) => {
                info!(group = %group.id, %member, "member left");
                if group.pending.contains(&member) {
                    group.remove(&member);
                    cx.out.cancel(TimerKey::Session { group: group.id.clone(), member });
                } else {
                    put_out(cx, group, &member);
                }
                fates.push(None);
            }
            Err(error) => fates.push(Some(error)),
        }
    }
    if fates.contains(&None) {
        match group.state() {
            State::Stable | State::CompletingRebalance => prepare_or_complete(cx, group, "members left"),
            State::PreparingRebalance => complete_if_all_joined(cx, group),
            State::Empty => {}
        }
    }
    Ok(fates)
}

/// The member that is meant: an administrator may name a static member by its instance id alone.
fn who(group: &ClassicGroup, member: &str, instance: Option<&str>) -> Result<MemberId, GroupError> {
    if member.is_empty() {
        let owner = instance.and_then(|instance| group.static_member(instance));
        return owner.cloned().ok_or(GroupError::UnknownMember);
    }
    if !group.pending.contains(member) {
        group.check_member(member, instance)?;
    }
    Ok(member.into())
}
