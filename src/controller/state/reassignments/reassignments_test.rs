use barnabas_protocol::messages::AlterPartitionRequest;
use barnabas_protocol::messages::alter_partition::{BrokerState, RequestPartitionData, RequestTopicData};
use barnabas_protocol::messages::alter_partition_reassignments::ReassignableTopic;

use super::super::alter_partition;
use super::super::story::{Story, topic_id};
use super::*;

fn story() -> Story {
    let mut story = Story::started();
    for id in [2, 3, 4] {
        story.join(id);
    }
    story.topic("t", &[1, 2]);
    story
}

fn ask(story: &mut Story, replicas: Option<&[i32]>, any_factor: bool) -> ErrorCode {
    let partition = ReassignablePartition { partition_index: 0, replicas: replicas.map(<[i32]>::to_vec) };
    let topic = ReassignableTopic { name: "t".to_owned(), partitions: vec![partition] };
    let request = AlterPartitionReassignmentsRequest {
        topics: vec![topic],
        allow_replication_factor_change: any_factor,
        ..Default::default()
    };
    let reply = story.run(|image, view| alter(image, view, &request));
    ErrorCode::from_code(reply.responses[0].partitions[0].error_code).unwrap()
}

fn partition(story: &Story) -> PartitionImage {
    PartitionImage::clone(story.image().topic("t").unwrap().partition(0).unwrap())
}

/// The leader says who is in sync.
fn in_sync(story: &mut Story, isr: &[i32]) -> ErrorCode {
    let now = partition(story);
    let state =
        |id: &i32| BrokerState { broker_id: *id, broker_epoch: story.image().broker(*id).unwrap().epoch };
    let wanted = RequestPartitionData {
        leader_epoch: now.leader_epoch,
        partition_epoch: now.partition_epoch,
        new_isr_with_epochs: isr.iter().map(state).collect(),
        ..Default::default()
    };
    let request = AlterPartitionRequest {
        broker_id: now.leader,
        broker_epoch: story.image().broker(now.leader).unwrap().epoch,
        topics: vec![RequestTopicData { topic_id: topic_id("t"), partitions: vec![wanted] }],
    };
    let reply = story.run(|image, view| alter_partition::alter(image, view, &request)).unwrap();
    ErrorCode::from_code(reply.topics[0].partitions[0].error_code).unwrap()
}

#[test]
fn replicas_are_added_first_and_go_once_the_new_ones_are_in_sync() {
    let mut story = story();
    assert_eq!(ask(&mut story, Some(&[3, 4]), true), ErrorCode::None);
    let moving = partition(&story);
    assert_eq!((moving.replicas, moving.leader), (vec![3, 4, 1, 2], 1));
    assert_eq!((moving.adding, moving.removing), (vec![3, 4], vec![1, 2]));
    assert_eq!(in_sync(&mut story, &[1, 2, 3]), ErrorCode::None);
    assert_eq!(partition(&story).replicas.len(), 4, "one is missing");
    assert_eq!(in_sync(&mut story, &[1, 2, 3, 4]), ErrorCode::NewLeaderElected);
    let moved = partition(&story);
    assert_eq!((moved.replicas, moved.isr, moved.leader), (vec![3, 4], vec![3, 4], 3));
    assert!(moved.adding.is_empty() && moved.removing.is_empty());
    assert_eq!(moved.directories.len(), 2);
    story.the_end();
}

#[test]
fn a_leader_that_stays_gets_a_new_epoch_when_others_go() {
    let mut story = story();
    assert_eq!(ask(&mut story, Some(&[1]), true), ErrorCode::None);
    let moved = partition(&story);
    assert_eq!((moved.replicas, moved.isr, moved.leader, moved.leader_epoch), (vec![1], vec![1], 1, 1));
    story.the_end();
}

#[test]
fn a_move_can_be_called_off() {
    let mut story = story();
    assert_eq!(ask(&mut story, None, true), ErrorCode::NoReassignmentInProgress);
    ask(&mut story, Some(&[1, 3]), true);
    assert_eq!(in_sync(&mut story, &[1, 2]), ErrorCode::None);
    assert_eq!(ask(&mut story, None, true), ErrorCode::None);
    let back = partition(&story);
    assert_eq!((back.replicas, back.isr), (vec![1, 2], vec![1, 2]));
    assert!(back.adding.is_empty() && back.removing.is_empty());
    story.the_end();
}

#[test]
fn what_cannot_be_is_refused() {
    let mut story = story();
    assert_eq!(ask(&mut story, Some(&[1, 9]), true), ErrorCode::InvalidReplicaAssignment);
    assert_eq!(ask(&mut story, Some(&[]), true), ErrorCode::InvalidReplicaAssignment);
    assert_eq!(ask(&mut story, Some(&[1]), false), ErrorCode::InvalidReplicationFactor);
    story.the_end();
}
