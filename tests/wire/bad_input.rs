//! What no client of Kafka sends: the connection is closed or the error answered, and everybody else goes on.

use barnabas_protocol::messages::{ApiVersionsRequest, MetadataRequest, ProduceRequest};
use barnabas_protocol::{ApiKey, ErrorCode};

use crate::support::{self, Running};

fn broker() -> (tempfile::TempDir, Running) {
    broker_with(&[])
}

fn broker_with(more: &[(&str, &str)]) -> (tempfile::TempDir, Running) {
    let dir = tempfile::tempdir().expect("a directory");
    let running = support::start(dir.path(), more);
    (dir, running)
}

async fn is_closed_after(broker: &Running, bytes: &[u8]) {
    let mut client = broker.connect().await;
    client.send_bytes(bytes).await;
    assert_eq!(client.receive_frame().await, None, "{bytes:02x?} should end the connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn impossible_frames_end_the_connection_and_nobody_elses() {
    let (_dir, broker) = broker_with(&[("socket.request.max.bytes", "100000")]);
    let mut bystander = broker.connect().await;
    is_closed_after(&broker, &[0xff, 0xff, 0xff, 0xff]).await;
    is_closed_after(&broker, &[0, 0, 0, 0]).await;
    is_closed_after(&broker, &[0x7f, 0xff, 0xff, 0xff]).await;
    is_closed_after(&broker, &[0, 1, 0x86, 0xa1]).await;
    is_closed_after(&broker, b"GET / HTTP/1.1\r\n\r\n").await;
    let header_cut = [0, 0, 0, 3, 0, 18, 0];
    is_closed_after(&broker, &header_cut).await;
    let unknown_api = support::frame(ApiKey::Metadata, 12, 1, |_| {});
    let unknown_api: Vec<u8> = [&unknown_api[..4], &[0x03, 0xe7], &unknown_api[6..]].concat();
    is_closed_after(&broker, &unknown_api).await;
    is_closed_after(&broker, &support::frame(ApiKey::Metadata, 99, 1, |_| {})).await;
    is_closed_after(&broker, &support::frame(ApiKey::Metadata, 12, 1, |_| {})).await;
    let claims_much = support::frame(ApiKey::Metadata, 1, 1, |out| out.extend([0x7f, 0xff, 0xff, 0xff]));
    is_closed_after(&broker, &claims_much).await;
    let metadata = bystander.ask(12, &MetadataRequest::default()).await;
    assert_eq!(metadata.brokers.len(), 1);
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_api_versions_is_told_our_range_in_the_oldest_form() {
    let (_dir, broker) = broker();
    let mut client = broker.connect().await;
    client.send_bytes(&support::frame(ApiKey::ApiVersions, 6, 77, |out| out.extend([1, 1, 0]))).await;
    let answer = client.receive_frame().await.expect("an answer");
    let expected = [0, 0, 0, 77, 0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 5];
    assert_eq!(answer, expected, "correlation id, error, one entry: ApiVersions 0 to 5");
    let good = ApiVersionsRequest {
        client_software_name: "test".into(),
        client_software_version: "1".into(),
        ..ApiVersionsRequest::default()
    };
    let response = client.ask(4, &good).await;
    assert_eq!(response.error_code, 0, "the connection stays open");
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_produce_versions_are_listed_and_refused() {
    let (_dir, broker) = broker();
    let mut client = broker.connect().await;
    let listed = client.ask(0, &ApiVersionsRequest::default()).await;
    let produce = listed.api_keys.iter().find(|entry| entry.api_key == 0).expect("it is listed");
    assert_eq!((produce.min_version, produce.max_version), (0, 13));
    let body = [0, 1, 0, 0, 0, 100, 0, 0, 0, 0];
    is_closed_after(&broker, &support::frame(ApiKey::Produce, 2, 1, |out| out.extend(body))).await;
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_announces_and_does_not_send_holds_no_memory() {
    let (_dir, broker) = broker();
    let mut hostile = Vec::new();
    for _ in 0..200 {
        let mut client = broker.connect().await;
        client.send_bytes(&[0x06, 0x00, 0x00, 0x00]).await;
        hostile.push(client);
    }
    let mut client = broker.connect().await;
    let response = client.ask(12, &MetadataRequest::default()).await;
    assert_eq!(response.brokers.len(), 1, "100 MB announced two hundred times hurt nobody");
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn impossible_acks_are_refused_for_every_partition() {
    let (_dir, broker) = broker();
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "acks", 1).await;
    let mut request = support::produce_request(topic, 0, support::batch(1000, &[b"a"]));
    request.acks = 2;
    let response = client.ask(13, &request).await;
    let error = response.responses[0].partition_responses[0].error_code;
    assert_eq!(error, ErrorCode::InvalidRequiredAcks.code());
    let empty = ProduceRequest { acks: 1, timeout_ms: 100, ..ProduceRequest::default() };
    assert!(client.ask(13, &empty).await.responses.is_empty());
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_connections_of_one_address_are_turned_away() {
    let (_dir, broker) = broker_with(&[("max.connections.per.ip", "2")]);
    let mut first = broker.connect().await;
    let second = broker.connect().await;
    first.ask(12, &MetadataRequest::default()).await;
    let mut third = broker.connect().await;
    assert_eq!(third.receive_frame().await, None);
    drop(second);
    support::eventually(async || {
        let mut next = broker.connect().await;
        let id = next.send(12, &MetadataRequest::default()).await;
        id > 0 && next.receive_frame().await.is_some()
    })
    .await;
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_is_closed() {
    let (_dir, broker) = broker_with(&[("connections.max.idle.ms", "100")]);
    let mut client = broker.connect().await;
    client.ask(12, &MetadataRequest::default()).await;
    assert_eq!(client.receive_frame().await, None);
    broker.stop().await;
}
