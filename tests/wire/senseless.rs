//! Requests that make no sense: the answers that Kafka 4.4 gave to them.

use barnabas_protocol::messages::fetch::FetchTopic;
use barnabas_protocol::messages::list_offsets::{ListOffsetsPartition, ListOffsetsTopic};
use barnabas_protocol::messages::offset_commit::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use barnabas_protocol::messages::produce::TopicProduceData;
use barnabas_protocol::messages::write_txn_markers::{WritableTxnMarker, WritableTxnMarkerTopic};
use barnabas_protocol::messages::{
    AlterPartitionReassignmentsRequest, CreatePartitionsRequest, ElectLeadersRequest, FetchRequest,
    ListOffsetsRequest, OffsetCommitRequest, ProduceRequest, WriteTxnMarkersRequest,
    alter_partition_reassignments, create_partitions,
};

use crate::support::{self, Client, Running};

async fn broker() -> (tempfile::TempDir, Running, Client) {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    support::create_topic(&mut client, "t", 2).await;
    (dir, broker, client)
}

/// Topic, index and code of every partition in the answer to a fetch of `t` 0, which has a record, `t` 1, which has
/// none, and of partitions that there are not.
async fn fetched(client: &mut Client, version: i16, request: FetchRequest) -> (i16, Vec<(String, i32, i16)>) {
    let wanted = support::fetch_request(barnabas_protocol::Uuid::ZERO, 0, 0).topics[0].partitions[0].clone();
    let topic = |name: &str, indexes: &[i32]| FetchTopic {
        topic: name.to_owned(),
        partitions: indexes
            .iter()
            .map(|index| {
                let mut wanted = wanted.clone();
                wanted.partition = *index;
                wanted
            })
            .collect(),
        ..Default::default()
    };
    let topics = vec![topic("t", &[0, 1, 7]), topic("no", &[0])];
    let answer = client.ask(version, &FetchRequest { topics, max_wait_ms: 0, ..request }).await;
    let parts = answer.responses.iter().flat_map(|topic| {
        topic.partitions.iter().map(|part| (topic.topic.clone(), part.partition_index, part.error_code))
    });
    (answer.error_code, parts.collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_of_less_than_nothing_fails_where_there_is_something() {
    let (_dir, broker, mut client) = broker().await;
    let named = TopicProduceData {
        name: "t".to_owned(),
        ..support::produce_request(barnabas_protocol::Uuid::ZERO, 0, support::batch(1000, &[b"v"])).topic_data
            [0]
        .clone()
    };
    let produce = ProduceRequest { topic_data: vec![named], acks: 1, timeout_ms: 1000, ..Default::default() };
    client.ask(9, &produce).await;
    let part = |topic: &str, index: i32, code: i16| (topic.to_owned(), index, code);
    let expected = vec![part("t", 0, -1), part("t", 1, 0), part("t", 7, 3), part("no", 0, 3)];
    let all = vec![part("t", 0, -1), part("t", 1, -1), part("t", 7, -1), part("no", 0, -1)];
    for version in [4, 7, 12] {
        for max_bytes in [-1, i32::MIN] {
            let request = FetchRequest { max_bytes, ..Default::default() };
            let (code, parts) = fetched(&mut client, version, request).await;
            assert_eq!((code, parts), (0, expected.clone()), "version {version}, {max_bytes} bytes");
        }
        let request = FetchRequest { isolation_level: 5, max_bytes: 1000, ..Default::default() };
        let code = if version < 7 { 0 } else { -1 };
        assert_eq!(fetched(&mut client, version, request).await, (code, all.clone()), "version {version}");
    }
    let none = FetchRequest { isolation_level: 5, max_wait_ms: 0, ..Default::default() };
    assert_eq!(client.ask(12, &none).await.error_code, 0, "there is nothing to read in isolation");
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_without_partitions_are_not_answered() {
    let (_dir, broker, mut client) = broker().await;
    let topic = |name: &str, indexes: &[i32]| ListOffsetsTopic {
        name: name.to_owned(),
        partitions: indexes
            .iter()
            .map(|index| ListOffsetsPartition {
                partition_index: *index,
                timestamp: -1,
                ..Default::default()
            })
            .collect(),
    };
    let topics = vec![topic("no", &[]), topic("t", &[1]), topic("t", &[])];
    let list = ListOffsetsRequest { replica_id: -1, topics, ..Default::default() };
    let answer = client.ask(7, &list).await;
    assert_eq!(answer.topics.iter().map(|topic| topic.name.as_str()).collect::<Vec<_>>(), ["t"]);
    for isolation_level in [-1, 2, i8::MIN] {
        let answer = client.ask(7, &ListOffsetsRequest { isolation_level, ..list.clone() }).await;
        assert_eq!(answer.topics.len(), 3, "Kafka trips over it and echoes the request");
        assert_eq!(answer.topics[1].partitions[0].error_code, -1);
    }
    for version in [8, 9] {
        let topic_data =
            ["no", "t"].map(|name| TopicProduceData { name: name.to_owned(), ..Default::default() });
        let produce = ProduceRequest { topic_data: topic_data.into(), acks: 1, ..Default::default() };
        assert_eq!(client.ask(version, &produce).await.responses, []);
    }
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn offsets_of_a_topic_named_twice_are_answered_once() {
    let (_dir, broker, mut client) = broker().await;
    let topic = |name: &str, index: i32| OffsetCommitRequestTopic {
        name: name.to_owned(),
        partitions: vec![OffsetCommitRequestPartition {
            partition_index: index,
            committed_offset: 1,
            ..Default::default()
        }],
        ..Default::default()
    };
    let topics = vec![topic("t", 0), topic("no", 0), topic("t", 1), topic("no", 1), topic("t", 5)];
    let request = OffsetCommitRequest {
        group_id: "g".to_owned(),
        generation_id_or_member_epoch: -1,
        topics,
        ..Default::default()
    };
    let shown = |response: <OffsetCommitRequest as barnabas_protocol::messages::Request>::Response| {
        response
            .topics
            .into_iter()
            .map(|topic| {
                let partitions = topic.partitions.iter().map(|part| part.partition_index);
                (topic.name, partitions.collect::<Vec<_>>())
            })
            .collect::<Vec<_>>()
    };
    let expected = [("no".to_owned(), vec![0, 1]), ("t".to_owned(), vec![5, 0, 1])];
    assert_eq!(shown(client.ask(8, &request).await), expected);
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_marker_of_no_producer_is_told_only_where_there_is_a_partition() {
    let (_dir, broker, mut client) = broker().await;
    for (producer_id, producer_epoch) in [(-1, 0), (5, -1), (i64::MIN, i16::MIN)] {
        let topic = |name: &str, index: i32| WritableTxnMarkerTopic {
            name: name.to_owned(),
            partition_indexes: vec![index],
        };
        let marker = WritableTxnMarker {
            producer_id,
            producer_epoch,
            topics: vec![topic("t", 0), topic("t", 7), topic("no", 0)],
            ..Default::default()
        };
        let answer = client.ask(1, &WriteTxnMarkersRequest { markers: vec![marker] }).await;
        let topics = answer.markers[0].topics.iter();
        let codes: Vec<i16> =
            topics.flat_map(|topic| topic.partitions.iter().map(|part| part.error_code)).collect();
        assert_eq!(codes, [-1, 3, 3]);
    }
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_of_the_controller() {
    let (_dir, broker, mut client) = broker().await;
    let grow = |topics: &[(&str, i32)]| CreatePartitionsRequest {
        topics: topics
            .iter()
            .map(|(name, count)| create_partitions::CreatePartitionsTopic {
                name: (*name).to_owned(),
                count: *count,
                assignments: None,
            })
            .collect(),
        timeout_ms: 5000,
        validate_only: true,
    };
    for (topics, expected) in [
        (&[("t", 2), ("no", i32::MAX)][..], &[("no", 3), ("t", 37)][..]),
        (&[("no", 20_000)], &[("no", 3)]),
        (&[("t", 20_000), ("no", 3)], &[("no", 44), ("t", 44)]),
    ] {
        let answer = client.ask(3, &grow(topics)).await;
        let mut codes: Vec<(&str, i16)> =
            answer.results.iter().map(|result| (result.name.as_str(), result.error_code)).collect();
        codes.sort_unstable();
        assert_eq!(codes, expected);
    }
    for election_type in [2, -1, 127] {
        let nobody =
            ElectLeadersRequest { election_type, topic_partitions: Some(Vec::new()), timeout_ms: 1000 };
        assert_eq!(client.ask(2, &nobody).await.error_code, 0);
    }
    let nothing = AlterPartitionReassignmentsRequest {
        allow_replication_factor_change: false,
        timeout_ms: 0,
        ..Default::default()
    };
    let answer = client.ask(1, &nothing).await;
    assert_eq!((answer.error_code, answer.error_message.as_deref()), (0, Some("")));
    assert!(answer.allow_replication_factor_change);
    let topic =
        alter_partition_reassignments::ReassignableTopic { name: "t".to_owned(), ..Default::default() };
    let late = AlterPartitionReassignmentsRequest { topics: vec![topic], ..nothing };
    let answer = client.ask(1, &late).await;
    assert_eq!((answer.error_code, answer.responses.len()), (7, 1), "no time is none for the controller");
    broker.stop().await;
}
