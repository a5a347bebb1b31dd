//! What names the same thing again and again: Kafka's answer where there is one, and never more than a bounded one.

use barnabas_protocol::messages::create_partitions::CreatePartitionsTopic;
use barnabas_protocol::messages::describe_configs::DescribeConfigsResource;
use barnabas_protocol::messages::describe_topic_partitions::TopicRequest;
use barnabas_protocol::messages::{
    ApiVersionsRequest, CreatePartitionsRequest, DescribeConfigsRequest, DescribeTopicPartitionsRequest,
    ElectLeadersRequest,
};

use crate::support::{self, Running};

fn broker(more: &[(&str, &str)]) -> (tempfile::TempDir, Running) {
    let dir = tempfile::tempdir().expect("a directory");
    let running = support::start(dir.path(), more);
    (dir, running)
}

fn configs_of(kind: i8, name: &str) -> DescribeConfigsResource {
    DescribeConfigsResource { resource_type: kind, resource_name: name.to_owned(), configuration_keys: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_request_cannot_ask_for_a_huge_answer() {
    let (_dir, broker) = broker(&[("socket.request.max.bytes", "1000000")]);
    let mut hostile = broker.connect().await;
    support::create_topic(&mut hostile, "t", 1).await;
    let mut resources = vec![configs_of(2, "t"); 2];
    let twice =
        hostile.ask(4, &DescribeConfigsRequest { resources: resources.clone(), ..Default::default() }).await;
    assert_eq!(twice.results.len(), 2, "Kafka answers each mention");
    assert_eq!(twice.results[0], twice.results[1]);
    resources.resize(5000, configs_of(2, "t"));
    hostile.send(4, &DescribeConfigsRequest { resources, ..Default::default() }).await;
    assert_eq!(hostile.receive_frame().await, None, "its answer would be many megabytes");
    let mut other = broker.connect().await;
    other.ask(3, &ApiVersionsRequest::default()).await;
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_unknown_type_of_resource_refuses_all() {
    let (_dir, broker) = broker(&[]);
    let mut client = broker.connect().await;
    support::create_topic(&mut client, "t", 1).await;
    let resources = vec![configs_of(2, "t"), configs_of(3, "x"), configs_of(2, "nope")];
    let answer = client.ask(4, &DescribeConfigsRequest { resources, ..Default::default() }).await;
    let codes: Vec<i16> = answer.results.iter().map(|result| result.error_code).collect();
    assert_eq!(codes, [42, 42, 42]);
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_time_only_repeated_names_are_told_so() {
    let (_dir, broker) = broker(&[]);
    let mut client = broker.connect().await;
    let mut create = support::create_topic_request("twice", 1);
    create.timeout_ms = 0;
    create.topics.push(create.topics[0].clone());
    let answer = client.ask(7, &create).await;
    let topics: Vec<(String, i16)> =
        answer.topics.into_iter().map(|topic| (topic.name, topic.error_code)).collect();
    assert_eq!(topics, [("twice".to_owned(), 42)], "there is nothing to begin with");
    create.topics.push(support::create_topic_request("once", 1).topics[0].clone());
    let answer = client.ask(7, &create).await;
    let topics: Vec<(String, i16)> =
        answer.topics.into_iter().map(|topic| (topic.name, topic.error_code)).collect();
    assert_eq!(topics, [("twice".to_owned(), 7), ("twice".to_owned(), 7), ("once".to_owned(), 7)]);
    let grow = CreatePartitionsTopic { name: "t".to_owned(), count: 3, assignments: None };
    let request =
        CreatePartitionsRequest { topics: vec![grow.clone(), grow], timeout_ms: 0, validate_only: false };
    let answer = client.ask(3, &request).await;
    assert_eq!(answer.results.iter().map(|result| result.error_code).collect::<Vec<_>>(), [42]);
    let nobody =
        ElectLeadersRequest { topic_partitions: Some(Vec::new()), timeout_ms: 0, ..Default::default() };
    assert_eq!(client.ask(2, &nobody).await.error_code, 0);
    let everybody = ElectLeadersRequest { topic_partitions: None, timeout_ms: 0, ..Default::default() };
    assert_eq!(client.ask(2, &everybody).await.error_code, 7);
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_named_twice_is_described_once() {
    let (_dir, broker) = broker(&[]);
    let mut client = broker.connect().await;
    support::create_topic(&mut client, "t", 2).await;
    let topics = vec![TopicRequest { name: "t".to_owned() }; 3];
    let request = DescribeTopicPartitionsRequest { topics, response_partition_limit: 2000, cursor: None };
    let answer = client.ask(0, &request).await;
    assert_eq!(answer.topics.iter().map(|topic| topic.partitions.len()).collect::<Vec<_>>(), [2]);
    broker.stop().await;
}
