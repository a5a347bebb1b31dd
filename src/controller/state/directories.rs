//! Log directories of brokers: which replica lies where, and what becomes of the replicas in one that fails.
//!
//! Some ids stand for none (KIP-858): see [`UNKNOWN`], [`UNASSIGNED`], [`LOST`].

use barnabas_protocol::messages::records::metadata::{BrokerRegistrationChangeRecord, PartitionChangeRecord};

use super::super::election::{Election, elect};
use super::super::image::{Image, NO_LEADER, PartitionImage};
use super::super::record::Record;
use super::Decision;
use super::features::ELR_VERSION;
use super::partitions::change;
use crate::ids::Uuid;

/// A replica from before directories had ids.
pub const UNKNOWN: Uuid = Uuid::ZERO;
/// A replica whose broker has several directories gets one when the broker has chosen it.
pub const UNASSIGNED: Uuid = reserved(1);
/// A replica whose directory is gone.
pub const LOST: Uuid = reserved(2);

const fn reserved(last: u8) -> Uuid {
    Uuid([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last])
}

/// Is an id one of those that stand for no directory?
pub fn is_reserved(id: Uuid) -> bool {
    u128::from_be_bytes(id.0) < 100
}

/// May a replica in this directory be used, if its broker has these?
pub fn is_online(directory: Uuid, working: &[Uuid]) -> bool {
    match directory {
        UNKNOWN | UNASSIGNED => true,
        LOST => false,
        // A registration from before directories had ids names none.
        other => working.is_empty() || working.contains(&other),
    }
}

/// A broker's directory has failed: its replicas there lead no more and are in sync no more.
pub fn failed(image: &Image, broker: i32, directory: Uuid) -> Decision<()> {
    let Some(known) = image.broker(broker).filter(|known| known.directories.contains(&directory)) else {
        return Decision::only(());
    };
    let working: Vec<Uuid> = known.directories.iter().copied().filter(|id| *id != directory).collect();
    let mut records: Vec<Record> = Vec::new();
    for topic in image.topics() {
        for partition in topic.partitions() {
            if partition.directory_of(broker) == Some(directory)
                && let Some(change) = without(image, topic.id, partition, broker)
            {
                records.push(change.into());
            }
        }
    }
    let change = BrokerRegistrationChangeRecord {
        broker_id: broker,
        broker_epoch: known.epoch,
        log_dirs: working,
        ..Default::default()
    };
    records.push(change.into());
    Decision { records, reply: () }
}

/// The change that takes a replica out of a partition's service; `None` if it has no part in it. The last one in sync
/// stays eligible: nobody else has everything.
pub(super) fn without(
    image: &Image,
    topic: Uuid,
    partition: &PartitionImage,
    broker: i32,
) -> Option<PartitionChangeRecord> {
    let in_sync = partition.isr.contains(&broker);
    if partition.leader != broker && !in_sync {
        return None;
    }
    let mut change = change(topic, partition.index);
    let left = PartitionImage {
        isr: partition.isr.iter().copied().filter(|id| *id != broker).collect(),
        ..partition.clone()
    };
    let others = |id: i32| id != broker && image.broker(id).is_some_and(|broker| broker.is_active());
    if partition.leader == broker {
        change.leader = elect(&left, others, Election::Any).leader;
    }
    let eligible = image.feature(ELR_VERSION) > 0;
    if in_sync && (eligible || !left.isr.is_empty()) {
        if left.isr.is_empty() {
            let mut elr = partition.elr.clone();
            elr.push(broker);
            change.eligible_leader_replicas = Some(elr);
            change.last_known_elr = (change.leader == NO_LEADER).then(|| vec![broker]);
        }
        change.isr = Some(left.isr);
    }
    Some(change)
}

#[cfg(test)]
mod tests {
    use barnabas_protocol::messages::records::metadata::{PartitionRecord, TopicRecord};

    use super::super::activation::Node;
    use super::super::story::{Story, node};
    use super::*;

    const TOPIC: Uuid = Uuid([3; 16]);
    const BAD: Uuid = Uuid([8; 16]);

    /// A node with two directories and a partition in each.
    fn two() -> (Story, Node) {
        let mut story = Story::started();
        let node = Node { directories: vec![Uuid([7; 16]), BAD], stopped_cleanly: true, ..node() };
        story.restart(&node);
        story.write(vec![TopicRecord { name: "t".into(), topic_id: TOPIC }.into()]);
        for (partition_id, directory) in [(0, Uuid([7; 16])), (1, BAD)] {
            let partition = PartitionRecord {
                partition_id,
                topic_id: TOPIC,
                replicas: vec![1],
                isr: vec![1],
                leader: 1,
                directories: vec![directory],
                ..Default::default()
            };
            story.write(vec![partition.into()]);
        }
        (story, node)
    }

    fn state(story: &Story, index: i32) -> (i32, Vec<i32>, Vec<i32>) {
        let partition = story.image().topic("t").unwrap().partition(index).unwrap();
        (partition.leader, partition.isr.clone(), partition.elr.clone())
    }

    #[test]
    fn a_failed_directory_takes_its_partitions_offline_until_it_is_back() {
        let (mut story, node) = two();
        story.run(|image, _| failed(image, 1, BAD));
        assert_eq!(story.image().broker(1).unwrap().directories, [Uuid([7; 16])]);
        assert_eq!(state(&story, 0), (1, vec![1], vec![]));
        assert_eq!(state(&story, 1), (NO_LEADER, vec![], vec![1]));
        let told_twice = failed(story.image(), 1, BAD);
        assert_eq!(told_twice.records, []);
        story.restart(&node);
        assert_eq!(state(&story, 1), (1, vec![1], vec![]));
        story.the_end();
    }

    #[test]
    fn a_directory_that_is_missing_at_the_start_has_failed() {
        let (mut story, node) = two();
        let without = Node { directories: vec![Uuid([7; 16])], ..node.clone() };
        story.restart(&without);
        assert_eq!(state(&story, 0), (1, vec![1], vec![]));
        assert_eq!(state(&story, 1), (NO_LEADER, vec![], vec![1]));
        story.restart(&Node { stopped_cleanly: false, ..without });
        assert_eq!(state(&story, 1), (NO_LEADER, vec![], vec![1]));
        story.restart(&node);
        assert_eq!(state(&story, 1), (1, vec![1], vec![]));
        story.the_end();
    }

    #[test]
    fn without_eligible_leaders_the_last_one_stays_in_sync() {
        let (mut story, _) = two();
        let mut image = story.image().clone();
        image.features.remove_mut(ELR_VERSION);
        let partition = image.topic("t").unwrap().partition(1).unwrap();
        let change = without(&image, TOPIC, partition, 1).unwrap();
        assert_eq!((change.leader, change.isr, change.eligible_leader_replicas), (NO_LEADER, None, None));
        story.write(vec![]);
        story.the_end();
    }

    #[test]
    fn ids_that_stand_for_none() {
        assert!(is_online(UNASSIGNED, &[BAD]) && is_online(UNKNOWN, &[BAD]) && is_online(BAD, &[]));
        assert!(!is_online(LOST, &[]) && !is_online(Uuid([7; 16]), &[BAD]));
        assert!(is_reserved(LOST) && !is_reserved(BAD));
    }
}
