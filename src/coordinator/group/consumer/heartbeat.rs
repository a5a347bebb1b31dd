//! ConsumerGroupHeartbeat: a member joins, stays and comes nearer to its target.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::coordinator::group::event::Beat;
use crate::coordinator::group::response::Beaten;
use crate::coordinator::group::{GroupId, Soft, Step};

use super::advance::{Decided, Word, advance, check_room, settle};
use super::find::{find_or_make, replace_classic, seat};
use super::state::{About, ConsumerGroup};
use super::{Refused, leave};

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

fn stay(cx: &mut Step<'_>, soft: &mut Soft, beat: &Beat) -> Result<Beaten, Refused> {
    let known = soft.consumers.get_key_value(beat.group.as_str());
    let id: GroupId = known.map_or_else(|| beat.group.as_str().into(), |(id, _)| id.clone());
    let group = find_or_make(cx, soft, &id, beat.epoch == 0)?;
    let decided = decide(cx, soft, &id, &group, beat)?;
    replace_classic(cx, soft, &id, &group);
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
    check_room(cx, group, &beat.member)?;
    let word = Word::of(seat(group, id, beat)?, |before| changed_about(before, beat), beat.owned.as_deref());
    advance(cx, soft, id, group, word)
}

/// What the member says of itself from now on.
fn changed_about(before: &Arc<About>, beat: &Beat) -> Arc<About> {
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
        return before.clone();
    }
    let or = |said: &Option<String>, has: &Option<Arc<str>>| {
        said.as_deref().map(Arc::from).or_else(|| has.clone())
    };
    Arc::new(About {
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
    })
}
