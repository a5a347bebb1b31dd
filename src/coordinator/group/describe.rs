//! ListGroups and DescribeGroups.

use super::classic::state::{ClassicGroup, State};
use super::consumer::Refused;
use super::event::List;
use super::response::{Described, DescribedMember, Listed};
use super::{GroupError, Hard, Kind, Soft};

/// The groups of this shard that pass the filters.
pub(super) fn list(hard: &Hard, soft: &Soft, filter: &List) -> Vec<Listed> {
    let wanted = |state: &str, kind: &str| {
        let passes = |filter: &[String], name: &str| {
            filter.is_empty() || filter.iter().any(|f| f.eq_ignore_ascii_case(name))
        };
        passes(&filter.states, state) && passes(&filter.types, kind)
    };
    let classic = soft.groups.values().map(|group| Listed {
        group: group.id.clone(),
        protocol_type: group.protocol_type.clone().unwrap_or_else(|| "".into()),
        state: group.state().name(),
        kind: Kind::Classic.name(),
    });
    // Groups of protocols that are not spoken here have no members here.
    let others = hard.kinds().map(|(group, kind)| Listed {
        group: group.clone(),
        protocol_type: kind.name().into(),
        state: State::Empty.name(),
        kind: kind.name(),
    });
    let consumers = hard.consumers().map(|(group, state)| Listed {
        group: group.clone(),
        protocol_type: Kind::Consumer.name().into(),
        state: state.state().name(),
        kind: Kind::Consumer.name(),
    });
    classic.chain(consumers).chain(others).filter(|group| wanted(group.state, group.kind)).collect()
}

/// A classic group with its members.
pub(super) fn describe(hard: &Hard, soft: &Soft, id: &str) -> Result<Described, Refused> {
    let group = soft.groups.get(id).ok_or_else(|| {
        let is_other = hard.consumer(id).is_some() || hard.kind(id).is_some();
        let why = if is_other { "is not a classic group" } else { "not found" };
        Refused::new(GroupError::GroupIdNotFound, format!("Group {id} {why}."))
    })?;
    let stable = group.state() == State::Stable;
    let nothing = || "".into();
    Ok(Described {
        state: group.state().name(),
        protocol_type: group.protocol_type.clone().unwrap_or_else(nothing),
        protocol: group.protocol.clone().filter(|_| stable).unwrap_or_else(nothing),
        members: members(group, stable),
    })
}

fn members(group: &ClassicGroup, stable: bool) -> Vec<DescribedMember> {
    // Between rebalances there is no chosen protocol, but the shares of old are still shown.
    let members = group.members().values().map(|member| DescribedMember {
        member: member.id.clone(),
        instance: member.instance.clone(),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        metadata: if stable { member.metadata(group.protocol.as_deref()) } else { Default::default() },
        assignment: member.assignment.clone(),
    });
    members.collect()
}
