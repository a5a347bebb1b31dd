//! Members leave, are put out, or go away for a while; and the end of a group.

use tracing::info;

use crate::coordinator::group::event::Beat;
use crate::coordinator::group::record::Record;
use crate::coordinator::group::response::Beaten;
use crate::coordinator::group::{GroupError, GroupId, MemberId, Soft, Step};

use std::sync::Arc;

use super::find::{owned_instance, unknown};
use super::live::{self, Task};
use super::record::Change;
use super::state::{AWAY, ConsumerGroup, Current, Owned};
use super::subscription::Roster;
use super::{Refused, downgrade};

/// A heartbeat with epoch -1 or -2: the member leaves, for good or for a while.
pub(super) fn leave(cx: &mut Step<'_>, soft: &mut Soft, beat: &Beat) -> Result<Beaten, Refused> {
    let id = beat.group.as_str();
    let group = cx.hard.consumer(id).ok_or_else(|| {
        let is_other = soft.groups.contains_key(id) || cx.hard.kind(id).is_some();
        let why = if is_other { "is not a consumer group" } else { "not found" };
        Refused::new(GroupError::GroupIdNotFound, format!("Group {id} {why}."))
    })?;
    let (member_id, member) = match &beat.instance {
        None => {
            group.members().get_key_value(beat.member.as_str()).ok_or_else(|| unknown(&beat.member, id))?
        }
        Some(instance) => owned_instance(group.static_member(instance), beat, instance)?,
    };
    let group_id: GroupId = id.into();
    if beat.epoch == AWAY && beat.instance.is_some() {
        info!(group = %id, member = %member_id, "a static member is away");
        // Its session goes on: it may come back in time. What it must give up it has given up by going.
        let away = Current {
            epoch: AWAY,
            assigned: undated(&member.current.assigned),
            revoking: Arc::default(),
            ..member.current
        };
        cx.consumer_record(&group_id, Change::Current(member_id.clone(), Some(away)));
        if let Some(live) = soft.consumers.get_mut(id) {
            live::end(cx, live, &group_id, member_id, Task::Revoke);
        }
    } else {
        info!(group = %id, member = %member_id, "member left");
        fence(cx, soft, &group_id, group, std::slice::from_ref(member_id));
    }
    Ok(Beaten { member: member_id.clone(), epoch: beat.epoch, interval_ms: 0, assignment: None })
}

/// Partitions that were given at no time: whoever takes them over may commit at once.
fn undated(owned: &Owned) -> Arc<Owned> {
    let topics =
        owned.iter().map(|(topic, partitions)| (*topic, partitions.keys().map(|p| (*p, 0)).collect()));
    Arc::new(topics.collect())
}

/// Writes the end of a member.
pub(super) fn remove(cx: &mut Step<'_>, group: &GroupId, member: &MemberId) {
    cx.consumer_record(group, Change::Current(member.clone(), None));
    cx.consumer_record(group, Change::Target(member.clone(), None));
    cx.consumer_record(group, Change::Member(member.clone(), None));
}

/// Takes members out: the others' targets will be computed anew.
pub(in crate::coordinator::group) fn fence(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &GroupId,
    group: &ConsumerGroup,
    members: &[MemberId],
) {
    if downgrade::is_due(cx, group, members) {
        return downgrade::without(cx, soft, id, group, members);
    }
    for member in members {
        remove(cx, id, member);
        if let Some(live) = soft.consumers.get_mut(id) {
            live::forget(cx, live, id, member);
        }
    }
    let roster = Roster { group, changed: None, gone: members };
    let patterns = roster.patterns();
    for pattern in group.patterns().keys() {
        if !patterns.contains(pattern) {
            cx.consumer_record(id, Change::Regex(pattern.clone(), None));
        }
    }
    let is_known = soft.consumers.get(id).is_some_and(|live| live.knows_topics);
    let hash = roster.metadata_hash(&**cx.cluster, is_known);
    let epoch = group.epoch.saturating_add(1);
    cx.consumer_record(id, Change::Group(Some((epoch, hash))));
    if roster.is_empty() {
        info!(group = %id, epoch, "the group is empty");
        cx.consumer_record(id, Change::TargetEpoch(Some((epoch, 0))));
    }
}

/// LeaveGroup names members of a consumer group; each one's fate.
pub(in crate::coordinator::group) fn leave_named(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &GroupId,
    group: &ConsumerGroup,
    named: &[(String, Option<String>)],
) -> Vec<Option<GroupError>> {
    let mut gone: Vec<MemberId> = Vec::new();
    let mut fates = Vec::with_capacity(named.len());
    for (member, instance) in named {
        let found = match instance {
            None => group
                .members()
                .get_key_value(member.as_str())
                .map(|(id, _)| id)
                .ok_or(GroupError::UnknownMember),
            Some(instance) => match group.static_member(instance) {
                None => Err(GroupError::UnknownMember),
                Some((owner, _)) if !member.is_empty() && **owner != **member => {
                    Err(GroupError::FencedInstance)
                }
                Some((owner, _)) => Ok(owner),
            },
        };
        match found {
            Ok(member) => {
                info!(group = %id, %member, "member left");
                if !gone.contains(member) {
                    gone.push(member.clone());
                }
                fates.push(None);
            }
            Err(error) => fates.push(Some(error)),
        }
    }
    if !gone.is_empty() {
        fence(cx, soft, id, group, &gone);
    }
    fates
}

/// Everything that ends a group but for its offsets.
pub(in crate::coordinator::group) fn tombstones(id: &GroupId, group: &ConsumerGroup) -> Vec<Record> {
    let members = || group.members().keys();
    let mut changes: Vec<Change> = members().map(|member| Change::Current(member.clone(), None)).collect();
    changes.extend(group.targets().keys().map(|member| Change::Target(member.clone(), None)));
    changes.push(Change::TargetEpoch(None));
    changes.extend(members().map(|member| Change::Member(member.clone(), None)));
    changes.push(Change::PartitionMetadata(false));
    changes.extend(group.regexes().keys().map(|regex| Change::Regex(regex.clone(), None)));
    changes.push(Change::Group(None));
    changes.into_iter().map(|change| Record::Consumer { group: id.clone(), change }).collect()
}
