//! A classic group as it lives: members, who waits, which state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use crate::coordinator::group::java_hash::sort_like_hash_map;
use crate::coordinator::group::record::{GroupValue, MemberValue};
use crate::coordinator::group::response::JoinedMember;
use crate::coordinator::group::subscription::subscribed_topics;
use crate::coordinator::group::{GroupError, GroupId, MemberId};
use crate::coordinator::machine::ReplyId;
use crate::ids::TopicName;

/// Where a classic group is. A dead group is one that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No members.
    Empty,
    /// Members (re)join.
    PreparingRebalance,
    /// Members have joined, the leader's assignment is awaited.
    CompletingRebalance,
    /// Everybody has a share.
    Stable,
}

impl State {
    /// Kafka's name.
    pub fn name(self) -> &'static str {
        match self {
            State::Empty => "Empty",
            State::PreparingRebalance => "PreparingRebalance",
            State::CompletingRebalance => "CompletingRebalance",
            State::Stable => "Stable",
        }
    }

    /// The states that may come before it.
    fn may_follow(self, before: State) -> bool {
        match self {
            State::Empty | State::CompletingRebalance => before == State::PreparingRebalance,
            State::PreparingRebalance => before != State::PreparingRebalance,
            State::Stable => before == State::CompletingRebalance,
        }
    }
}

/// A member of a classic group.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Member id.
    pub id: MemberId,
    /// `group.instance.id` of a static member.
    pub instance: Option<Arc<str>>,
    /// As the connection said when it joined.
    pub client_id: Arc<str>,
    /// Address when it joined.
    pub client_host: Arc<str>,
    /// Milliseconds a rebalance waits for it.
    pub rebalance_timeout_ms: i32,
    /// Milliseconds it may be silent.
    pub session_timeout_ms: i32,
    /// Names and metadata, preferred first.
    pub protocols: Vec<(Arc<str>, Bytes)>,
    /// Its share.
    pub assignment: Bytes,
    /// Its JoinGroup, while that waits.
    pub joining: Option<ReplyId>,
    /// Its SyncGroup, while that waits.
    pub syncing: Option<ReplyId>,
    /// It has no answer to its first JoinGroup yet, so its session may end while it waits.
    pub is_new: bool,
    /// Monotonic milliseconds: when it is put out if it stays silent.
    pub session_ends_ms: u64,
    /// Monotonic milliseconds: when its timer looks at `session_ends_ms`, never later than that.
    pub timer_ms: Option<u64>,
}

impl Member {
    /// Its metadata for a protocol; empty if it does not know it.
    pub fn metadata(&self, protocol: Option<&str>) -> Bytes {
        self.protocols
            .iter()
            .find(|(name, _)| Some(name.as_ref()) == protocol)
            .map(|(_, metadata)| metadata.clone())
            .unwrap_or_default()
    }

    /// The protocols of a JoinGroup are the ones it already has, in the same order.
    pub fn matches(&self, protocols: &[(String, Bytes)]) -> bool {
        self.protocols.len() == protocols.len()
            && self.protocols.iter().zip(protocols).all(|(a, b)| *a.0 == *b.0 && a.1 == b.1)
    }
}

/// The wait of a group that was empty: it ends when nobody has come for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialDelay {
    /// Milliseconds of the wait under way.
    pub delay_ms: u64,
    /// Milliseconds that may still be added to it.
    pub remaining_ms: u64,
}

/// A classic group.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassicGroup {
    /// Group id.
    pub id: GroupId,
    state: State,
    since_ms: Option<i64>,
    /// None until somebody joins: a group that only has offsets.
    pub protocol_type: Option<Arc<str>>,
    /// The chosen protocol.
    pub protocol: Option<Arc<str>>,
    /// Counts completed joins.
    pub generation: i32,
    /// The leader.
    pub leader: Option<MemberId>,
    members: BTreeMap<MemberId, Member>,
    statics: BTreeMap<Arc<str>, MemberId>,
    /// Ids given out with MEMBER_ID_REQUIRED that have not come back yet.
    pub pending: BTreeSet<MemberId>,
    /// Who has not asked for its share yet in this generation.
    pub pending_sync: BTreeSet<MemberId>,
    joining: usize,
    /// How many members know a protocol.
    supported: BTreeMap<Arc<str>, usize>,
    /// The rebalance under way began in an empty group.
    pub initial: Option<InitialDelay>,
    /// Somebody joined since the initial wait began or was extended.
    pub new_member: bool,
    subscribed: Option<BTreeSet<TopicName>>,
}

impl ClassicGroup {
    /// An empty group.
    pub fn new(id: GroupId, since_ms: i64) -> ClassicGroup {
        ClassicGroup {
            id,
            state: State::Empty,
            since_ms: Some(since_ms),
            protocol_type: None,
            protocol: None,
            generation: 0,
            leader: None,
            members: BTreeMap::new(),
            statics: BTreeMap::new(),
            pending: BTreeSet::new(),
            pending_sync: BTreeSet::new(),
            joining: 0,
            supported: BTreeMap::new(),
            initial: None,
            new_member: false,
            subscribed: None,
        }
    }

    /// A group as its last record says.
    pub fn from_record(id: GroupId, value: &GroupValue) -> ClassicGroup {
        let mut group = ClassicGroup::new(id, 0);
        group.since_ms = (value.since_ms >= 0).then_some(value.since_ms);
        group.state = if value.members.is_empty() { State::Empty } else { State::Stable };
        group.protocol_type = (!value.protocol_type.is_empty()).then(|| value.protocol_type.clone());
        group.protocol = value.protocol.clone();
        group.generation = value.generation;
        for member in &value.members {
            let protocol = value.protocol.clone().unwrap_or_else(|| "".into());
            let rebalance_timeout_ms = if member.rebalance_timeout_ms < 0 {
                member.session_timeout_ms
            } else {
                member.rebalance_timeout_ms
            };
            group.add(Member {
                id: member.member.clone(),
                instance: member.instance.clone(),
                client_id: member.client_id.clone(),
                client_host: member.client_host.clone(),
                rebalance_timeout_ms,
                session_timeout_ms: member.session_timeout_ms,
                protocols: vec![(protocol, member.subscription.clone())],
                assignment: member.assignment.clone(),
                joining: None,
                syncing: None,
                is_new: false,
                session_ends_ms: 0,
                timer_ms: None,
            });
        }
        group.leader = value.leader.clone();
        group.compute_subscribed();
        group
    }

    /// A group whose members are there already and have voted.
    pub fn stable(
        id: GroupId,
        generation: i32,
        members: impl Iterator<Item = Member>,
        since_ms: i64,
    ) -> ClassicGroup {
        let mut group = ClassicGroup::new(id, since_ms);
        group.state = State::Stable;
        group.protocol_type = Some("consumer".into());
        group.generation = generation;
        members.for_each(|member| group.add(member));
        group.protocol = group.vote();
        group.compute_subscribed();
        group
    }

    /// The record that says what the group is now; shares of the members by `share`.
    pub fn to_record(&self, share: impl Fn(&Member) -> Bytes) -> GroupValue {
        let members = self.members.values().map(|member| MemberValue {
            member: member.id.clone(),
            instance: member.instance.clone(),
            client_id: member.client_id.clone(),
            client_host: member.client_host.clone(),
            rebalance_timeout_ms: member.rebalance_timeout_ms,
            session_timeout_ms: member.session_timeout_ms,
            subscription: member.metadata(self.protocol.as_deref()),
            assignment: share(member),
        });
        GroupValue {
            protocol_type: self.protocol_type.clone().unwrap_or_else(|| "".into()),
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: self.leader.clone(),
            since_ms: self.since_ms.unwrap_or(-1),
            members: members.collect(),
        }
    }

    /// Where it is.
    pub fn state(&self) -> State {
        self.state
    }

    /// Wall milliseconds of the last change of state.
    pub fn since_ms(&self) -> Option<i64> {
        self.since_ms
    }

    /// Goes on to another state.
    pub fn enter(&mut self, state: State, wall_ms: i64) {
        debug_assert!(state.may_follow(self.state), "{:?} after {:?}", state, self.state);
        self.state = state;
        self.since_ms = Some(wall_ms);
        if state != State::PreparingRebalance {
            self.initial = None;
            self.new_member = false;
        }
    }

    /// Members by id.
    pub fn members(&self) -> &BTreeMap<MemberId, Member> {
        &self.members
    }

    /// A member.
    pub fn member(&self, id: &str) -> Option<&Member> {
        self.members.get(id)
    }

    /// A member, to change anything but whether it waits and its protocols.
    pub fn member_mut(&mut self, id: &str) -> Option<&mut Member> {
        self.members.get_mut(id)
    }

    /// All members, to change anything but whether they wait and their protocols.
    pub fn members_mut(&mut self) -> impl Iterator<Item = &mut Member> {
        self.members.values_mut()
    }

    /// The member that has a `group.instance.id`.
    pub fn static_member(&self, instance: &str) -> Option<&MemberId> {
        self.statics.get(instance)
    }

    /// Members whose JoinGroup waits.
    pub fn joining(&self) -> usize {
        self.joining
    }

    /// It leads.
    pub fn is_leader(&self, member: &str) -> bool {
        self.leader.as_deref() == Some(member)
    }

    /// Adds a member; the first one sets the protocol type if there is none and leads.
    pub fn add(&mut self, member: Member) {
        if self.leader.is_none() {
            self.leader = Some(member.id.clone());
        }
        if let Some(instance) = &member.instance {
            self.statics.insert(instance.clone(), member.id.clone());
        }
        self.pending.remove(&member.id);
        self.joining += usize::from(member.joining.is_some());
        for (name, _) in &member.protocols {
            *self.supported.entry(name.clone()).or_default() += 1;
        }
        self.members.insert(member.id.clone(), member);
    }

    /// Takes a member or a pending member out. Another one leads if it led.
    pub fn remove(&mut self, id: &str) -> Option<Member> {
        self.pending.remove(id);
        self.pending_sync.remove(id);
        let member = self.members.remove(id)?;
        if let Some(instance) = &member.instance
            && self.statics.get(instance) == Some(&member.id)
        {
            self.statics.remove(instance);
        }
        self.joining -= usize::from(member.joining.is_some());
        self.forget_protocols(&member.protocols);
        if self.is_leader(id) {
            self.leader = self.members.keys().next().cloned();
        }
        Some(member)
    }

    fn forget_protocols(&mut self, protocols: &[(Arc<str>, Bytes)]) {
        for (name, _) in protocols {
            if let Some(count) = self.supported.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    self.supported.remove(name);
                }
            }
        }
    }

    /// Replaces what a member can do.
    pub fn set_protocols(&mut self, id: &str, protocols: &[(String, Bytes)]) {
        let Some(member) = self.members.get_mut(id) else { return };
        let new = protocols.iter().map(|(name, metadata)| (name.as_str().into(), metadata.clone())).collect();
        let old = std::mem::replace(&mut member.protocols, new);
        for (name, _) in &member.protocols {
            *self.supported.entry(name.clone()).or_default() += 1;
        }
        self.forget_protocols(&old);
    }

    /// The member's JoinGroup waits from now on; returns an earlier one that still did.
    pub fn wait_for_join(&mut self, id: &str, reply: ReplyId) -> Option<ReplyId> {
        let earlier = self.members.get_mut(id)?.joining.replace(reply);
        self.joining += usize::from(earlier.is_none());
        earlier
    }

    /// The member's JoinGroup does not wait any more.
    pub fn take_join(&mut self, id: &str) -> Option<ReplyId> {
        let waiting = self.members.get_mut(id)?.joining.take()?;
        self.joining -= 1;
        Some(waiting)
    }

    /// Everybody who is expected has joined.
    pub fn has_all_joined(&self) -> bool {
        self.members.len() == self.joining && self.pending.is_empty()
    }

    /// The longest rebalance timeout of the members, in milliseconds.
    pub fn rebalance_timeout_ms(&self) -> u64 {
        let longest = self.members.values().map(|member| member.rebalance_timeout_ms).max();
        longest.and_then(|ms| u64::try_from(ms).ok()).unwrap_or_default()
    }

    /// A newcomer speaks the group's protocol type and a protocol that everybody knows.
    pub fn supports(&self, protocol_type: &str, protocols: &[(String, Bytes)]) -> bool {
        if self.state == State::Empty {
            return !protocol_type.is_empty() && !protocols.is_empty();
        }
        let known = |name: &str| self.supported.get(name).copied().unwrap_or_default() == self.members.len();
        self.protocol_type.as_deref() == Some(protocol_type) && protocols.iter().any(|(name, _)| known(name))
    }

    /// The protocol most members prefer among those that all of them know.
    pub fn vote(&self) -> Option<Arc<str>> {
        let mut votes: BTreeMap<&Arc<str>, usize> = self
            .supported
            .iter()
            .filter(|(_, count)| **count == self.members.len())
            .map(|(name, _)| (name, 0))
            .collect();
        for member in self.members.values() {
            let choice = member.protocols.iter().map(|(name, _)| name).find(|name| votes.contains_key(name));
            if let Some(count) = choice.and_then(|name| votes.get_mut(name)) {
                *count += 1;
            }
        }
        // Kafka takes the first of the best as its hash table lists them.
        let mut votes: Vec<_> = votes.into_iter().filter(|(_, count)| *count > 0).collect();
        sort_like_hash_map(&mut votes, |(name, _)| name);
        let best = votes.iter().map(|(_, count)| *count).max()?;
        votes.into_iter().find(|(_, count)| *count == best).map(|(name, _)| name.clone())
    }

    /// Makes a member that has joined the leader if the old one has not. False if nobody has.
    pub fn elect_joined_leader(&mut self) -> bool {
        let Some(leader) = self.leader.as_ref().and_then(|leader| self.members.get(leader)) else {
            return false;
        };
        if leader.joining.is_some() {
            return true;
        }
        let joined =
            self.members.values().find(|member| member.joining.is_some()).map(|member| member.id.clone());
        if joined.is_some() {
            self.leader = joined;
            return true;
        }
        false
    }

    /// The next generation: chooses its protocol, or becomes empty.
    pub fn next_generation(&mut self, wall_ms: i64) {
        self.generation = self.generation.wrapping_add(1).max(0);
        self.pending_sync.clear();
        if self.members.is_empty() {
            self.protocol = None;
            self.enter(State::Empty, wall_ms);
        } else {
            self.protocol = self.vote();
            self.enter(State::CompletingRebalance, wall_ms);
        }
        self.compute_subscribed();
    }

    /// Members as the leader needs them.
    pub fn joined_members(&self) -> Vec<JoinedMember> {
        let protocol = self.protocol.as_deref();
        let members = self.members.values().map(|member| JoinedMember {
            member: member.id.clone(),
            instance: member.instance.clone(),
            metadata: member.metadata(protocol),
        });
        members.collect()
    }

    /// A member exists, and its `group.instance.id` is still its own.
    pub fn check_member(&self, member: &str, instance: Option<&str>) -> Result<(), GroupError> {
        if let Some(instance) = instance {
            match self.statics.get(instance) {
                None => return Err(GroupError::UnknownMember),
                Some(owner) if **owner != *member => return Err(GroupError::FencedInstance),
                Some(_) => {}
            }
        }
        if self.members.contains_key(member) { Ok(()) } else { Err(GroupError::UnknownMember) }
    }

    /// Members speak the consumers' protocol, so the topics they read can be known.
    pub fn is_of_consumers(&self) -> bool {
        self.protocol_type.as_deref() == Some("consumer")
    }

    /// What the members read, if that can be known.
    pub fn subscribed(&self) -> Option<&BTreeSet<TopicName>> {
        self.subscribed.as_ref()
    }

    /// A member reads the topic, or may read it for all that is known.
    pub fn is_subscribed_to(&self, topic: &str) -> bool {
        self.subscribed.as_ref().map_or_else(|| self.is_of_consumers(), |topics| topics.contains(topic))
    }

    fn compute_subscribed(&mut self) {
        self.subscribed = if self.protocol_type.is_none() {
            None
        } else if self.members.is_empty() {
            Some(BTreeSet::new())
        } else if self.is_of_consumers() && self.protocol.is_some() {
            let protocol = self.protocol.as_deref();
            let mut all = BTreeSet::new();
            let parsed = self.members.values().all(|member| {
                subscribed_topics(&member.metadata(protocol)).map(|topics| all.extend(topics)).is_some()
            });
            parsed.then_some(all)
        } else {
            None
        };
    }
}
