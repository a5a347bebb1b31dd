//! ConsumerGroupHeartbeat: a member joins, stays and comes nearer to its target.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracing::info;

use crate::coordinator::group::event::Beat;
use crate::coordinator::group::record::Record;
use crate::coordinator::group::response::Beaten;
use crate::coordinator::group::{Effect, GroupError, GroupId, MemberId, Soft, Step};

use super::find::{Seat, find_or_make, replace_classic, seat};
use super::hash::metadata_hash;
use super::live;
use super::reconcile::Reconciliation;
use super::record::Change;
use super::state::{About, ConsumerGroup, Current, Member, MemberState, Partitions};
use super::subscription::Roster;
use super::{Refused, leave, regex, target};

/// A heartbeat: of a member that leaves (epochs -1 and -2), joins (0) or stays.
pub(in crate::coordinator::group) fn heartbeat(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    beat: &Beat,
) -> Result<Beaten, Refused> {
    let result = if beat.epoch < 0 { leave::leave(cx, soft, beat) } else { stay(cx, soft, beat) };
    if result.is_err() {
        cx.out.clear();
    }
    result
}

/// What a heartbeat changes, besides the records.
struct Decided {
    member: MemberId,
    before: Member,
    current: Current,
    about: Arc<About>,
    joins: bool,
    replaced: Option<MemberId>,
    resolve: Option<Vec<Arc<str>>>,
    knows_topics: bool,
}

fn stay(cx: &mut Step<'_>, soft: &mut Soft, beat: &Beat) -> Result<Beaten, Refused> {
    let known = soft.consumers.get_key_value(beat.group.as_str());
    let id: GroupId = known.map_or_else(|| beat.group.as_str().into(), |(id, _)| id.clone());
    let empty = ConsumerGroup::default();
    let group = find_or_make(cx, soft, &id, beat.epoch == 0, &empty)?;
    let decided = decide(cx, soft, &id, group, beat)?;
    if cx.out.records.iter().map(Record::size).sum::<usize>() > cx.settings.max_batch_bytes {
        return Err(GroupError::RecordsTooLarge.into());
    }
    replace_classic(cx, soft, &id);
    let interval_ms = cx.heartbeat_ms(&id);
    settle(cx, soft, &id, &decided);
    let full = beat.rebalance_timeout_ms != -1
        && (beat.topics.is_some() || beat.regex.is_some())
        && beat.owned.is_some();
    let has_news = beat.epoch == 0 || full || decided.before.current.assigned != decided.current.assigned;
    let share = || {
        let topics = decided.current.assigned.iter();
        topics.map(|(topic, partitions)| (*topic, partitions.keys().copied().collect())).collect()
    };
    Ok(Beaten {
        member: decided.member.clone(),
        epoch: decided.current.epoch,
        interval_ms,
        assignment: has_news.then(share),
    })
}

/// The records of a heartbeat. Nothing lives by it yet.
fn decide(
    cx: &mut Step<'_>,
    soft: &Soft,
    id: &GroupId,
    group: &ConsumerGroup,
    beat: &Beat,
) -> Result<Decided, Refused> {
    let max = cx.settings.consumer.max_size;
    if group.members().len() >= max && group.member(&beat.member).is_none() {
        let message = format!("The consumer group has reached its maximum capacity of {max} members.");
        return Err(Refused::new(GroupError::GroupFull, message));
    }
    let live = soft.consumers.get(id);
    let seat = seat(group, id, beat)?;
    let joins = !matches!(seat, Seat::Known(..));
    let mut replaced = None;
    let (member, before) = match seat {
        Seat::Known(member, before) => (member.clone(), before.clone()),
        Seat::New(member) => (member, Member::default()),
        Seat::Returns(member, old_id, old) => {
            replaced = Some(old_id.clone());
            let back = Member {
                current: Current { epoch: 0, previous_epoch: 0, ..old.current.clone() },
                ..old.clone()
            };
            take_over(cx, id, group, old_id, &member, &back);
            (member, back)
        }
    };
    let changed = changed_about(&before.about, beat);
    if let Some(about) = &changed {
        cx.consumer_record(id, Change::Member(member.clone(), Some(about.clone())));
    }
    let about = changed.unwrap_or_else(|| before.about.clone());
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
            let subscribed = roster.topic_ids(&about, &**cx.cluster);
            next_current(
                group,
                beat,
                &before.current,
                target_epoch,
                &target,
                &subscribed,
                subscription_changed,
            )
        }
    };
    if current != before.current {
        cx.consumer_record(id, Change::Current(member.clone(), Some(current.clone())));
    }
    let knows_topics = true;
    Ok(Decided { member, before, current, about, joins, replaced, resolve: regexes.resolve, knows_topics })
}

fn next_current(
    group: &ConsumerGroup,
    beat: &Beat,
    current: &Current,
    target_epoch: i32,
    target: &Partitions,
    subscribed: &BTreeSet<crate::ids::Uuid>,
    subscription_changed: bool,
) -> Current {
    let step = Reconciliation {
        target_epoch,
        target,
        subscribed,
        subscription_changed,
        owned: beat.owned.as_deref(),
        is_taken: &|topic, partition| group.owner(topic, partition).is_some(),
    };
    step.next(current)
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
    let hash = metadata_hash(&**cx.cluster, &roster.names());
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

/// What the member says of itself from now on; none if that is what it has said before.
fn changed_about(before: &Arc<About>, beat: &Beat) -> Option<Arc<About>> {
    let differs =
        |said: &Option<String>, has: &Option<Arc<str>>| said.is_some() && said.as_deref() != has.as_deref();
    let topics =
        || beat.topics.iter().flatten().map(|topic| Arc::from(topic.as_str())).collect::<BTreeSet<_>>();
    let same = *before.client_id == *beat.client_id
        && *before.client_host == *beat.client_host
        && !differs(&beat.instance, &before.instance)
        && !differs(&beat.rack, &before.rack)
        && !differs(&beat.assignor, &before.assignor)
        && beat.regex.as_ref().is_none_or(|regex| **regex == *before.regex)
        && (beat.rebalance_timeout_ms == -1 || beat.rebalance_timeout_ms == before.rebalance_timeout_ms)
        && (beat.topics.is_none() || topics() == before.topics)
        && before.classic.is_none();
    if same {
        return None;
    }
    let or = |said: &Option<String>, has: &Option<Arc<str>>| {
        said.as_deref().map(Arc::from).or_else(|| has.clone())
    };
    Some(Arc::new(About {
        instance: or(&beat.instance, &before.instance),
        rack: or(&beat.rack, &before.rack),
        client_id: beat.client_id.as_str().into(),
        client_host: beat.client_host.as_str().into(),
        topics: if beat.topics.is_some() { topics() } else { before.topics.clone() },
        regex: beat.regex.as_deref().map_or_else(|| before.regex.clone(), Arc::from),
        rebalance_timeout_ms: match beat.rebalance_timeout_ms {
            -1 => before.rebalance_timeout_ms,
            timeout_ms => timeout_ms,
        },
        assignor: or(&beat.assignor, &before.assignor),
        classic: None,
    }))
}

/// What was decided lives.
fn settle(cx: &mut Step<'_>, soft: &mut Soft, id: &GroupId, decided: &Decided) {
    let Decided { member, current, before, about, .. } = decided;
    if decided.joins {
        info!(group = %id, %member, epoch = current.epoch, "a member joins");
    }
    let session_ms = cx.session_ms(id);
    let live = match soft.consumers.get_mut(id) {
        Some(live) => live,
        None => soft.consumers.entry(id.clone()).or_default(),
    };
    if let Some(old) = &decided.replaced {
        live::forget(cx, live, id, old);
    }
    live.knows_topics |= decided.knows_topics;
    live::touch(cx, live, id, member, session_ms);
    if current != &before.current {
        let unrevoked = current.state == MemberState::Unrevoked;
        let within = unrevoked.then_some((current.epoch, about.rebalance_timeout_ms));
        live::watch_revocation(cx, live, id, member, within);
    }
    if let Some(regexes) = decided.resolve.clone() {
        live.resolving = true;
        cx.out.effects.push(Effect::Resolve { group: id.clone(), regexes, cluster: cx.cluster.clone() });
    }
}
