//! Which group and which member a heartbeat is of.

use std::borrow::Cow;

use crate::coordinator::group::classic::state::State;
use crate::coordinator::group::event::Beat;
use crate::coordinator::group::record::Record;
use crate::coordinator::group::response::{Joined, Response, Synced};
use crate::coordinator::group::{GroupError, GroupId, MemberId, Soft, Step, TimerKey};

use super::state::{AWAY, ConsumerGroup, Current, Member, Owned};
use super::{Refused, live, upgrade};

/// The member that a heartbeat is of.
pub(super) enum Seat<'g> {
    /// It was there before.
    Known(&'g MemberId, &'g Member),
    /// It comes for the first time.
    New(MemberId),
    /// A static member that comes back under another id, and its old one.
    Returns(MemberId, &'g MemberId, &'g Member),
}

/// The group exists, or may come to be: a classic group gives way if it has no members, or becomes a consumer group
/// with them.
pub(super) fn find_or_make<'h>(
    cx: &mut Step<'h>,
    soft: &Soft,
    id: &str,
    joins: bool,
) -> Result<Cow<'h, ConsumerGroup>, Refused> {
    if let Some(group) = cx.hard.consumer(id) {
        return Ok(Cow::Borrowed(group));
    }
    let foreign =
        || Refused::new(GroupError::GroupIdNotFound, format!("Group {id} is not a consumer group."));
    if cx.hard.kind(id).is_some() {
        return Err(foreign());
    }
    match soft.groups.get(id) {
        Some(classic) if joins && classic.state() == State::Empty => {
            if cx.hard.group(id).is_some() {
                cx.out.record(Record::Group { group: classic.id.clone(), value: None });
            }
            Ok(Cow::default())
        }
        Some(classic) if joins => upgrade::upgraded(cx, classic).map(Cow::Owned),
        Some(_) => Err(foreign()),
        None if joins => Ok(Cow::default()),
        None => Err(Refused::new(GroupError::GroupIdNotFound, format!("Consumer group {id} not found."))),
    }
}

/// The classic group of that name is no more; its members are told to join what it has become.
pub(super) fn replace_classic(cx: &mut Step<'_>, soft: &mut Soft, id: &GroupId, group: &ConsumerGroup) {
    let Some(mut classic) = soft.groups.remove(id) else { return };
    for member in std::mem::take(&mut classic.pending) {
        cx.out.cancel(TimerKey::Session { group: id.clone(), member });
    }
    if classic.state() == State::Empty {
        return;
    }
    cx.out.cancel(TimerKey::Join(id.clone()));
    cx.out.cancel(TimerKey::Sync(id.clone()));
    for member in classic.members().values() {
        if let Some(waiting) = member.joining {
            let refused = Joined::refused(GroupError::RebalanceInProgress, member.id.clone());
            cx.out.reply(waiting, Response::Join(Box::new(refused)));
        }
        if let Some(waiting) = member.syncing {
            cx.out.reply(waiting, Response::Sync(Synced::refused(GroupError::RebalanceInProgress)));
        }
    }
    let live = live::loaded(cx, id, group);
    soft.consumers.insert(id.clone(), live);
}

/// Finds the member and checks its epoch.
pub(super) fn seat<'g>(group: &'g ConsumerGroup, id: &str, beat: &Beat) -> Result<Seat<'g>, Refused> {
    let joins = beat.epoch == 0;
    let Some(instance) = &beat.instance else {
        return match group.members().get_key_value(beat.member.as_str()) {
            Some((member_id, member)) => {
                check_epoch(&member.current, beat)?;
                Ok(Seat::Known(member_id, member))
            }
            None if joins => Ok(Seat::New(beat.member.as_str().into())),
            None => Err(unknown(&beat.member, id)),
        };
    };
    match group.static_member(instance) {
        // A dynamic member may not turn static under its own id.
        None if joins => match group.members().get_key_value(beat.member.as_str()) {
            Some((member_id, member)) => Ok(Seat::Known(member_id, member)),
            None => Ok(Seat::New(beat.member.as_str().into())),
        },
        Some((old_id, old)) if joins => {
            // One that speaks the classic protocol cannot say that it goes away.
            if old.current.epoch != AWAY && old.about.classic.is_none() {
                let (member, instance) = (&beat.member, instance);
                let message = format!(
                    "Static member {member} with instance id {instance} cannot join the group because the \
                     instance id is owned by {old_id} member."
                );
                return Err(Refused::new(GroupError::UnreleasedInstance, message));
            }
            Ok(Seat::Returns(beat.member.as_str().into(), old_id, old))
        }
        owner => {
            let (member_id, member) = owned_instance(owner, beat, instance)?;
            check_epoch(&member.current, beat)?;
            Ok(Seat::Known(member_id, member))
        }
    }
}

/// The member has its `group.instance.id` still.
pub(super) fn owned_instance<'g>(
    owner: Option<(&'g MemberId, &'g Member)>,
    beat: &Beat,
    instance: &str,
) -> Result<(&'g MemberId, &'g Member), Refused> {
    let Some((owner, member)) = owner else {
        return Err(Refused::new(GroupError::UnknownMember, format!("Instance id {instance} is unknown.")));
    };
    if **owner != *beat.member {
        let other = &beat.member;
        let message =
            format!("Static member {other} with instance id {instance} was fenced by member {owner}.");
        return Err(Refused::new(GroupError::FencedInstance, message));
    }
    Ok((owner, member))
}

pub(super) fn unknown(member: &str, group: &str) -> Refused {
    Refused::new(GroupError::UnknownMember, format!("Member {member} is not a member of group {group}."))
}

/// A member may be one epoch behind: the answer that told it of the new one may have been lost. Then it can only
/// hold what it was given.
fn check_epoch(current: &Current, beat: &Beat) -> Result<(), Refused> {
    let lost_answer =
        || beat.epoch == current.previous_epoch && is_part(beat.owned.as_deref(), &current.assigned);
    let how = match beat.epoch.cmp(&current.epoch) {
        std::cmp::Ordering::Greater => "greater",
        std::cmp::Ordering::Less if beat.epoch != 0 && !lost_answer() => "smaller",
        _ => return Ok(()),
    };
    let message = format!(
        "The consumer group member has a {how} member epoch ({}) than the one known by the group coordinator \
         ({}). The member must abandon all its partitions and rejoin.",
        beat.epoch, current.epoch
    );
    Err(Refused::new(GroupError::FencedMemberEpoch, message))
}

fn is_part(owned: Option<&[(crate::ids::Uuid, Vec<i32>)]>, assigned: &Owned) -> bool {
    owned.is_some_and(|owned| {
        owned.iter().all(|(topic, partitions)| {
            assigned
                .get(topic)
                .is_some_and(|has| partitions.iter().all(|partition| has.contains_key(partition)))
        })
    })
}
