//! What is written of a consumer group, and how each record changes it.

use std::sync::Arc;

use crate::coordinator::group::MemberId;

use super::state::{About, ConsumerGroup, Current, FIRST_EPOCH, Member, Owned, Partitions, Resolved};

/// A record of a consumer group; what has no value is deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// `ConsumerGroupMetadata`: the group's epoch and hash.
    Group(Option<(i32, i64)>),
    /// `ConsumerGroupPartitionMetadata`: old brokers wrote it, nobody reads it; true if it is there.
    PartitionMetadata(bool),
    /// `ConsumerGroupMemberMetadata`: what a member says of itself.
    Member(MemberId, Option<Arc<About>>),
    /// `ConsumerGroupTargetAssignmentMetadata`: the epoch of the targets and when they were computed.
    TargetEpoch(Option<(i32, i64)>),
    /// `ConsumerGroupTargetAssignmentMember`: what a member is to have.
    Target(MemberId, Option<Arc<Partitions>>),
    /// `ConsumerGroupCurrentMemberAssignment`: what a member has.
    Current(MemberId, Option<Current>),
    /// `ConsumerGroupRegularExpression`: topics that a pattern stands for.
    Regex(Arc<str>, Option<Resolved>),
}

impl Change {
    /// It makes the group if there is none yet.
    pub fn creates(&self) -> bool {
        match self {
            Change::Group(value) | Change::TargetEpoch(value) => value.is_some(),
            Change::PartitionMetadata(present) => *present,
            Change::Member(_, value) => value.is_some(),
            Change::Target(_, value) => value.is_some(),
            Change::Current(_, value) => value.is_some(),
            Change::Regex(_, value) => value.is_some(),
        }
    }

    /// About how many bytes it takes, besides the group's name and the record's frame.
    pub fn size(&self) -> usize {
        let text = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len());
        match self {
            Change::Group(_) | Change::PartitionMetadata(_) | Change::TargetEpoch(_) => 0,
            Change::Member(member, about) => {
                let about = about.as_ref().map_or(0, |about| {
                    let protocols = about.classic.iter().flat_map(|classic| &classic.protocols);
                    text(&about.instance)
                        + text(&about.rack)
                        + text(&about.assignor)
                        + about.client_id.len()
                        + about.client_host.len()
                        + about.regex.len()
                        + about.topics.iter().map(|topic| topic.len() + 4).sum::<usize>()
                        + protocols.map(|(name, data)| name.len() + data.len() + 12).sum::<usize>()
                });
                member.len() + about
            }
            Change::Target(member, target) => {
                let topics = target.iter().flat_map(|target| target.values());
                member.len() + topics.map(|partitions| 24 + 4 * partitions.len()).sum::<usize>()
            }
            Change::Current(member, current) => {
                let topics = current
                    .iter()
                    .flat_map(|current| current.assigned.values().chain(current.revoking.values()));
                member.len() + topics.map(|partitions| 32 + 8 * partitions.len()).sum::<usize>()
            }
            Change::Regex(regex, resolved) => {
                let topics = resolved.iter().flat_map(|resolved| &resolved.topics);
                regex.len() + topics.map(|topic| topic.len() + 4).sum::<usize>()
            }
        }
    }
}

impl ConsumerGroup {
    /// Takes a record into the truth.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Group(Some((epoch, hash))) => {
                self.epoch = epoch;
                self.metadata_hash = hash;
            }
            // The end of the group; its owner sees to that.
            Change::Group(None) | Change::PartitionMetadata(_) => {}
            Change::TargetEpoch(value) => {
                (self.assignment_epoch, self.assigned_at_ms) = value.unwrap_or((FIRST_EPOCH, 0));
            }
            Change::Member(id, Some(about)) => self.set_about(id, about),
            Change::Member(id, None) => self.forget(&id),
            Change::Target(id, Some(target)) => {
                self.targets.insert(id, target);
            }
            Change::Target(id, None) => {
                self.targets.remove(&id);
            }
            Change::Current(id, current) => self.set_current(&id, &current.unwrap_or_default()),
            Change::Regex(regex, Some(resolved)) => {
                self.regexes.insert(regex, resolved);
            }
            Change::Regex(regex, None) => {
                self.regexes.remove(&regex);
            }
        }
    }

    fn set_about(&mut self, id: MemberId, about: Arc<About>) {
        let before = self.members.get(&id).map(|member| member.about.clone());
        for topic in &about.topics {
            *self.names.entry(topic.clone()).or_default() += 1;
        }
        if !about.regex.is_empty() {
            *self.patterns.entry(about.regex.clone()).or_default() += 1;
        }
        if let Some(before) = before {
            self.forget_about(&id, &before);
        }
        if let Some(instance) = &about.instance {
            self.statics.insert(instance.clone(), id.clone());
        }
        self.members.entry(id).or_default().about = about;
    }

    fn forget_about(&mut self, id: &MemberId, about: &About) {
        for topic in &about.topics {
            if let Some(count) = self.names.get_mut(topic) {
                *count -= 1;
                if *count == 0 {
                    self.names.remove(topic);
                }
            }
        }
        if let Some(count) = self.patterns.get_mut(&about.regex) {
            *count -= 1;
            if *count == 0 {
                self.patterns.remove(&about.regex);
            }
        }
        if let Some(instance) = &about.instance
            && self.statics.get(instance) == Some(id)
        {
            self.statics.remove(instance);
        }
    }

    fn forget(&mut self, id: &MemberId) {
        self.targets.remove(id);
        if let Some(gone) = self.members.remove(id) {
            self.forget_about(id, &gone.about);
            self.release(id, &gone.current.assigned);
            self.release(id, &gone.current.revoking);
        }
    }

    fn set_current(&mut self, id: &MemberId, current: &Current) {
        let before = match self.members.get_mut(id) {
            Some(member) => std::mem::replace(&mut member.current, current.clone()),
            // What is left of a member whose end has been compacted away.
            None if current.epoch == 0 => return,
            None => {
                self.members.insert(id.clone(), Member::of(current.clone()));
                Current::default()
            }
        };
        self.release(id, &before.assigned);
        self.release(id, &before.revoking);
        self.occupy(id, &current.assigned);
        self.occupy(id, &current.revoking);
    }

    fn release(&mut self, id: &MemberId, owned: &Owned) {
        for (topic, partitions) in owned {
            let Some(owners) = self.owners.get_mut(topic) else { continue };
            for partition in partitions.keys() {
                if owners.get(partition) == Some(id) {
                    owners.remove(partition);
                }
            }
            if owners.is_empty() {
                self.owners.remove(topic);
            }
        }
    }

    fn occupy(&mut self, id: &MemberId, owned: &Owned) {
        for (topic, partitions) in owned {
            let owners = self.owners.entry(*topic).or_default();
            owners.extend(partitions.keys().map(|partition| (*partition, id.clone())));
        }
    }
}

impl Member {
    fn of(current: Current) -> Member {
        Member { current, ..Member::default() }
    }
}
