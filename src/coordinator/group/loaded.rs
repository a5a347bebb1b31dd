//! After the log has been replayed: the groups live again.

use tracing::info;

use super::classic::expire::touch;
use super::classic::rebalance::prepare;
use super::classic::state::ClassicGroup;
use super::consumer;
use super::{GroupId, Soft, Step, TimerKey};

/// Groups with their members, whose sessions start anew, and groups that only have offsets.
pub(super) fn loaded(cx: &mut Step<'_>) -> Soft {
    let mut soft = Soft::default();
    for (id, value) in cx.hard.groups() {
        let mut group = ClassicGroup::from_record(id.clone(), value);
        for member in group.members_mut() {
            touch(cx, id, member, None);
        }
        if group.members().len() > cx.settings.max_size {
            info!(group = %id, members = group.members().len(), "the group is larger than it may be");
            prepare(cx, &mut group, "the group is too large");
        }
        soft.groups.insert(id.clone(), group);
    }
    soft.newest_topics = cx.cluster.version();
    for (id, group) in cx.hard.consumers() {
        let live = consumer::live::loaded(cx, id, group);
        soft.consumers.insert(id.clone(), live);
    }
    let lone: Vec<GroupId> = cx.hard.groups_with_offsets().cloned().collect();
    for id in lone {
        if cx.hard.kind(&id).is_none() && cx.hard.consumer(&id).is_none() {
            let wall_ms = cx.now.wall_ms;
            soft.groups.entry(id.clone()).or_insert_with(|| ClassicGroup::new(id, wall_ms));
        }
    }
    cx.out.arm(TimerKey::Retention, cx.now.mono_ms.saturating_add(cx.settings.offsets_retention_check_ms));
    soft
}
