use barnabas_protocol::messages::records::metadata::{
    ClientQuotaRecord, EntityData, FenceBrokerRecord, NoOpRecord, PartitionRecord, TopicRecord,
};

use super::super::story::{Story, fresh, node};
use super::super::{producer_ids, story};
use super::*;

const ID: Uuid = Uuid([3; 16]);

fn partition(leader: i32, isr: &[i32], elr: &[i32]) -> Vec<Record> {
    let topic = TopicRecord { name: "t".into(), topic_id: ID };
    let partition = PartitionRecord {
        partition_id: 0,
        topic_id: ID,
        replicas: vec![1],
        isr: isr.to_vec(),
        leader,
        leader_epoch: 4,
        partition_epoch: 6,
        directories: vec![Uuid([7; 16])],
        eligible_leader_replicas: Some(elr.to_vec()),
        ..Default::default()
    };
    vec![topic.into(), partition.into()]
}

#[test]
fn a_fresh_cluster_begins_with_its_features_and_its_broker() {
    let story = Story::started();
    let image = story.image();
    assert_eq!((image.feature("metadata.version"), image.feature("share.version")), (33, 2));
    assert_eq!(image.cluster_config()["min.insync.replicas"], "1");
    let broker = image.broker(1).unwrap();
    assert!(broker.is_active());
    let registration = story.log.iter().position(|record| matches!(record, Record::RegisterBroker(_)));
    assert_eq!(usize::try_from(broker.epoch).ok(), registration, "the epoch is the registration's offset");
    assert_eq!(image.controllers().count(), 1);
    story.the_end();
}

#[test]
fn after_a_crash_every_partition_gets_a_new_leader_epoch() {
    let mut story = Story::started();
    story.write(partition(1, &[1], &[]));
    story.restart(&Node { stopped_cleanly: true, ..node() });
    let epochs = |story: &Story| {
        let partition = story.image().topic("t").unwrap().partition(0).unwrap();
        (partition.leader, partition.leader_epoch, partition.partition_epoch)
    };
    assert_eq!(epochs(&story), (1, 4, 6));
    story.restart(&node());
    assert_eq!(epochs(&story), (1, 5, 7));
    story.the_end();
}

#[test]
fn partitions_that_kafka_left_without_a_leader_get_one() {
    let mut story = Story::started();
    story.write(partition(NO_LEADER, &[], &[1]));
    let fenced = FenceBrokerRecord { id: 1, epoch: 0 };
    story.write(vec![fenced.into(), NoOpRecord::default().into()]);
    assert!(!story.image().broker(1).unwrap().is_active());
    story.restart(&Node { stopped_cleanly: true, ..node() });
    let partition = story.image().topic("t").unwrap().partition(0).unwrap();
    assert_eq!((partition.leader, partition.leader_epoch), (1, 5));
    assert_eq!((&*partition.isr, &*partition.elr), (&[1][..], &[][..]));
    story.the_end();
}

#[test]
fn an_unfinished_transaction_is_aborted() {
    let mut story = Story::started();
    let before = story.image().clone();
    story.write(vec![BeginTransactionRecord::default().into()]);
    story.write(partition(1, &[1], &[]));
    let records = activate(&story.hard, &story::view(), &fresh(), &node(), 100);
    assert!(matches!(records[0], Record::AbortTransaction(_)));
    story.write(records[..1].to_vec());
    assert_eq!(*story.image(), before);
    story.the_end();
}

#[test]
fn what_is_not_understood_yet_is_kept() {
    let mut story = Story::started();
    let quota = |value, remove| {
        let entity = EntityData { entity_type: "user".into(), entity_name: None };
        ClientQuotaRecord { entity: vec![entity], key: "producer_byte_rate".into(), value, remove }
    };
    story.write(vec![quota(1.0, false).into(), quota(2.0, false).into()]);
    let kept: Vec<_> = super::super::to_records(story.image());
    assert_eq!(kept.iter().filter(|record| matches!(record, Record::ClientQuota(_))).count(), 1);
    story.write(vec![quota(0.0, true).into()]);
    assert_eq!(story.image().kept.size(), 0);
    story.the_end();
}

#[test]
fn producer_ids_come_in_blocks_that_never_overlap() {
    let mut story = Story::started();
    let first = story.run(|image, _| producer_ids::allocate(image, 1, 0)).unwrap();
    let second = story.run(|image, _| producer_ids::allocate(image, 1, 0)).unwrap();
    assert_eq!((first, second), (0..1000, 1000..2000));
    story.the_end();
}

#[test]
fn a_directory_of_another_version_is_left_alone() {
    // A log that has a metadata.version does not get the fresh cluster's records again.
    let mut story = Story::started();
    let before = story.log.len();
    story.restart(&node());
    let again = &story.log[before..];
    assert!(!again.iter().any(|record| matches!(record, Record::FeatureLevel(_) | Record::Config(_))));
    assert_eq!(story::nothing().image.topic_count(), 0);
    story.the_end();
}
