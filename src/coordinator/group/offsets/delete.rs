//! OffsetDelete, and offsets of topics that are gone.

use std::collections::BTreeSet;

use tracing::info;

use crate::coordinator::group::classic::state::State;
use crate::coordinator::group::delete::tombstone;
use crate::coordinator::group::event::DeleteOffsets;
use crate::coordinator::group::{GroupError, GroupId, Soft, Step, TimerKey};
use crate::ids::TopicName;

/// Deletes offsets of topics that no member reads; returns the positions of topics that are read.
pub(in crate::coordinator::group) fn delete(
    cx: &mut Step<'_>,
    soft: &Soft,
    request: &DeleteOffsets,
) -> Result<Vec<usize>, GroupError> {
    let consumers = cx.hard.consumer(&request.group);
    let classic = soft.groups.get(request.group.as_str());
    let group: GroupId = match (classic, consumers) {
        (Some(group), _) if group.state() != State::Empty && !group.is_of_consumers() => {
            // What members of another protocol read cannot be known.
            return Err(GroupError::NonEmptyGroup);
        }
        (Some(group), _) => group.id.clone(),
        (None, Some(_)) => request.group.as_str().into(),
        (None, None) => return Err(GroupError::GroupIdNotFound),
    };
    let is_subscribed_to = |topic: &str| match (classic, consumers) {
        (Some(group), _) => group.is_subscribed_to(topic),
        (None, group) => group.is_some_and(|group| group.is_subscribed_to(topic)),
    };
    let mut read = Vec::new();
    for (position, (topic, partitions)) in request.topics.iter().enumerate() {
        if is_subscribed_to(topic) {
            read.push(position);
            continue;
        }
        for partition in partitions {
            let pending = cx.hard.is_pending(&group, topic, *partition);
            if pending || cx.hard.offset(&group, topic, *partition).is_some() {
                cx.out.record(tombstone(&group, topic, *partition));
            }
        }
    }
    Ok(read)
}

/// Topics have been deleted: what was committed for them must not meet a new topic of the same name.
pub(in crate::coordinator::group) fn forget_topics(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    topics: Vec<TopicName>,
) {
    soft.gone_topics.extend(topics);
    // What does not fit into a batch follows at once.
    let (mut room, mut offsets, mut full) = (cx.settings.max_batch_bytes, 0_usize, false);
    let groups: BTreeSet<GroupId> = cx.hard.groups_with_offsets().cloned().collect();
    let gone = &soft.gone_topics;
    'all: for group in &groups {
        let committed = cx.hard.offsets(group).filter(|(topic, _)| gone.contains(*topic));
        let committed = committed.flat_map(|(topic, partitions)| partitions.map(move |(p, _)| (topic, p)));
        let pending = cx.hard.pending(group).map(|(topic, partition)| (topic, *partition));
        let only_pending = pending.filter(|(topic, partition)| {
            gone.contains(*topic) && cx.hard.offset(group, topic, *partition).is_none()
        });
        for (topic, partition) in committed.chain(only_pending) {
            let record = tombstone(group, topic, partition);
            if record.size() > room {
                full = true;
                break 'all;
            }
            room -= record.size();
            offsets += 1;
            cx.out.records.push(record);
        }
    }
    if offsets > 0 {
        info!(offsets, "offsets of deleted topics removed");
    }
    if full {
        cx.out.arm(TimerKey::GoneTopics, cx.now.mono_ms);
    } else {
        soft.gone_topics.clear();
    }
}
