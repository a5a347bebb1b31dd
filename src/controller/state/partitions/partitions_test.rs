use barnabas_protocol::messages::create_partitions::CreatePartitionsAssignment;

use super::super::story::Story;
use super::*;
use crate::controller::image::Image;
use barnabas_protocol::messages::records::metadata::TopicRecord;

const ID: Uuid = Uuid([3; 16]);

fn with_topic() -> Story {
    let mut story = Story::started();
    let assignment = by_hand(story.image(), 0, &[1], None).unwrap();
    let topic = TopicRecord { name: "t".into(), topic_id: ID };
    story.write(vec![topic.into(), new_record(ID, &assignment).into()]);
    story
}

fn grow(story: &mut Story, name: &str, count: i32, by_hand: Option<&[&[i32]]>) -> (i16, Option<String>) {
    let assignments = by_hand.map(|assignments| {
        assignments.iter().map(|ids| CreatePartitionsAssignment { broker_ids: ids.to_vec() }).collect()
    });
    let topic = CreatePartitionsTopic { name: name.into(), count, assignments };
    let request = CreatePartitionsRequest { topics: vec![topic], ..Default::default() };
    let reply = story.run(|image, _| create(image, &request, 0));
    (reply.results[0].error_code, reply.results[0].error_message.clone())
}

#[test]
fn a_topic_grows_and_never_shrinks() {
    let mut story = with_topic();
    assert_eq!(grow(&mut story, "t", 4, None), (0, None));
    assert_eq!(grow(&mut story, "t", 4, None), (37, Some("Topic already has 4 partition(s).".into())));
    let message = "The topic t currently has 4 partition(s); 2 would not be an increase.";
    assert_eq!(grow(&mut story, "t", 2, None), (37, Some(message.into())));
    assert_eq!(grow(&mut story, "nope", 2, None), (3, None));
    assert_eq!(story.image().topic("t").unwrap().partition_count(), 4);
    story.the_end();
}

#[test]
fn additional_assignments_must_be_as_many_as_partitions() {
    let mut story = with_topic();
    let message = "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.";
    assert_eq!(grow(&mut story, "t", 3, Some(&[&[1]])), (39, Some(message.into())));
    assert_eq!(grow(&mut story, "t", 3, Some(&[&[1], &[1]])), (0, None));
    let message = "Excessively large number of additional partitions per request.";
    assert_eq!(grow(&mut story, "t", i32::MAX, None), (44, Some(message.into())));
    story.the_end();
}

/// The broker says where some partitions are; gives the codes of the answer.
fn chose(story: &mut Story, id: Uuid, partitions: &[i32]) -> Vec<i16> {
    let partitions =
        partitions.iter().map(|index| assign::RequestPartitionData { partition_index: *index }).collect();
    let topics = vec![assign::RequestTopicData { topic_id: ID, partitions }];
    let request = AssignReplicasToDirsRequest {
        broker_id: 1,
        broker_epoch: story.image().broker(1).unwrap().epoch,
        directories: vec![assign::RequestDirectoryData { id, topics }],
    };
    let reply = story.run(|image, _| assign_directories(image, &request)).unwrap();
    reply.directories[0].topics[0].partitions.iter().map(|partition| partition.error_code).collect()
}

#[test]
fn a_broker_with_several_directories_says_later_which_one_it_took() {
    let mut story = with_topic();
    let chosen = Uuid([8; 16]);
    assert_eq!(chose(&mut story, chosen, &[0, 9]), [0, ErrorCode::UnknownTopicOrPartition.code()]);
    let partition = |image: &Image| image.topic("t").unwrap().partition(0).unwrap().clone();
    assert_eq!(partition(story.image()).directory_of(1), Some(chosen));
    assert_eq!((partition(story.image()).leader_epoch, partition(story.image()).partition_epoch), (0, 1));
    let before = story.log.len();
    assert_eq!(chose(&mut story, chosen, &[0]), [0]);
    assert_eq!(story.log.len(), before, "what is known is not written again");
    story.the_end();
}
