use barnabas_protocol::messages::alter_partition::RequestTopicData;

use super::super::story::{Story, topic_id};
use super::*;

/// Three brokers; the topic is on all of them, led by the first.
fn story() -> Story {
    let mut story = Story::started();
    story.join(2);
    story.join(3);
    story.topic("t", &[1, 2, 3]);
    story
}

fn wanted(story: &Story, isr: &[i32]) -> RequestPartitionData {
    let partition = story.image().topic("t").unwrap().partition(0).unwrap();
    let state = |id: &i32| BrokerState {
        broker_id: *id,
        broker_epoch: story.image().broker(*id).map_or(-1, |b| b.epoch),
    };
    RequestPartitionData {
        leader_epoch: partition.leader_epoch,
        partition_epoch: partition.partition_epoch,
        new_isr_with_epochs: isr.iter().map(state).collect(),
        ..Default::default()
    }
}

fn ask(story: &mut Story, broker: i32, wanted: RequestPartitionData) -> (ErrorCode, i32) {
    let topic = RequestTopicData { topic_id: topic_id("t"), partitions: vec![wanted] };
    let broker_epoch = story.image().broker(broker).unwrap().epoch;
    let request = AlterPartitionRequest { broker_id: broker, broker_epoch, topics: vec![topic] };
    let reply = story.run(|image, view| alter(image, view, &request)).unwrap();
    let partition = &reply.topics[0].partitions[0];
    (ErrorCode::from_code(partition.error_code).unwrap(), partition.partition_epoch)
}

#[test]
fn the_leader_says_who_is_in_sync() {
    let mut story = story();
    let shrunk = wanted(&story, &[1, 3]);
    assert_eq!(ask(&mut story, 1, shrunk.clone()), (ErrorCode::None, 1));
    assert_eq!(story.image().topic("t").unwrap().partition(0).unwrap().isr, [1, 3]);
    assert_eq!(ask(&mut story, 1, shrunk).0, ErrorCode::InvalidUpdateVersion, "it was told before");
    let same = wanted(&story, &[1, 3]);
    assert_eq!(ask(&mut story, 1, same), (ErrorCode::None, 1), "nothing changes");
    let in_one_process = RequestPartitionData { new_isr: vec![1, 3, 2], ..wanted(&story, &[1, 3, 2]) };
    assert_eq!(ask(&mut story, 1, in_one_process), (ErrorCode::None, 2), "with and without epochs");
    story.the_end();
}

type Edit = fn(&mut RequestPartitionData);

#[test]
fn each_fault_has_its_code() {
    let mut story = story();
    story.fence(3, true);
    let edited = |story: &Story, isr: &[i32], edit: Edit| {
        let mut wanted = wanted(story, isr);
        edit(&mut wanted);
        wanted
    };
    let cases: &[(i32, &[i32], Edit, ErrorCode)] = &[
        (1, &[1], |wanted| wanted.leader_epoch = 9, ErrorCode::NotController),
        (1, &[1], |wanted| wanted.partition_epoch = 9, ErrorCode::NotController),
        (1, &[1], |wanted| wanted.leader_epoch = -1, ErrorCode::FencedLeaderEpoch),
        (2, &[1], |_| (), ErrorCode::InvalidRequest),
        (1, &[1], |wanted| wanted.partition_epoch = -1, ErrorCode::InvalidUpdateVersion),
        (1, &[2], |_| (), ErrorCode::InvalidRequest),
        (1, &[1, 1], |_| (), ErrorCode::InvalidRequest),
        (1, &[1, 7], |_| (), ErrorCode::InvalidRequest),
        (1, &[], |_| (), ErrorCode::InvalidRequest),
        (1, &[1], |wanted| wanted.leader_recovery_state = 1, ErrorCode::InvalidRequest),
        (1, &[1], |wanted| wanted.partition_index = 5, ErrorCode::UnknownTopicOrPartition),
        (1, &[1, 3], |_| (), ErrorCode::IneligibleReplica),
        (1, &[1, 2], |wanted| wanted.new_isr_with_epochs[1].broker_epoch += 1, ErrorCode::IneligibleReplica),
    ];
    for (at, (broker, isr, edit, code)) in cases.iter().enumerate() {
        let wanted = edited(&story, isr, *edit);
        assert_eq!(ask(&mut story, *broker, wanted).0, *code, "case {at}");
    }
}
