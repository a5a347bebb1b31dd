//! OffsetDelete, and offsets of topics that are gone.

use tracing::info;

use crate::coordinator::group::classic::state::State;
use crate::coordinator::group::delete::tombstone;
use crate::coordinator::group::event::DeleteOffsets;
use crate::coordinator::group::{GroupError, Soft, Step};
use crate::ids::TopicName;

/// Deletes offsets of topics that no member reads; returns the positions of topics that are read.
pub(in crate::coordinator::group) fn delete(
    cx: &mut Step<'_>,
    soft: &Soft,
    request: &DeleteOffsets,
) -> Result<Vec<usize>, GroupError> {
    let group = soft.groups.get(request.group.as_str()).ok_or(GroupError::GroupIdNotFound)?;
    if group.state() != State::Empty && !group.is_of_consumers() {
        // What members of another protocol read cannot be known.
        return Err(GroupError::NonEmptyGroup);
    }
    let mut read = Vec::new();
    for (position, (topic, partitions)) in request.topics.iter().enumerate() {
        if group.is_subscribed_to(topic) {
            read.push(position);
            continue;
        }
        for partition in partitions {
            if cx.hard.offset(&group.id, topic, *partition).is_some() {
                cx.out.record(tombstone(&group.id, topic, *partition));
            }
        }
    }
    Ok(read)
}

/// Topics have been deleted: what was committed for them must not meet a new topic of the same name.
pub(in crate::coordinator::group) fn forget_topics(cx: &mut Step<'_>, topics: &[TopicName]) {
    let groups: std::collections::BTreeSet<_> = cx.hard.groups_with_offsets().cloned().collect();
    let before = cx.out.records.len();
    for group in &groups {
        for (topic, partitions) in cx.hard.offsets(group).filter(|(topic, _)| topics.contains(topic)) {
            for (partition, _) in partitions {
                cx.out.record(tombstone(group, topic, partition));
            }
        }
        let pending = cx.hard.pending(group).filter(|(topic, _)| topics.contains(topic));
        for (topic, partition) in pending {
            if cx.hard.offset(group, topic, *partition).is_none() {
                cx.out.record(tombstone(group, topic, *partition));
            }
        }
    }
    let offsets = cx.out.records.len() - before;
    if offsets > 0 {
        info!(offsets, "offsets of deleted topics removed");
    }
}
