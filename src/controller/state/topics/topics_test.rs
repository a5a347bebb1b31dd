use barnabas_protocol::messages::create_topics::{CreatableReplicaAssignment, CreatableTopicConfig};

use super::super::story::Story;
use super::*;

fn topic(name: &str, partitions: i32, factor: i16) -> CreatableTopic {
    CreatableTopic {
        name: name.to_owned(),
        num_partitions: partitions,
        replication_factor: factor,
        ..Default::default()
    }
}

fn drawn(first: u8) -> Drawn {
    Drawn { topic_ids: (0..10).map(|n| Uuid([first + n; 16])).collect(), start: 4 }
}

fn make(story: &mut Story, topics: Vec<CreatableTopic>) -> Vec<(String, i16, Option<String>)> {
    let first = u8::try_from(story.log.len() % 200).unwrap();
    let request = CreateTopicsRequest { topics, ..Default::default() };
    let reply = story.run(|image, view| create(image, view, &request, &drawn(first)));
    reply.topics.into_iter().map(|topic| (topic.name, topic.error_code, topic.error_message)).collect()
}

/// Makes one topic and gives the error it gets.
fn refusal(story: &mut Story, topic: CreatableTopic) -> (i16, String) {
    let before = story.log.len();
    let (_, code, message) = make(story, vec![topic]).remove(0);
    assert_eq!(story.log.len(), before, "what is refused writes nothing");
    (code, message.unwrap())
}

#[test]
fn a_topic_is_made_with_its_settings_and_found_by_name_and_id() {
    let mut story = Story::started();
    let mut wanted = topic("orders", 2, -1);
    wanted.configs = vec![CreatableTopicConfig { name: "retention.ms".into(), value: Some("5".into()) }];
    let request = CreateTopicsRequest { topics: vec![wanted], ..Default::default() };
    let reply = story.run(|image, view| create(image, view, &request, &drawn(50)));
    let made = &reply.topics[0];
    assert_eq!((made.error_code, made.num_partitions, made.replication_factor), (0, 2, 1));
    assert_eq!(made.configs.as_ref().unwrap()[0].name, "retention.ms");
    let image = story.image();
    let found = image.topic("orders").unwrap();
    assert_eq!(image.topic_by_id(made.topic_id), Some(found));
    assert_eq!(image.topic_config("orders")["retention.ms"], "5");
    let partition = found.partition(1).unwrap();
    assert_eq!((partition.leader, partition.leader_epoch, &*partition.isr), (1, 0, &[1][..]));
    assert_eq!(partition.directories, [Uuid([7; 16])]);
    story.the_end();
}

#[test]
fn defaults_are_the_brokers() {
    let mut story = Story::started();
    make(&mut story, vec![topic("t", -1, -1)]);
    assert_eq!(story.image().topic("t").unwrap().partition_count(), 3);
    story.the_end();
}

#[test]
fn a_bad_topic_does_not_keep_the_good_ones_from_being_made() {
    let mut story = Story::started();
    let outcome = make(
        &mut story,
        vec![topic("b", 1, 1), topic("a b", 1, 1), topic("c", 1, 3), topic("d", 1, 1), topic("d", 1, 1)],
    );
    let codes: Vec<_> = outcome.iter().map(|(name, code, _)| (name.as_str(), *code)).collect();
    assert_eq!(codes, [("b", 0), ("a b", 17), ("c", 38), ("d", 42)]);
    assert_eq!(
        outcome[2].2.as_deref().unwrap(),
        "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be reached because \
         only 1 broker(s) are registered or some brokers have all their log directories cordoned."
    );
    assert_eq!(story.image().topic_count(), 1);
    story.the_end();
}

#[test]
fn refusals_have_kafkas_codes_and_words() {
    let mut story = Story::started();
    make(&mut story, vec![topic("a.b", 1, 1)]);
    let mut refused = |topic| refusal(&mut story, topic);
    assert_eq!(refused(topic("a.b", 1, 1)), (36, "Topic 'a.b' already exists.".into()));
    assert_eq!(refused(topic("a_b", 1, 1)), (17, "Topic 'a_b' collides with existing topic: a.b".into()));
    let message = "Number of partitions was set to an invalid non-positive value.";
    assert_eq!(refused(topic("t", 0, 1)), (37, message.into()));
    let message = "Replication factor must be larger than 0, or -1 to use the default value.";
    assert_eq!(refused(topic("t", 1, 0)), (38, message.into()));
    let message = "Excessively large number of partitions per request.";
    assert_eq!(refused(topic("t", 10_001, 1)), (44, message.into()));
    let message = "Creation of internal topic __cluster_metadata is prohibited.";
    assert_eq!(refused(topic("__cluster_metadata", 1, 1)), (42, message.into()));
    let with = |name: &str, value: Option<&str>| {
        let config = CreatableTopicConfig { name: name.into(), value: value.map(Into::into) };
        CreatableTopic { configs: vec![config], ..topic("t", 1, 1) }
    };
    assert_eq!(refused(with("nope", Some("1"))), (40, "Unknown topic config name: nope".into()));
    let message = "Null value not supported for topic configs: retention.ms";
    assert_eq!(refused(with("retention.ms", None)), (40, message.into()));
    story.the_end();
}

#[test]
fn assignments_by_hand_are_checked() {
    let mut story = Story::started();
    let by_hand = |assignments: &[(i32, &[i32])]| CreatableTopic {
        assignments: assignments
            .iter()
            .map(|(index, brokers)| CreatableReplicaAssignment {
                partition_index: *index,
                broker_ids: brokers.to_vec(),
            })
            .collect(),
        ..topic("t", -1, -1)
    };
    let mut refused = |assignments: &[(i32, &[i32])]| refusal(&mut story, by_hand(assignments));
    let message = "The manual partition assignment includes broker 99, but no such broker is registered.";
    assert_eq!(refused(&[(0, &[99])]), (39, message.into()));
    let message = "partitions should be a consecutive 0-based integer sequence";
    assert_eq!(refused(&[(1, &[1])]), (39, message.into()));
    let message = "The manual partition assignment includes an empty replica list.";
    assert_eq!(refused(&[(0, &[])]), (39, message.into()));
    let message = "The manual partition assignment includes the broker 1 more than once.";
    assert_eq!(refused(&[(0, &[1, 1])]), (39, message.into()));
    let message = "Found multiple manual partition assignments for partition 0";
    assert_eq!(refused(&[(0, &[1]), (0, &[1])]), (39, message.into()));
    make(&mut story, vec![by_hand(&[(1, &[1]), (0, &[1])])]);
    assert_eq!(story.image().topic("t").unwrap().partition_count(), 2);
    story.the_end();
}

#[test]
fn validating_only_writes_nothing() {
    let mut story = Story::started();
    let before = story.log.len();
    let request =
        CreateTopicsRequest { topics: vec![topic("t", 2, 1)], validate_only: true, ..Default::default() };
    let reply = story.run(|image, view| create(image, view, &request, &drawn(50)));
    assert_eq!((reply.topics[0].error_code, reply.topics[0].num_partitions), (0, 2));
    assert_eq!(story.log.len(), before);
    story.the_end();
}

#[test]
fn a_topic_made_again_inherits_nothing() {
    let mut story = Story::started();
    let mut first = topic("t", 4, 1);
    first.configs = vec![CreatableTopicConfig { name: "retention.ms".into(), value: Some("5".into()) }];
    make(&mut story, vec![first]);
    let old = story.image().topic("t").unwrap().id;
    let deleted = story.run(|image, _| delete(image, &[Doomed::Name("t".into())]));
    assert_eq!(deleted, [Deleted { name: Some("t".into()), id: old, refusal: None }]);
    assert_eq!(story.image().topic_by_id(old), None);
    make(&mut story, vec![topic("t", 1, 1)]);
    let topic = story.image().topic("t").unwrap();
    assert_ne!(topic.id, old);
    assert_eq!((topic.partition_count(), story.image().topic_config("t").len()), (1, 0));
    story.the_end();
}

#[test]
fn a_topic_named_by_name_and_by_id_stays() {
    let mut story = Story::started();
    make(&mut story, vec![topic("t", 1, 1)]);
    let id = story.image().topic("t").unwrap().id;
    let unknown = Uuid([99; 16]);
    let both = [Doomed::Name("t".into()), Doomed::Id(id), Doomed::Id(unknown), Doomed::Name("nope".into())];
    let deleted = story.run(|image, _| delete(image, &both));
    let codes: Vec<_> =
        deleted.iter().map(|deleted| (deleted.id, deleted.refusal.as_ref().unwrap().code.code())).collect();
    assert_eq!(codes, [(id, 42), (Uuid::ZERO, 3), (unknown, 100)]);
    assert!(story.image().topic("t").is_some());
    story.the_end();
}
