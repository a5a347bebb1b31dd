//! Heartbeat.

use crate::coordinator::group::event::Heartbeat;
use crate::coordinator::group::{GroupError, Soft, Step, consumer};

use super::expire::touch;
use super::state::State;

/// Keeps a member's session, and tells it when to join again.
pub(in crate::coordinator::group) fn heartbeat(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    request: &Heartbeat,
) -> Result<(), GroupError> {
    if request.group.is_empty() {
        return Err(GroupError::InvalidGroupId);
    }
    if let Some(group) = cx.hard.consumer(&request.group) {
        return consumer::classic::heartbeat(cx, soft, request, group);
    }
    let group = soft.groups.get_mut(request.group.as_str()).ok_or(GroupError::UnknownMember)?;
    group.check_member(&request.member, request.instance.as_deref())?;
    if request.generation != group.generation {
        return Err(GroupError::IllegalGeneration);
    }
    let (state, id) = (group.state(), group.id.clone());
    if let Some(member) = group.member_mut(&request.member) {
        touch(cx, &id, member, None);
    }
    match state {
        State::Empty => Err(GroupError::UnknownMember),
        State::PreparingRebalance => Err(GroupError::RebalanceInProgress),
        State::CompletingRebalance | State::Stable => Ok(()),
    }
}
