//! What follows from a member's word: the group's epoch, its targets, and the member's next step towards its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracing::info;

use crate::coordinator::group::record::Record;
use crate::coordinator::group::{Effect, GroupError, GroupId, MemberId, Soft, Step};
use crate::ids::Uuid;

use super::find::Seat;
use super::live::{self, Task};
use super::reconcile::Reconciliation;
use super::record::Change;
use super::state::{About, ConsumerGroup, Current, Member};
use super::subscription::Roster;
use super::{Refused, leave, regex, target};

/// What a member says.
pub(super) struct Word<'a> {
    member: MemberId,
    before: Member,
    /// Whose place it takes.
    replaced: Option<MemberId>,
    joins: bool,
    /// What it says of itself from now on.
    about: Arc<About>,
    /// Partitions that it holds; none if it does not say.
    owned: Option<&'a [(Uuid, Vec<i32>)]>,
}

impl<'a> Word<'a> {
    /// The word of who sits there; `about` says what it says of itself after what it has said before.
    pub(super) fn of(
        seat: Seat<'_>,
        about: impl FnOnce(&Arc<About>) -> Arc<About>,
        owned: Option<&'a [(Uuid, Vec<i32>)]>,
    ) -> Word<'a> {
        let joins = !matches!(seat, Seat::Known(..));
        let (member, before, replaced) = match seat {
            Seat::Known(member, before) => (member.clone(), before.clone(), None),
            Seat::New(member) => (member, Member::default(), None),
            Seat::Returns(member, old_id, old) => {
                let current = Current { epoch: 0, previous_epoch: 0, ..old.current.clone() };
                (member, Member { current, ..old.clone() }, Some(old_id.clone()))
            }
        };
        let about = about(&before.about);
        Word { member, before, replaced, joins, about, owned }
    }
}

/// What a word changes, besides the records.
pub(super) struct Decided {
    /// Whose word it was.
    pub member: MemberId,
    /// As it was.
    pub before: Member,
    /// What it has from now on.
    pub current: Current,
    about: Arc<About>,
    joins: bool,
    /// Whose place it took.
    pub replaced: Option<MemberId>,
    resolve: Option<Vec<Arc<str>>>,
}

/// The group admits the member, or has it already.
pub(super) fn check_room(cx: &Step<'_>, group: &ConsumerGroup, member: &str) -> Result<(), Refused> {
    let max = cx.settings.consumer.max_size;
    if group.members().len() < max || group.member(member).is_some() {
        return Ok(());
    }
    let message = format!("The consumer group has reached its maximum capacity of {max} members.");
    Err(Refused::new(GroupError::GroupFull, message))
}

/// The records that follow from a member's word. Nothing lives by it yet.
pub(super) fn advance(
    cx: &mut Step<'_>,
    soft: &Soft,
    id: &GroupId,
    group: &ConsumerGroup,
    word: Word<'_>,
) -> Result<Decided, Refused> {
    let live = soft.consumers.get(id);
    let Word { member, before, replaced, joins, about, owned } = word;
    if let Some(old) = &replaced {
        take_over(cx, id, group, old, &member, &before);
    }
    if !Arc::ptr_eq(&about, &before.about) && about != before.about {
        cx.consumer_record(id, Change::Member(member.clone(), Some(about.clone())));
    }
    let topics_changed = about.topics != before.about.topics;
    let regexes = regex::update(cx, soft, live, id, group, &before.about, &about)?;
    let bump = topics_changed || about.assignor != before.about.assignor || regexes.bump;
    let roster = Roster { group, changed: Some((&member, &about)), gone: replaced.as_slice() };
    let knows_topics = live.is_some_and(|live| live.knows_topics);
    let epoch = next_epoch(cx, id, group, &roster, bump, knows_topics);
    let carried = group.target(replaced.as_ref().unwrap_or(&member)).cloned().unwrap_or_default();
    let (target_epoch, target) = match target::due(cx, id, group, epoch) {
        true => (epoch, target::assign(cx, id, &roster, epoch, &carried)),
        false => (group.assignment_epoch, carried),
    };
    let subscription_changed = topics_changed || about.regex != before.about.regex;
    let current = match before.current.is_reconciled(target_epoch) && !subscription_changed {
        true => before.current.clone(),
        false => {
            let subscribed: BTreeSet<Uuid> = roster.topic_ids(&about, &**cx.cluster);
            let step = Reconciliation {
                target_epoch,
                target: &target,
                subscribed: &subscribed,
                subscription_changed,
                owned,
                is_taken: &|topic, partition| group.owner(topic, partition).is_some(),
            };
            step.next(&before.current)
        }
    };
    if current != before.current {
        cx.consumer_record(id, Change::Current(member.clone(), Some(current.clone())));
    }
    if cx.out.records.iter().map(Record::size).sum::<usize>() > cx.settings.max_batch_bytes {
        return Err(GroupError::RecordsTooLarge.into());
    }
    Ok(Decided { member, before, current, about, joins, replaced, resolve: regexes.resolve })
}

/// The group's next epoch if anything has changed that an assignment must take account of.
fn next_epoch(
    cx: &mut Step<'_>,
    id: &GroupId,
    group: &ConsumerGroup,
    roster: &Roster<'_>,
    bump: bool,
    knows_topics: bool,
) -> i32 {
    if !bump && knows_topics {
        return group.epoch;
    }
    let hash = roster.metadata_hash(&**cx.cluster, knows_topics);
    if !bump && hash == group.metadata_hash {
        return group.epoch;
    }
    let epoch = group.epoch.saturating_add(1);
    cx.consumer_record(id, Change::Group(Some((epoch, hash))));
    epoch
}

/// A static member that comes back takes over what its old id had.
fn take_over(
    cx: &mut Step<'_>,
    id: &GroupId,
    group: &ConsumerGroup,
    old: &MemberId,
    new: &MemberId,
    back: &Member,
) {
    leave::remove(cx, id, old);
    cx.consumer_record(id, Change::Member(new.clone(), Some(back.about.clone())));
    let target = group.target(old).cloned().unwrap_or_default();
    cx.consumer_record(id, Change::Target(new.clone(), Some(target)));
    cx.consumer_record(id, Change::Current(new.clone(), Some(back.current.clone())));
}

/// What was decided lives.
pub(super) fn settle(cx: &mut Step<'_>, soft: &mut Soft, id: &GroupId, decided: &Decided) {
    let Decided { member, current, before, about, .. } = decided;
    if decided.joins {
        info!(group = %id, %member, epoch = current.epoch, "a member joins");
    }
    let session_ms = cx.member_session_ms(id, about);
    let live = match soft.consumers.get_mut(id) {
        Some(live) => live,
        None => soft.consumers.entry(id.clone()).or_default(),
    };
    if let Some(old) = &decided.replaced {
        live::forget(cx, live, id, old);
    }
    live.knows_topics = true;
    live::touch(cx, live, id, member, session_ms);
    if about.classic.is_some() {
        // What it must give up it gives up by joining again, for which it has a time of its own.
        live::end(cx, live, id, member, Task::Revoke);
        live::end(cx, live, id, member, Task::Join);
        live::expect(cx, live, id, member, Task::Sync, about.rebalance_timeout_ms);
    } else if current != &before.current || before.about.classic.is_some() {
        live::end(cx, live, id, member, Task::Join);
        live::end(cx, live, id, member, Task::Sync);
        live::watch_revocation(cx, live, id, member, current, about);
    }
    if let Some(regexes) = decided.resolve.clone() {
        live.resolving = true;
        cx.out.effects.push(Effect::Resolve { group: id.clone(), regexes, cluster: cx.cluster.clone() });
    }
}
