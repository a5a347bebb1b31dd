//! What an application may ask of the cluster itself.

use rdkafka::admin::{
    AdminOptions, AlterConfig, NewPartitions, NewTopic, OwnedResourceSpecifier, ResourceSpecifier,
    TopicReplication,
};
use rdkafka::consumer::{CommitMode, Consumer, DefaultConsumerContext};
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{Offset, TopicPartitionList};

use crate::app::{PATIENCE, app, take};

#[tokio::test]
async fn topics_are_made_grown_and_deleted() {
    let Some(app) = app() else { return };
    let (admin, options) = (app.admin(), AdminOptions::new());
    let topic = |name| NewTopic::new(name, 2, TopicReplication::Fixed(1)).set("retention.ms", "3600000");
    let three = NewTopic::new("three-replicas", 1, TopicReplication::Fixed(3));
    let made = admin.create_topics([&topic("made"), &topic("no name!"), &three], &options).await.unwrap();
    assert_eq!(made[0], Ok("made".to_owned()));
    assert_eq!(made[1], Err(("no name!".to_owned(), RDKafkaErrorCode::InvalidTopic)));
    assert_eq!(made[2], Err(("three-replicas".to_owned(), RDKafkaErrorCode::InvalidReplicationFactor)));
    let again = admin.create_topics([&topic("made")], &options).await.unwrap();
    assert_eq!(again, [Err(("made".to_owned(), RDKafkaErrorCode::TopicAlreadyExists))]);
    let only_asked = AdminOptions::new().validate_only(true);
    assert_eq!(admin.create_topics([&topic("asked")], &only_asked).await.unwrap(), [Ok("asked".to_owned())]);

    assert_eq!(
        admin.create_partitions([&NewPartitions::new("made", 5)], &options).await.unwrap(),
        [Ok("made".into())]
    );
    let less = admin.create_partitions([&NewPartitions::new("made", 3)], &options).await.unwrap();
    assert_eq!(less, [Err(("made".to_owned(), RDKafkaErrorCode::InvalidPartitions))]);
    let metadata = admin.inner().fetch_metadata(None, PATIENCE).unwrap();
    let found: Vec<_> =
        metadata.topics().iter().map(|topic| (topic.name(), topic.partitions().len())).collect();
    assert_eq!(found, [("made", 5)]);

    let deleted = admin.delete_topics(&["made", "never"], &options).await.unwrap();
    assert_eq!(deleted[0], Ok("made".to_owned()));
    assert_eq!(deleted[1], Err(("never".to_owned(), RDKafkaErrorCode::UnknownTopicOrPartition)));
    assert!(admin.inner().fetch_metadata(None, PATIENCE).unwrap().topics().is_empty());
}

#[tokio::test]
async fn a_topic_made_again_inherits_nothing() {
    let Some(app) = app() else { return };
    let (admin, options) = (app.admin(), AdminOptions::new());
    for count in [10, 3] {
        app.create("phoenix", 1).await;
        app.fill(&app.producer(&[]), "phoenix", count).await;
        let consumer = app.consumer("phoenix", &[], DefaultConsumerContext);
        assert_eq!(
            consumer.fetch_watermarks("phoenix", 0, PATIENCE).unwrap(),
            (0, i64::try_from(count).unwrap())
        );
        admin.delete_topics(&["phoenix"], &options).await.unwrap()[0].clone().unwrap();
    }
}

#[tokio::test]
async fn settings_are_described_and_changed() {
    let Some(app) = app() else { return };
    let (admin, options) = (app.admin(), AdminOptions::new());
    app.create("tuned", 1).await;
    let resource = ResourceSpecifier::Topic("tuned");
    let altered =
        admin.alter_configs([&AlterConfig::new(resource).set("retention.ms", "1234567")], &options).await;
    assert_eq!(altered.unwrap(), [Ok(OwnedResourceSpecifier::Topic("tuned".to_owned()))]);
    let described =
        admin.describe_configs([&resource, &ResourceSpecifier::Broker(1)], &options).await.unwrap();
    let topic = described[0].as_ref().unwrap();
    assert_eq!(topic.get("retention.ms").unwrap().value.as_deref(), Some("1234567"));
    assert_eq!(topic.get("max.message.bytes").unwrap().value.as_deref(), Some("1048588"));
    let broker = described[1].as_ref().unwrap();
    assert_eq!(broker.get("log.segment.bytes").unwrap().value.as_deref(), Some("1073741824"));
}

#[tokio::test]
async fn records_and_groups_are_deleted() {
    let Some(app) = app() else { return };
    let (admin, options) = (app.admin(), AdminOptions::new());
    app.create("leaving", 1).await;
    app.fill(&app.producer(&[]), "leaving", 10).await;
    let mut before = TopicPartitionList::new();
    before.add_partition_offset("leaving", 0, Offset::Offset(4)).unwrap();
    let deleted = admin.delete_records(&before, &options).await.unwrap();
    assert_eq!(deleted.elements()[0].offset(), Offset::Offset(4), "the new start");

    let consumer = app.consumer("leavers", &[], DefaultConsumerContext);
    consumer.subscribe(&["leaving"]).unwrap();
    assert_eq!(take(&consumer, 6)[0].offset, 4, "the first record that is left");
    consumer.commit_consumer_state(CommitMode::Sync).unwrap();
    let groups = consumer.fetch_group_list(Some("leavers"), PATIENCE).unwrap();
    let group = &groups.groups()[0];
    assert_eq!((group.state(), group.protocol_type(), group.members().len()), ("Stable", "consumer", 1));
    let busy = admin.delete_groups(&["leavers"], &options).await.unwrap();
    assert_eq!(busy, [Err(("leavers".to_owned(), RDKafkaErrorCode::NonEmptyGroup))]);
    drop(consumer);
    assert_eq!(admin.delete_groups(&["leavers"], &options).await.unwrap(), [Ok("leavers".to_owned())]);
    let gone = admin.delete_groups(&["leavers"], &options).await.unwrap();
    assert_eq!(gone, [Err(("leavers".to_owned(), RDKafkaErrorCode::GroupIdNotFound))]);
}
