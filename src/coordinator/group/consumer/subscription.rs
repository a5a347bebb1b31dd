//! What a group's members read, with one member's word changed or some members gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::coordinator::group::MemberId;
use crate::coordinator::group::view::Cluster;
use crate::ids::{TopicName, Uuid};

use super::hash::metadata_hash;
use super::state::{About, ConsumerGroup};

/// The group's members as they are once the records in hand are written.
#[derive(Clone, Copy)]
pub(super) struct Roster<'a> {
    /// As the records say.
    pub group: &'a ConsumerGroup,
    /// A new or changed member.
    pub changed: Option<(&'a MemberId, &'a About)>,
    /// Members that are gone.
    pub gone: &'a [MemberId],
}

impl<'a> Roster<'a> {
    /// Members in the order of their ids, the changed one last.
    pub fn members(&self) -> impl Iterator<Item = (&'a MemberId, &'a About)> {
        let (changed, gone) = (self.changed, self.gone);
        let others =
            self.group.members().iter().filter(move |(id, _)| {
                !gone.contains(id) && changed.is_none_or(|(changed, _)| changed != *id)
            });
        others.map(|(id, member)| (id, &*member.about)).chain(changed)
    }

    /// Nobody is left.
    pub fn is_empty(&self) -> bool {
        self.changed.is_none() && self.group.members().keys().all(|id| self.gone.contains(id))
    }

    /// What is on record and does not hold any more.
    fn outdated(&self) -> impl Iterator<Item = &'a About> {
        let gone = self.gone;
        let changed = self.changed.map(|(id, _)| id).filter(move |id| !gone.contains(id));
        let ids = gone.iter().chain(changed);
        ids.filter_map(|id| self.group.member(id)).map(|member| &*member.about)
    }

    /// Members' regular expressions.
    pub fn patterns(&self) -> BTreeSet<&'a Arc<str>> {
        let mut less: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
        for about in self.outdated() {
            *less.entry(&about.regex).or_default() += 1;
        }
        let stays =
            |(regex, count): &(&Arc<str>, &usize)| less.get(*regex).is_none_or(|less| *less < **count);
        let kept = self.group.patterns().iter().filter(stays).map(|(regex, _)| regex);
        let new = self.changed.map(|(_, about)| &about.regex).filter(|regex| !regex.is_empty());
        kept.chain(new).collect()
    }

    /// All topics that any of them reads, by name; those of patterns as far as they are known. By the group's counts: a
    /// large group is not looked through for each member that comes.
    pub fn names(&self) -> BTreeSet<TopicName> {
        let mut less: BTreeMap<&TopicName, usize> = BTreeMap::new();
        for topic in self.outdated().flat_map(|about| &about.topics) {
            *less.entry(topic).or_default() += 1;
        }
        let stays = |(name, count): &(&TopicName, &usize)| less.get(*name).is_none_or(|less| *less < **count);
        let kept = self.group.names.iter().filter(stays).map(|(name, _)| name);
        let new = self.changed.into_iter().flat_map(|(_, about)| &about.topics);
        let of_patterns = self.patterns().into_iter().flat_map(|regex| self.of_pattern(regex));
        kept.chain(new).chain(of_patterns).cloned().collect()
    }

    /// The hash over these topics. If the group's hash is known to hold (`is_known`), it is computed only when other
    /// topics are read than before: a topic may have thousands of partitions, and each member that comes or goes asks.
    pub fn metadata_hash(&self, cluster: &dyn Cluster, is_known: bool) -> i64 {
        let names = self.names();
        let before = Roster { changed: None, gone: &[], ..*self };
        if is_known && names == before.names() {
            return self.group.metadata_hash;
        }
        metadata_hash(cluster, &names)
    }

    fn of_pattern(&self, regex: &Arc<str>) -> impl Iterator<Item = &'a TopicName> {
        self.group.regexes().get(regex).into_iter().flat_map(|resolved| &resolved.topics)
    }

    /// Ids of the topics a member reads, of those that exist.
    pub fn topic_ids(&self, about: &About, cluster: &dyn Cluster) -> BTreeSet<Uuid> {
        let names = about.topics.iter().chain(self.of_pattern(&about.regex));
        names.filter_map(|name| cluster.topic(name)).map(|topic| topic.id).collect()
    }
}
