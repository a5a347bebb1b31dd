//! A consumer joins a classic group that has members: all of it becomes a consumer group (online upgrade of KIP-848).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::coordinator::group::classic::state::{ClassicGroup, State};
use crate::coordinator::group::record::Record;
use crate::coordinator::group::subscription::{Assignment, assignment, subscription};
use crate::coordinator::group::{GroupError, MemberId, Step, classic};

use super::Refused;
use super::hash::metadata_hash;
use super::record::Change;
use super::state::{About, Classic, ConsumerGroup, Current, MemberState, Owned, Partitions};

/// The classic group as a consumer group; its records are written. Its generation is the epoch, and everybody has
/// what the last leader gave.
pub(super) fn upgraded(cx: &mut Step<'_>, classic: &ClassicGroup) -> Result<ConsumerGroup, Refused> {
    let refuse = |why: &str| {
        let message = format!("Cannot upgrade classic group {} to consumer group because {why}.", classic.id);
        Refused::new(GroupError::GroupIdNotFound, message)
    };
    if !cx.settings.consumer.migration.upgrades {
        return Err(refuse("online upgrade is disabled"));
    }
    if !classic.is_of_consumers() {
        return Err(refuse("the group does not use the consumer embedded protocol"));
    }
    if classic.members().len() > cx.settings.consumer.max_size {
        return Err(refuse("the group size exceeds the consumer group maximum size"));
    }
    let protocol = classic.protocol.clone().or_else(|| classic.vote());
    let epoch = classic.generation;
    let mut abouts = Vec::new();
    let mut shares = Vec::new();
    for member in classic.members().values() {
        let malformed = || refuse("the embedded consumer protocol is malformed");
        let about = about(member, protocol.as_deref()).ok_or_else(malformed)?;
        let share = match member.assignment.is_empty() {
            true => Assignment::default(),
            false => assignment(&member.assignment).ok_or_else(malformed)?,
        };
        if share.has_user_data {
            return Err(refuse(
                "an unsupported custom assignor is in use. Please refer to the documentation or switch to a \
                 default assignor before re-attempting the upgrade",
            ));
        }
        abouts.push((member.id.clone(), Arc::new(about)));
        shares.push((member.id.clone(), ids_of(cx, share)));
    }
    let names = abouts.iter().flat_map(|(_, about)| &about.topics).cloned().collect();
    // In the middle of a rebalance the shares are those of an earlier generation, or none: a hash that no topics have makes
    // sure of a new assignment, also where a static member takes its old place and changes nothing else.
    let hash = match classic.state() {
        State::Stable => metadata_hash(&**cx.cluster, &names),
        _ => 0,
    };
    cx.out.record(Record::Group { group: classic.id.clone(), value: None });
    let changes = changes(epoch, hash, abouts, shares);
    let mut group = ConsumerGroup::default();
    for change in changes {
        group.apply(change.clone());
        cx.consumer_record(&classic.id, change);
    }
    Ok(group)
}

/// Kafka's order of the records.
fn changes(
    epoch: i32,
    hash: i64,
    abouts: Vec<(MemberId, Arc<About>)>,
    shares: Vec<(MemberId, Arc<Partitions>)>,
) -> Vec<Change> {
    let mut changes: Vec<Change> =
        abouts.into_iter().map(|(member, about)| Change::Member(member, Some(about))).collect();
    changes.push(Change::Group(Some((epoch, hash))));
    changes.extend(shares.iter().map(|(member, share)| Change::Target(member.clone(), Some(share.clone()))));
    // No assignor has run: the first assignment need not wait.
    changes.push(Change::TargetEpoch(Some((epoch, 0))));
    changes.extend(shares.into_iter().map(|(member, share)| {
        let dated = |partitions: &BTreeSet<i32>| partitions.iter().map(|p| (*p, epoch)).collect();
        let assigned: Owned = share.iter().map(|(topic, partitions)| (*topic, dated(partitions))).collect();
        let current = Current {
            epoch,
            previous_epoch: epoch,
            state: MemberState::Stable,
            assigned: Arc::new(assigned),
            revoking: Arc::default(),
        };
        Change::Current(member, Some(current))
    }));
    changes
}

fn about(member: &classic::state::Member, protocol: Option<&str>) -> Option<About> {
    let said = subscription(&member.metadata(protocol))?;
    Some(About {
        instance: member.instance.clone(),
        rack: said.rack_id.map(Arc::from),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        topics: said.topics.into_iter().map(Arc::from).collect(),
        regex: "".into(),
        rebalance_timeout_ms: member.rebalance_timeout_ms,
        assignor: None,
        classic: Some(Classic {
            session_timeout_ms: member.session_timeout_ms,
            protocols: member.protocols.clone(),
        }),
    })
}

/// Topics that are gone are left out.
fn ids_of(cx: &Step<'_>, share: Assignment) -> Arc<Partitions> {
    let mut by_id: Partitions = BTreeMap::new();
    for (topic, partitions) in share.topics {
        if let Some(topic) = cx.cluster.topic(&topic) {
            by_id.entry(topic.id).or_default().extend(partitions);
        }
    }
    Arc::new(by_id)
}
