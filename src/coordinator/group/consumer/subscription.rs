//! What a group's members read, with one member's word changed or some members gone.

use std::collections::BTreeSet;

use crate::coordinator::group::MemberId;
use crate::coordinator::group::view::Cluster;
use crate::ids::{TopicName, Uuid};

use super::state::{About, ConsumerGroup};

/// The group's members as they are once the records in hand are written.
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

    /// How many members.
    pub fn size(&self) -> usize {
        self.members().count()
    }

    /// All topics that any of them reads, by name; those of patterns as far as they are known.
    pub fn names(&self) -> BTreeSet<TopicName> {
        let mut names = BTreeSet::new();
        let mut patterns = BTreeSet::new();
        for (_, about) in self.members() {
            for topic in &about.topics {
                if !names.contains(topic) {
                    names.insert(topic.clone());
                }
            }
            if !about.regex.is_empty() && patterns.insert(&about.regex) {
                names.extend(self.of_pattern(about));
            }
        }
        names
    }

    fn of_pattern(&self, about: &About) -> impl Iterator<Item = TopicName> {
        self.group
            .regexes()
            .get(&about.regex)
            .into_iter()
            .flat_map(|resolved| resolved.topics.iter().cloned())
    }

    /// Ids of the topics a member reads, of those that exist.
    pub fn topic_ids(&self, about: &About, cluster: &dyn Cluster) -> BTreeSet<Uuid> {
        let by_pattern = self.of_pattern(about).filter(|_| !about.regex.is_empty());
        let names = about.topics.iter().cloned().chain(by_pattern);
        names.filter_map(|name| cluster.topic(&name)).map(|topic| topic.id).collect()
    }
}
