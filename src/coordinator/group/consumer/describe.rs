//! ConsumerGroupDescribe.

use std::sync::Arc;

use crate::coordinator::group::{GroupError, Soft, Step};

use super::Refused;
use super::state::{ConsumerGroup, Member, Partitions};

/// A consumer group in full.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Kafka's name of the state.
    pub state: &'static str,
    /// The group's epoch.
    pub epoch: i32,
    /// The epoch of its targets.
    pub assignment_epoch: i32,
    /// The assignor in use.
    pub assignor: String,
    /// Members by id, each with its target.
    pub members: Vec<(Arc<str>, Member, Arc<Partitions>)>,
}

/// The group with its members.
pub(in crate::coordinator::group) fn describe(
    cx: &Step<'_>,
    soft: &Soft,
    id: &str,
) -> Result<Described, Refused> {
    let group = cx.hard.consumer(id).ok_or_else(|| {
        let is_other = soft.groups.contains_key(id) || cx.hard.kind(id).is_some();
        let why = if is_other { "is not a consumer group" } else { "not found" };
        Refused::new(GroupError::GroupIdNotFound, format!("Group {id} {why}."))
    })?;
    let abouts = group.members().values().map(|member| &*member.about);
    let assignor = ConsumerGroup::preferred_assignor(abouts, &cx.settings.consumer.assignors);
    let members = group.members().iter().map(|(member_id, member)| {
        let target = group.target(member_id).cloned().unwrap_or_default();
        (member_id.clone(), member.clone(), target)
    });
    Ok(Described {
        state: group.state().name(),
        epoch: group.epoch,
        assignment_epoch: group.assignment_epoch,
        assignor: assignor.unwrap_or_default().to_owned(),
        members: members.collect(),
    })
}
