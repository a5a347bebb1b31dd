//! The target: what every member is to have, computed by an assignor.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tracing::info;

use crate::coordinator::group::assignor::{self, Subscriber};
use crate::coordinator::group::{GroupId, Step};
use crate::ids::Uuid;

use super::record::Change;
use super::state::{ConsumerGroup, Partitions};
use super::subscription::Roster;

/// The group has changed since its last assignment, and that is long enough ago.
pub(super) fn due(cx: &Step<'_>, id: &GroupId, group: &ConsumerGroup, epoch: i32) -> bool {
    let since_ms = cx.now.wall_ms.saturating_sub(group.assigned_at_ms);
    // A wall clock that was put back must not stop a group.
    epoch > group.assignment_epoch && (since_ms >= cx.assignment_interval_ms(id) || since_ms < 0)
}

/// Writes everybody's new target; returns that of the member whose heartbeat it is.
pub(super) fn assign(
    cx: &mut Step<'_>,
    id: &GroupId,
    roster: &Roster<'_>,
    epoch: i32,
    carried: &Arc<Partitions>,
) -> Arc<Partitions> {
    let changed = roster.changed.map(|(member, _)| member);
    let nothing: Arc<Partitions> = Arc::default();
    let mut by_subscription: BTreeMap<_, Arc<BTreeSet<Uuid>>> = BTreeMap::new();
    let members: Vec<_> = roster.members().collect();
    let subscribers: Vec<Subscriber<'_>> = members
        .iter()
        .map(|(member, about)| Subscriber {
            id: member,
            instance: about.instance.as_deref(),
            topics: by_subscription
                .entry((&about.topics, &about.regex))
                .or_insert_with(|| Arc::new(roster.topic_ids(about, &**cx.cluster)))
                .clone(),
            has: match changed == Some(*member) {
                true => carried,
                false => roster.group.target(member).unwrap_or(&nothing),
            },
        })
        .collect();
    let mut sizes = BTreeMap::new();
    for topic in by_subscription.values().flat_map(|topics| topics.iter()) {
        sizes.entry(*topic).or_insert_with(|| cx.cluster.topic_by_id(*topic).map_or(0, |t| t.partitions));
    }
    let names = &cx.settings.consumer.assignors;
    let abouts = members.iter().map(|(_, about)| *about);
    let preferred = ConsumerGroup::preferred_assignor(abouts, names).unwrap_or_default();
    let shares = assignor::assign(preferred, &subscribers, &sizes);
    let mut own = nothing.clone();
    for (subscriber, share) in subscribers.iter().zip(shares) {
        let is_own = changed.is_some_and(|changed| **changed == *subscriber.id);
        // A member that takes over another one's place has its target on record already.
        let known = (is_own && !roster.gone.is_empty()) || roster.group.target(subscriber.id).is_some();
        let share = if share == **subscriber.has { subscriber.has.clone() } else { Arc::new(share) };
        if is_own {
            own = share.clone();
        }
        if !known || share != *subscriber.has {
            cx.consumer_record(id, Change::Target(subscriber.id.into(), Some(share)));
        }
    }
    info!(group = %id, epoch, assignor = preferred, members = members.len(), "assigned");
    cx.consumer_record(id, Change::TargetEpoch(Some((epoch, cx.now.wall_ms))));
    own
}
