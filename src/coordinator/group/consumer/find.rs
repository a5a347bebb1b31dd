//! Which group and which member a heartbeat is of.

use crate::coordinator::group::classic::state::State;
use crate::coordinator::group::event::Beat;
use crate::coordinator::group::record::Record;
use crate::coordinator::group::{GroupError, MemberId, Soft, Step, TimerKey};

use super::Refused;
use super::state::{AWAY, ConsumerGroup, Current, Member, Owned};

/// The member that a heartbeat is of.
pub(super) enum Seat<'g> {
    /// It was there before.
    Known(&'g MemberId, &'g Member),
    /// It comes for the first time.
    New(MemberId),
    /// A static member that comes back under another id, and its old one.
    Returns(MemberId, &'g MemberId, &'g Member),
}

/// The group exists, or may come to be: a classic group without members gives way.
pub(super) fn find_or_make<'g, 'h: 'g>(
    cx: &mut Step<'h>,
    soft: &Soft,
    id: &str,
    joins: bool,
    empty: &'g ConsumerGroup,
) -> Result<&'g ConsumerGroup, Refused> {
    if let Some(group) = cx.hard.consumer(id) {
        return Ok(group);
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
            Ok(empty)
        }
        Some(_) => Err(foreign()),
        None if joins => Ok(empty),
        None => Err(Refused::new(GroupError::GroupIdNotFound, format!("Consumer group {id} not found."))),
    }
}

/// The classic group of that name, without members, is no more.
pub(super) fn replace_classic(cx: &mut Step<'_>, soft: &mut Soft, id: &str) {
    let Some(classic) = soft.groups.remove(id) else { return };
    for member in classic.pending {
        cx.out.cancel(TimerKey::Session { group: classic.id.clone(), member });
    }
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
            if old.current.epoch != AWAY {
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
