//! The last consumer goes from a group whose other members speak the classic protocol: it becomes a classic group
//! (online downgrade of KIP-848).

use bytes::Bytes;
use tracing::info;

use crate::coordinator::group::classic::expire::touch;
use crate::coordinator::group::classic::rebalance::prepare;
use crate::coordinator::group::classic::state::{self, ClassicGroup};
use crate::coordinator::group::record::Record;
use crate::coordinator::group::{GroupId, MemberId, Soft, Step};

use super::state::{Classic, ConsumerGroup, Member, Partitions};
use super::{classic, leave, live};

/// Without these members the group may and should be a classic one.
pub(super) fn is_due(cx: &Step<'_>, group: &ConsumerGroup, gone: &[MemberId]) -> bool {
    if !cx.settings.consumer.migration.downgrades {
        return false;
    }
    let mut stay = group.members().iter().filter(|(id, _)| !gone.contains(id)).peekable();
    stay.peek().is_some()
        && group.members().len().saturating_sub(gone.len()) <= cx.settings.max_size
        && stay.all(|(_, member)| member.about.classic.is_some())
}

/// Members leave, those who stay form a classic group and join again.
pub(super) fn without(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &GroupId,
    group: &ConsumerGroup,
    gone: &[MemberId],
) {
    // Not the target, which is what Kafka writes: nobody has been told of it, and whoever reads the record before all
    // have joined again (a consumer that turns the group back) would give away what others still read.
    let mut classic = turn(cx, soft, id, group, gone, held);
    prepare(cx, &mut classic, "the last consumer went");
    soft.groups.insert(id.clone(), classic);
}

/// The last consumer was static and has come back as a classic member: everybody has a share already, unless somebody
/// still reads what another is to have.
pub(super) fn replaced(cx: &mut Step<'_>, soft: &mut Soft, id: &GroupId, group: &ConsumerGroup) {
    if is_contested(group) {
        return without(cx, soft, id, group, &[]);
    }
    let target =
        |id: &MemberId, _: &Member| group.target(id).map(|target| (**target).clone()).unwrap_or_default();
    let classic = turn(cx, soft, id, group, &[], target);
    soft.groups.insert(id.clone(), classic);
}

/// The group as it will be once the records in hand are written.
pub(super) fn foresee(cx: &Step<'_>, id: &GroupId, group: &ConsumerGroup) -> ConsumerGroup {
    let mut group = group.clone();
    for record in &cx.out.records {
        if let Record::Consumer { group: of, change } = record
            && of == id
        {
            group.apply(change.clone());
        }
    }
    group
}

fn turn(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &GroupId,
    group: &ConsumerGroup,
    gone: &[MemberId],
    share_of: impl Fn(&MemberId, &Member) -> Partitions,
) -> ClassicGroup {
    info!(group = %id, epoch = group.epoch, "the group speaks the classic protocol from now on");
    live::forget_all(cx, soft, id);
    cx.out.records.extend(leave::tombstones(id, group));
    let stay = group.members().iter().filter(|(member, _)| !gone.contains(member));
    let members =
        stay.filter_map(|(member, state)| Some(member_of(member, state, state.about.classic.as_ref()?)));
    let mut turned = ClassicGroup::stable(id.clone(), group.epoch, members, cx.now.wall_ms);
    let protocol = turned.protocol.clone();
    for member in turned.members_mut() {
        let share =
            group.members().get(&member.id).map(|state| share_of(&member.id, state)).unwrap_or_default();
        member.assignment = classic::share(
            cx,
            &member.metadata(protocol.as_deref()),
            share.into_iter().map(|(topic, partitions)| (topic, partitions.into_iter().collect())),
        );
        touch(cx, id, member, None);
    }
    let value = turned.to_record(|member| member.assignment.clone());
    cx.out.record(Record::Group { group: id.clone(), value: Some(value) });
    turned
}

fn is_contested(group: &ConsumerGroup) -> bool {
    group.targets().iter().any(|(member, target)| {
        let mut places =
            target.iter().flat_map(|(topic, partitions)| partitions.iter().map(|p| (*topic, *p)));
        places.any(|(topic, partition)| group.owner(topic, partition).is_some_and(|owner| owner != member))
    })
}

/// What a member may read or has not given up yet.
fn held(_id: &MemberId, member: &Member) -> Partitions {
    let mut held = Partitions::new();
    for (topic, partitions) in member.current.assigned.iter().chain(member.current.revoking.iter()) {
        held.entry(*topic).or_default().extend(partitions.keys());
    }
    held
}

fn member_of(id: &MemberId, member: &Member, classic: &Classic) -> state::Member {
    state::Member {
        id: id.clone(),
        instance: member.about.instance.clone(),
        client_id: member.about.client_id.clone(),
        client_host: member.about.client_host.clone(),
        rebalance_timeout_ms: member.about.rebalance_timeout_ms,
        session_timeout_ms: classic.session_timeout_ms,
        protocols: classic.protocols.clone(),
        assignment: Bytes::new(),
        joining: None,
        syncing: None,
        is_new: false,
        session_ends_ms: 0,
        timer_ms: None,
    }
}
