//! What becomes of a partition when its replicas come, go or fall behind: its leader, its ISR and its eligible
//! leaders (KIP-966).

use barnabas_protocol::messages::records::metadata::PartitionChangeRecord;

use super::super::election::{Election, elect};
use super::super::image::{Image, NO_LEADER, PartitionImage, TopicImage};
use super::super::record::Record;
use super::features::ELR_VERSION;
use super::{View, partitions};
use crate::ids::Uuid;

/// A partition as somebody wants it to be. Who leads is decided from that.
#[derive(Clone, Debug)]
pub struct Wish<'a> {
    topic: &'a TopicImage,
    partition: &'a PartitionImage,
    election: Election,
    /// Eligible leaders are kept (KIP-966).
    eligible: bool,
    min_isr: usize,
    image: &'a Image,
    /// Who is to hold it, the preferred leader first.
    pub replicas: Vec<i32>,
    /// Who of them is new, until all of these are in sync.
    pub adding: Vec<i32>,
    /// Who of them goes then.
    pub removing: Vec<i32>,
    /// What the ISR is to be.
    pub isr: Vec<i32>,
    /// Whether the leader still recovers from an unclean election.
    pub recovering: bool,
    /// A broker that came back without all that it had acknowledged.
    pub lost: Option<i32>,
}

/// Does the topic take a leader that may miss something, rather than none?
fn takes_unclean(image: &Image, view: &View<'_>, topic: &str) -> bool {
    let configured = setting(image, topic, "unclean.leader.election.enable");
    configured.map_or(view.unclean_leader_election, |value| value == "true")
}

/// `min.insync.replicas` as it counts for a topic.
fn min_isr(image: &Image, view: &View<'_>, topic: &str) -> usize {
    let configured = setting(image, topic, "min.insync.replicas");
    configured.and_then(|value| value.trim().parse().ok()).unwrap_or(view.min_insync_replicas)
}

/// What is configured for a topic or for all.
fn setting<'a>(image: &'a Image, topic: &str, name: &str) -> Option<&'a String> {
    image.topic_config(topic).get(name).or_else(|| image.cluster_config().get(name))
}

impl<'a> Wish<'a> {
    /// As it is.
    pub fn new(
        image: &'a Image,
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
            image,
            replicas: partition.replicas.clone(),
            adding: partition.adding.clone(),
            removing: partition.removing.clone(),
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
    pub fn decide(mut self, may_lead: impl Fn(i32) -> bool) -> Option<PartitionChangeRecord> {
        self.finish_move();
        let old = self.partition;
        let mut new = PartitionImage {
            replicas: self.replicas.clone(),
            isr: self.isr.clone(),
            elr: self.eligible_after(),
            ..old.clone()
        };
        let elected = elect(&new, may_lead, self.election);
        let mut change = partitions::change(self.topic.id, old.index);
        // Whoever reads from a replica that goes must learn it.
        let some_go = old.replicas.iter().any(|id| !new.replicas.contains(id));
        if elected.leader != old.leader || some_go {
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
        let if_new = |new: Vec<i32>, old: &Vec<i32>| (new != *old).then_some(new);
        if self.replicas != old.replicas {
            change.directories = Some(self.replicas.iter().map(|id| self.directory(*id)).collect());
        }
        change.replicas = if_new(self.replicas, &old.replicas);
        change.adding_replicas = if_new(self.adding, &old.adding);
        change.removing_replicas = if_new(self.removing, &old.removing);
        let nothing = partitions::change(self.topic.id, old.index);
        (change != nothing).then_some(change)
    }

    /// Once all that were to come are in sync, those that were to go are gone.
    fn finish_move(&mut self) {
        let moves = !self.adding.is_empty() || !self.removing.is_empty();
        let stay = |id: &i32| !self.removing.contains(id);
        let isr: Vec<i32> = self.isr.iter().copied().filter(stay).collect();
        if moves && !isr.is_empty() && self.adding.iter().all(|id| isr.contains(id)) {
            self.replicas.retain(|id| !self.removing.contains(id));
            self.isr = isr;
            self.adding.clear();
            self.removing.clear();
        }
    }

    fn directory(&self, id: i32) -> Uuid {
        let known = self.partition.directory_of(id);
        known.unwrap_or_else(|| partitions::directory(self.image, id))
    }

    /// Who has everything that was committed without being in the ISR: those that left it while it was too small to
    /// commit anything.
    fn eligible_after(&self) -> Vec<i32> {
        let old = self.partition;
        if !self.eligible {
            return old.elr.clone();
        }
        if self.isr.len() >= self.min_isr.min(self.replicas.len()) {
            return Vec::new();
        }
        let mut eligible: Vec<i32> = old.elr.iter().chain(&old.isr).copied().collect();
        eligible.retain(|id| !self.isr.contains(id) && self.lost != Some(*id) && self.replicas.contains(id));
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
