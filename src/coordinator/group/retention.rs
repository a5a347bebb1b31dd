//! Offsets that nobody needs any more (KIP-211).
//!
//! A group's clock starts when it empties; that of a consumer which only commits, at the commit. A living group
//! loses offsets of topics that no member reads any more, if that can be known.

use tracing::info;

use crate::ids::TopicName;

use super::classic::state::{ClassicGroup, State};
use super::delete::tombstone;
use super::record::{OffsetValue, Record};
use super::{GroupId, Hard, Soft, Step, TimerKey, consumer};

/// Half a batch at a time: what is left waits for the next look, which comes at once.
const SHARE_OF_BATCH: usize = 2;

/// What has expired, as far as it fits into a batch.
struct Harvest<'a> {
    hard: &'a Hard,
    records: Vec<Record>,
    room: usize,
    full: bool,
    offsets: usize,
    dead: Vec<GroupId>,
}

impl Harvest<'_> {
    fn take(&mut self, records: Vec<Record>) -> bool {
        let size = records.iter().map(Record::size).sum::<usize>();
        self.full |= size > self.room;
        if !self.full {
            self.room -= size;
            self.records.extend(records);
        }
        !self.full
    }

    /// Takes the expired offsets of a group, and the group if it has nothing left and `end` says how it ends.
    fn reap(
        &mut self,
        id: &GroupId,
        end: Option<Vec<Record>>,
        is_expired: impl Fn(&TopicName, &OffsetValue) -> bool,
    ) {
        let hard = self.hard;
        let mut all = hard.pending(id).next().is_none();
        for (topic, partitions) in hard.offsets(id) {
            for (partition, value) in partitions {
                let expired = !hard.is_pending(id, topic, partition) && is_expired(topic, value);
                if expired && self.take(vec![tombstone(id, topic, partition)]) {
                    self.offsets += 1;
                } else {
                    all = false;
                }
            }
        }
        if let Some(end) = end.filter(|_| all && !self.full)
            && self.take(end)
        {
            self.dead.push(id.clone());
        }
    }
}

/// Deletes what has expired, and the groups that have nothing left.
pub(super) fn expire(cx: &mut Step<'_>, soft: &mut Soft) {
    let room = cx.settings.max_batch_bytes / SHARE_OF_BATCH;
    let mut harvest =
        Harvest { hard: cx.hard, records: Vec::new(), room, full: false, offsets: 0, dead: Vec::new() };
    for group in soft.groups.values() {
        let is_empty = group.state() == State::Empty && group.pending.is_empty();
        let end = is_empty.then(|| vec![Record::Group { group: group.id.clone(), value: None }]);
        harvest.reap(&group.id, end, |topic, value| is_expired(cx, group, topic, value));
    }
    for (id, group) in cx.hard.consumers() {
        let end = group.members().is_empty().then(|| consumer::leave::tombstones(id, group));
        harvest.reap(id, end, |topic, value| {
            !group.is_subscribed_to(topic) && is_old(cx, value, value.commit_ms)
        });
    }
    let Harvest { records, full, offsets, dead, .. } = harvest;
    if offsets > 0 || !dead.is_empty() {
        info!(offsets, groups = dead.len(), "expired offsets and groups removed");
    }
    cx.out.records.extend(records);
    for id in dead {
        soft.groups.remove(&id);
        soft.consumers.remove(&id);
    }
    let wait_ms = if full { 0 } else { cx.settings.offsets_retention_check_ms };
    cx.out.arm(TimerKey::Retention, cx.now.mono_ms.saturating_add(wait_ms));
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
    is_old(cx, value, since_ms)
}

fn is_old(cx: &Step<'_>, value: &OffsetValue, since_ms: i64) -> bool {
    match value.expire_ms {
        Some(expire_ms) => cx.now.wall_ms >= expire_ms,
        None => cx.now.wall_ms.saturating_sub(since_ms) >= cx.settings.offsets_retention_ms,
    }
}
