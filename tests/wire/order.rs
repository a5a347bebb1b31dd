//! Replies come in the order of their requests; acks=0 gets none; who waits does not hold up others.

use std::time::Duration;

use barnabas_protocol::messages::describe_configs::DescribeConfigsResource;
use barnabas_protocol::messages::{DescribeConfigsRequest, FetchRequest, MetadataRequest, ProduceRequest};
use barnabas_protocol::{ApiKey, Writer};

use crate::support;

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_is_answered_in_order() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "burst", 1).await;
    let mut ids = Vec::new();
    for nth in 0..200_u64 {
        let value = nth.to_be_bytes();
        let request = support::produce_request(topic, 0, support::batch(1000, &[&value]));
        ids.push(client.send(13, &request).await);
    }
    for (nth, id) in (0_i64..).zip(ids) {
        let response = client.receive::<ProduceRequest>(13, id).await;
        assert_eq!(response.responses[0].partition_responses[0].base_offset, nth);
    }
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_may_come_byte_by_byte() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    let frame = support::frame(ApiKey::Metadata, 12, 9, |out| {
        use barnabas_protocol::messages::Message;
        MetadataRequest::default().encode(&mut Writer::new(out, 12));
    });
    for byte in &frame {
        client.send_bytes(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    let response = client.receive::<MetadataRequest>(12, 9).await;
    assert_eq!(response.brokers.len(), 1);
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn acks_0_gets_no_bytes_and_an_error_closes() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "silent", 1).await;
    let mut request = support::produce_request(topic, 0, support::batch(1000, &[b"a"]));
    request.acks = 0;
    client.send(13, &request).await;
    let id = client.send(12, &MetadataRequest::default()).await;
    client.receive::<MetadataRequest>(12, id).await;
    let read = client.ask(17, &support::fetch_request(topic, 0, 0)).await;
    assert_eq!(read.responses[0].partitions[0].high_watermark, 1, "it was appended all the same");

    let mut wrong = support::produce_request(topic, 7, support::batch(1000, &[b"a"]));
    wrong.acks = 0;
    client.send(13, &wrong).await;
    assert_eq!(client.receive_frame().await, None, "the only way to tell of an error");
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_poll_ends_when_records_come_or_its_time_is_up() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut producer = broker.connect().await;
    let topic = support::create_topic(&mut producer, "poll", 1).await;
    let mut consumer = broker.connect().await;
    let patient = FetchRequest { max_wait_ms: 60_000, min_bytes: 1, ..support::fetch_request(topic, 0, 0) };
    let id = consumer.send(17, &patient).await;
    // Behind a fetch that waits the connection pauses, as Kafka's does.
    let behind = consumer.send(12, &MetadataRequest::default()).await;
    let waiting = tokio::time::timeout(Duration::from_millis(50), consumer.receive_frame()).await;
    assert!(waiting.is_err(), "nothing to read, nothing to say");
    producer.ask(13, &support::produce_request(topic, 0, support::batch(1000, &[b"a"]))).await;
    let response = consumer.receive::<FetchRequest>(17, id).await;
    assert!(response.responses[0].partitions[0].records.as_ref().is_some_and(|records| !records.is_empty()));
    consumer.receive::<MetadataRequest>(12, behind).await;

    let brief = FetchRequest { max_wait_ms: 30, min_bytes: 1, ..support::fetch_request(topic, 0, 1) };
    let response = consumer.ask(17, &brief).await;
    let records = &response.responses[0].partitions[0].records;
    assert_eq!(records.as_ref().map(|records| records.len()), Some(0), "empty, not null");
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_answers_those_who_wait() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "stop", 1).await;
    let patient = FetchRequest { max_wait_ms: 60_000, min_bytes: 1, ..support::fetch_request(topic, 0, 0) };
    let id = client.send(17, &patient).await;
    // The request must have arrived, or there is nobody to answer.
    tokio::time::sleep(Duration::from_millis(50)).await;
    broker.stop().await;
    let response = client.receive::<FetchRequest>(17, id).await;
    assert_eq!(response.responses[0].partitions[0].error_code, 0);
    assert_eq!(client.receive_frame().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_does_not_read_does_not_hold_up_a_stop() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "unread", 1).await;
    let batch = support::batch(1000, &[&vec![b'x'; 900_000]]);
    for _ in 0..10 {
        client.ask(13, &support::produce_request(topic, 0, batch.clone())).await;
    }
    // More than any socket's buffers hold.
    for _ in 0..4 {
        client.send(17, &support::fetch_request(topic, 0, 0)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let stopped = tokio::time::timeout(Duration::from_secs(20), broker.stop()).await;
    assert!(stopped.is_ok(), "the broker waits for somebody who does not come");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_request_about_many_things_does_not_hold_up_other_connections() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let resource =
        DescribeConfigsResource { resource_type: 4, resource_name: "1".into(), configuration_keys: None };
    let many = DescribeConfigsRequest {
        resources: vec![resource; 100],
        include_synonyms: true,
        include_documentation: true,
    };
    let mut curious = broker.connect().await;
    let id = curious.send(4, &many).await;
    // It has been taken up once a request behind it on the same worker had its chance to be, too.
    let mut other = broker.connect().await;
    tokio::select! {
        biased;
        _ = curious.receive::<DescribeConfigsRequest>(4, id) => panic!("the other one had to wait for it"),
        () = async { for _ in 0..10 { other.ask(12, &MetadataRequest::default()).await; } } => {}
    }
    broker.stop().await;
}
