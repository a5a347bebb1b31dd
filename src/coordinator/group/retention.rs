//! Offsets that nobody needs any more (KIP-211).
//!
//! A group's clock starts when it empties; that of a consumer which only commits, at the commit. A living group
//! loses offsets of topics that no member reads any more, if that can be known.

use tracing::info;

use crate::ids::TopicName;

use super::classic::state::{ClassicGroup, State};
use super::delete::tombstone;
use super::record::{OffsetValue, Record};
use super::{GroupId, Soft, Step, TimerKey};

/// Half a batch at a time: what is left waits for the next look, which comes at once.
const SHARE_OF_BATCH: usize = 2;

/// Deletes what has expired, and the groups that have nothing left.
pub(super) fn expire(cx: &mut Step<'_>, soft: &mut Soft) {
    let mut room = cx.settings.max_batch_bytes / SHARE_OF_BATCH;
    let (mut offsets, mut full) = (0_usize, false);
    let mut dead: Vec<GroupId> = Vec::new();
    for group in soft.groups.values() {
        let (expired, all) = expired_of(cx, group);
        for (topic, partition) in expired {
            let record = tombstone(&group.id, topic, partition);
            full |= record.size() > room;
            if full {
                break;
            }
            room -= record.size();
            offsets += 1;
            cx.out.records.push(record);
        }
        let end = Record::Group { group: group.id.clone(), value: None };
        if !full && all && group.state() == State::Empty && group.pending.is_empty() {
            full = end.size() > room;
            if !full {
                room -= end.size();
                dead.push(group.id.clone());
                cx.out.records.push(end);
            }
        }
        if full {
            break;
        }
    }
    if offsets > 0 || !dead.is_empty() {
        info!(offsets, groups = dead.len(), "expired offsets and groups removed");
    }
    for id in dead {
        soft.groups.remove(&id);
    }
    let wait_ms = if full { 0 } else { cx.settings.offsets_retention_check_ms };
    cx.out.arm(TimerKey::Retention, cx.now.mono_ms.saturating_add(wait_ms));
}

/// The expired offsets of a group, and whether that is all it has.
fn expired_of<'a>(cx: &Step<'a>, group: &ClassicGroup) -> (Vec<(&'a TopicName, i32)>, bool) {
    let hard = cx.hard;
    let mut all = hard.pending(&group.id).next().is_none();
    let mut expired = Vec::new();
    for (topic, partitions) in hard.offsets(&group.id) {
        for (partition, value) in partitions {
            if !hard.is_pending(&group.id, topic, partition) && is_expired(cx, group, topic, value) {
                expired.push((topic, partition));
            } else {
                all = false;
            }
        }
    }
    (expired, all)
}

fn is_expired(cx: &Step<'_>, group: &ClassicGroup, topic: &TopicName, value: &OffsetValue) -> bool {
    let since_ms = match (&group.protocol_type, group.state()) {
        (None, _) => value.commit_ms,
        (Some(_), State::Empty) => group.since_ms().unwrap_or(value.commit_ms),
        (Some(_), State::Stable) if group.is_of_consumers() && group.subscribed().is_some() => {
            if group.is_subscribed_to(topic) {
                return false;
            }
            value.commit_ms
        }
        (Some(_), _) => return false,
    };
    match value.expire_ms {
        Some(expire_ms) => cx.now.wall_ms >= expire_ms,
        None => cx.now.wall_ms.saturating_sub(since_ms) >= cx.settings.offsets_retention_ms,
    }
}
