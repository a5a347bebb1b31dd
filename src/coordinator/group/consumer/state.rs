//! A consumer group (KIP-848) as its records say. All of it is durable; sessions are in [`super::live`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use crate::coordinator::group::MemberId;
use crate::ids::{TopicName, Uuid};

/// Partitions by topic.
pub type Partitions = BTreeMap<Uuid, BTreeSet<i32>>;

/// Partitions by topic, each with the epoch in which its member got it (KIP-1251).
pub type Owned = BTreeMap<Uuid, BTreeMap<i32, i32>>;

/// The epochs of a group before anything is recorded of them.
pub const FIRST_EPOCH: i32 = 1;

/// A static member that is away and keeps its place.
pub const AWAY: i32 = -2;

/// Kafka's names of what a group is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    /// No members.
    Empty,
    /// Something changed and no assignment takes account of it yet.
    Assigning,
    /// Members are on their way to the assignment.
    Reconciling,
    /// Every member has its share.
    Stable,
}

impl GroupState {
    /// Kafka's name.
    pub fn name(self) -> &'static str {
        match self {
            GroupState::Empty => "Empty",
            GroupState::Assigning => "Assigning",
            GroupState::Reconciling => "Reconciling",
            GroupState::Stable => "Stable",
        }
    }
}

/// How far a member is on its way to its target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemberState {
    /// It has all it can have in its epoch.
    #[default]
    Stable,
    /// It must give something up first.
    Unrevoked,
    /// It waits for what others must give up.
    Unreleased,
    /// Written by a later version.
    Unknown,
}

impl MemberState {
    /// The number in the record.
    pub fn code(self) -> i8 {
        match self {
            MemberState::Stable => 0,
            MemberState::Unrevoked => 1,
            MemberState::Unreleased => 2,
            MemberState::Unknown => 127,
        }
    }

    /// From the number in the record.
    pub fn from_code(code: i8) -> MemberState {
        match code {
            0 => MemberState::Stable,
            1 => MemberState::Unrevoked,
            2 => MemberState::Unreleased,
            _ => MemberState::Unknown,
        }
    }
}

/// What a member says of itself, `ConsumerGroupMemberMetadataValue`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// `group.instance.id`.
    pub instance: Option<Arc<str>>,
    /// `client.rack`.
    pub rack: Option<Arc<str>>,
    /// As the connection said.
    pub client_id: Arc<str>,
    /// Address.
    pub client_host: Arc<str>,
    /// Topics by name.
    pub topics: BTreeSet<TopicName>,
    /// Topics by pattern; empty for none.
    pub regex: Arc<str>,
    /// Milliseconds it may take to give partitions up.
    pub rebalance_timeout_ms: i32,
    /// The assignor it prefers.
    pub assignor: Option<Arc<str>>,
    /// It speaks the classic protocol.
    pub classic: Option<Classic>,
}

/// What a member that speaks the classic protocol said when it joined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Classic {
    /// Milliseconds it may be silent.
    pub session_timeout_ms: i32,
    /// Names and metadata, preferred first.
    pub protocols: Vec<(Arc<str>, Bytes)>,
}

/// What a member has, `ConsumerGroupCurrentMemberAssignmentValue`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Current {
    /// The member's epoch; 0 before it has one, [`AWAY`] for a static member that left for a while.
    pub epoch: i32,
    /// The epoch before the last change.
    pub previous_epoch: i32,
    /// How far it is.
    pub state: MemberState,
    /// What it may read.
    pub assigned: Arc<Owned>,
    /// What it must give up.
    pub revoking: Arc<Owned>,
}

impl Current {
    /// It has what the target of that epoch gives it.
    pub fn is_reconciled(&self, target_epoch: i32) -> bool {
        self.state == MemberState::Stable && self.epoch == target_epoch
    }
}

/// A member.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    /// What it says of itself.
    pub about: Arc<About>,
    /// What it has.
    pub current: Current,
}

/// A regular expression and the topics it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// Topics that matched.
    pub topics: BTreeSet<TopicName>,
    /// Version of the metadata that was looked at.
    pub version: i64,
    /// Wall milliseconds of the look.
    pub at_ms: i64,
}

/// A consumer group.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerGroup {
    /// Counts changes of members, subscriptions and topics.
    pub epoch: i32,
    /// Hash over the subscribed topics, to see them change.
    pub metadata_hash: i64,
    /// The group epoch that the targets take account of.
    pub assignment_epoch: i32,
    /// Wall milliseconds of the last assignment; 0 for none.
    pub assigned_at_ms: i64,
    pub(super) members: BTreeMap<MemberId, Member>,
    pub(super) targets: BTreeMap<MemberId, Arc<Partitions>>,
    pub(super) statics: BTreeMap<Arc<str>, MemberId>,
    pub(super) regexes: BTreeMap<Arc<str>, Resolved>,
    pub(super) owners: BTreeMap<Uuid, BTreeMap<i32, MemberId>>,
    pub(super) names: BTreeMap<TopicName, usize>,
    pub(super) patterns: BTreeMap<Arc<str>, usize>,
}

impl Default for ConsumerGroup {
    fn default() -> ConsumerGroup {
        ConsumerGroup {
            epoch: FIRST_EPOCH,
            metadata_hash: 0,
            assignment_epoch: FIRST_EPOCH,
            assigned_at_ms: 0,
            members: BTreeMap::new(),
            targets: BTreeMap::new(),
            statics: BTreeMap::new(),
            regexes: BTreeMap::new(),
            owners: BTreeMap::new(),
            names: BTreeMap::new(),
            patterns: BTreeMap::new(),
        }
    }
}

impl ConsumerGroup {
    /// Members by id.
    pub fn members(&self) -> &BTreeMap<MemberId, Member> {
        &self.members
    }

    /// A member.
    pub fn member(&self, id: &str) -> Option<&Member> {
        self.members.get(id)
    }

    /// The member that has a `group.instance.id`.
    pub fn static_member(&self, instance: &str) -> Option<(&MemberId, &Member)> {
        self.members.get_key_value(self.statics.get(instance)?)
    }

    /// What a member is to have in the end; none if no assignment knew it.
    pub fn target(&self, member: &str) -> Option<&Arc<Partitions>> {
        self.targets.get(member)
    }

    /// Targets by member.
    pub fn targets(&self) -> &BTreeMap<MemberId, Arc<Partitions>> {
        &self.targets
    }

    /// Who has a partition or has not given it up yet.
    pub fn owner(&self, topic: Uuid, partition: i32) -> Option<&MemberId> {
        self.owners.get(&topic)?.get(&partition)
    }

    /// Regular expressions that have been looked up.
    pub fn regexes(&self) -> &BTreeMap<Arc<str>, Resolved> {
        &self.regexes
    }

    /// Regular expressions of members, and how many members have each.
    pub fn patterns(&self) -> &BTreeMap<Arc<str>, usize> {
        &self.patterns
    }

    /// What the group is doing.
    pub fn state(&self) -> GroupState {
        if self.members.is_empty() {
            GroupState::Empty
        } else if self.epoch > self.assignment_epoch {
            GroupState::Assigning
        } else if self.members.values().all(|member| member.current.is_reconciled(self.assignment_epoch)) {
            GroupState::Stable
        } else {
            GroupState::Reconciling
        }
    }

    /// Members that speak the classic protocol.
    pub fn classic_members(&self) -> impl Iterator<Item = (&MemberId, &Classic)> {
        self.members.iter().filter_map(|(id, member)| Some((id, member.about.classic.as_ref()?)))
    }

    /// The member has been promised something that another one has not given up yet.
    pub fn waits_for_others(&self, id: &str, member: &Member) -> bool {
        let target = self.targets.get(id).into_iter().flat_map(|target| target.iter());
        target.flat_map(|(topic, partitions)| partitions.iter().map(move |partition| (topic, partition))).any(
            |(topic, partition)| {
                let has = member.current.assigned.get(topic).is_some_and(|has| has.contains_key(partition));
                !has && self.owner(*topic, *partition).is_some()
            },
        )
    }

    /// A member reads the topic.
    pub fn is_subscribed_to(&self, topic: &str) -> bool {
        self.names.contains_key(topic)
            || self
                .regexes
                .iter()
                .any(|(regex, resolved)| self.patterns.contains_key(regex) && resolved.topics.contains(topic))
    }

    /// The assignor most members prefer, the first of the names if there is none.
    pub fn preferred_assignor<'a>(
        members: impl Iterator<Item = &'a About>,
        names: &'a [String],
    ) -> Option<&'a str> {
        let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
        for assignor in members.filter_map(|about| about.assignor.as_deref()) {
            *votes.entry(assignor).or_default() += 1;
        }
        let best = votes.iter().max_by_key(|(_, count)| **count).map(|(name, _)| *name);
        best.or_else(|| names.first().map(String::as_str))
    }
}
