//! What becomes of a partition when its replicas come, go or fall behind: its leader, its ISR and its eligible
//! leaders (KIP-966).

use barnabas_protocol::messages::records::metadata::PartitionChangeRecord;

use super::super::election::{Election, elect};
use super::super::image::{Image, NO_LEADER, PartitionImage, ResourceKind, TopicImage};
use super::super::record::Record;
use super::features::ELR_VERSION;
use super::{View, partitions};

/// A partition as somebody wants it to be. Who leads is decided from that.
#[derive(Clone, Debug)]
pub struct Wish<'a> {
    topic: &'a TopicImage,
    partition: &'a PartitionImage,
    election: Election,
    /// Eligible leaders are kept (KIP-966).
    eligible: bool,
    min_isr: usize,
    /// What the ISR is to be.
    pub isr: Vec<i32>,
    /// Whether the leader still recovers from an unclean election.
    pub recovering: bool,
    /// A broker that came back without all that it had acknowledged.
    pub lost: Option<i32>,
}

/// Does the topic take a leader that may miss something, rather than none?
pub fn takes_unclean(image: &Image, view: &View<'_>, topic: &str) -> bool {
    setting(image, view, topic, "unclean.leader.election.enable").is_some_and(|value| value == "true")
}

/// `min.insync.replicas` as it counts for a topic.
fn min_isr(image: &Image, view: &View<'_>, topic: &str) -> usize {
    let value = setting(image, view, topic, "min.insync.replicas");
    value.and_then(|value| value.trim().parse().ok()).unwrap_or(1)
}

fn setting(image: &Image, view: &View<'_>, topic: &str, name: &str) -> Option<String> {
    let own = image.topic_config(topic).get(name);
    own.or_else(|| image.cluster_config().get(name))
        .cloned()
        .or_else(|| view.rules.default_value(ResourceKind::Topic, name))
}

impl<'a> Wish<'a> {
    /// As it is.
    pub fn new(
        image: &Image,
        view: &View<'_>,
        topic: &'a TopicImage,
        partition: &'a PartitionImage,
    ) -> Wish<'a> {
        let unclean = takes_unclean(image, view, &topic.name);
        Wish {
            topic,
            partition,
            election: if unclean { Election::Unclean } else { Election::Any },
            eligible: image.feature(ELR_VERSION) > 0,
            min_isr: min_isr(image, view, &topic.name),
            isr: partition.isr.clone(),
            recovering: partition.recovering,
            lost: None,
        }
    }

    /// The preferred leader is wanted.
    pub fn preferred(mut self) -> Wish<'a> {
        self.election = Election::Preferred;
        self
    }

    /// The change that fulfils it, as far as it can be; none if nothing changes.
    pub fn decide(self, may_lead: impl Fn(i32) -> bool) -> Option<PartitionChangeRecord> {
        let old = self.partition;
        let mut new = PartitionImage { isr: self.isr.clone(), elr: self.eligible_after(), ..old.clone() };
        let elected = elect(&new, may_lead, self.election);
        let mut change = partitions::change(self.topic.id, old.index);
        if elected.leader != old.leader {
            change.leader = elected.leader;
        }
        if elected.leader != NO_LEADER && !new.isr.contains(&elected.leader) {
            new.isr = vec![elected.leader];
            new.elr.retain(|id| !elected.unclean && *id != elected.leader);
        }
        let recovering = elected.unclean || self.recovering;
        if recovering != old.recovering {
            change.leader_recovery_state = i8::from(recovering);
        }
        // Without eligible leaders the last one in sync stays in the ISR, so that it is known who has everything.
        if new.isr != old.isr && (self.eligible || !new.isr.is_empty()) {
            change.isr = Some(new.isr);
        }
        if new.elr != old.elr {
            change.eligible_leader_replicas = Some(new.elr);
        }
        change.last_known_elr = self.last_known(&change, elected.leader);
        let nothing = partitions::change(self.topic.id, old.index);
        (change != nothing).then_some(change)
    }

    /// Who has everything that was committed without being in the ISR: those that left it while it was too small to
    /// commit anything.
    fn eligible_after(&self) -> Vec<i32> {
        let old = self.partition;
        if !self.eligible {
            return old.elr.clone();
        }
        if self.isr.len() >= self.min_isr.min(old.replicas.len()) {
            return Vec::new();
        }
        let mut eligible: Vec<i32> = old.elr.iter().chain(&old.isr).copied().collect();
        eligible.retain(|id| !self.isr.contains(id) && self.lost != Some(*id));
        eligible.sort_unstable();
        eligible.dedup();
        eligible
    }

    /// The leader is remembered when ISR and leader go, until there is one again.
    fn last_known(&self, change: &PartitionChangeRecord, leader: i32) -> Option<Vec<i32>> {
        let old = self.partition;
        let emptied = change.isr.as_ref().is_some_and(Vec::is_empty);
        if !self.eligible {
            None
        } else if emptied && old.leader != NO_LEADER && old.last_known_elr != [old.leader] {
            Some(vec![old.leader])
        } else if leader != NO_LEADER && !old.last_known_elr.is_empty() {
            Some(Vec::new())
        } else {
            None
        }
    }
}

/// How a change of one broker touches partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// It goes: it may not lead, and leaves every ISR.
    Gone(i32),
    /// It lost what was not flushed: it leaves every ISR and is no eligible leader.
    Lost(i32),
    /// It is there again: partitions without a leader may take it.
    Back(i32),
}

/// What a change of one broker means for the partitions, in the order of topics and partitions.
pub fn touched(image: &Image, view: &View<'_>, what: Touched) -> Vec<Record> {
    match what {
        Touched::Gone(id) => touched_where(image, view, what, |partition| partition.isr.contains(&id)),
        Touched::Lost(id) => touched_where(image, view, what, |partition| {
            partition.isr.contains(&id) || partition.elr.contains(&id)
        }),
        Touched::Back(_) => touched_where(image, view, what, |partition| partition.leader == NO_LEADER),
    }
}

/// The same for some partitions only.
pub fn touched_where(
    image: &Image,
    view: &View<'_>,
    what: Touched,
    concerned: impl Fn(&PartitionImage) -> bool,
) -> Vec<Record> {
    let (gone, back) = match what {
        Touched::Gone(id) | Touched::Lost(id) => (Some(id), None),
        Touched::Back(id) => (None, Some(id)),
    };
    let may_lead = |id: i32| {
        let active = || image.broker(id).is_some_and(|broker| broker.is_active());
        gone != Some(id) && (back == Some(id) || active())
    };
    let partitions = image
        .topics()
        .flat_map(|topic| topic.partitions().iter().map(move |partition| (topic, partition)))
        .filter(|(_, partition)| concerned(partition));
    let changes = partitions.filter_map(|(topic, partition)| {
        let mut wish = Wish::new(image, view, topic, partition);
        wish.isr.retain(|id| gone != Some(*id));
        wish.lost = gone.filter(|_| matches!(what, Touched::Lost(_)));
        wish.decide(may_lead)
    });
    changes.map(Record::from).collect()
}

/// Elections that give partitions back to their preferred leaders, `most` at once.
pub fn rebalance(image: &Image, view: &View<'_>, most: usize) -> Vec<Record> {
    let active = |id: i32| image.broker(id).is_some_and(|broker| broker.is_active());
    let displaced = |partition: &PartitionImage| {
        partition.leader != NO_LEADER
            && partition.replicas.first().is_some_and(|first| *first != partition.leader && active(*first))
    };
    let partitions = image
        .topics()
        .flat_map(|topic| topic.partitions().iter().map(move |partition| (topic, partition)))
        .filter(|(_, partition)| displaced(partition));
    let elections = partitions
        .filter_map(|(topic, partition)| Wish::new(image, view, topic, partition).preferred().decide(active));
    elections.take(most).map(Record::from).collect()
}

#[cfg(test)]
mod partition_change_test;
