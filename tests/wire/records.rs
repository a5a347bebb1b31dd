//! What was produced is fetched to the byte, by whichever way it leaves.

use barnabas_protocol::batch::Batches;
use barnabas_protocol::messages::FetchRequest;

use crate::support;

/// Sizes on both sides of the border between pread and sendfile, and beyond the largest socket buffer.
const SIZES: [usize; 6] = [1, 1000, 32 * 1024 - 100, 32 * 1024, 300_000, 900_000];

#[tokio::test(flavor = "multi_thread")]
async fn every_size_comes_back_as_it_was() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "sizes", 1).await;
    for (offset, size) in (0_i64..).zip(SIZES) {
        let value = vec![b'x'; size];
        let batch = support::batch(1000, &[&value]);
        let response = client.ask(13, &support::produce_request(topic, 0, batch.clone())).await;
        assert_eq!(response.responses[0].partition_responses[0].base_offset, offset, "{size}");
        let read = client.ask(17, &support::fetch_request(topic, 0, offset)).await;
        let records = read.responses[0].partitions[0].records.clone().expect("not null");
        // Base offset and leader epoch are the broker's; the rest is the producer's.
        assert_eq!(records[..8], offset.to_be_bytes());
        assert_eq!(records[8..12], batch[8..12]);
        assert_eq!(records[12..16], 0_i32.to_be_bytes(), "the leader epoch is stamped");
        assert_eq!(records[16..], batch[16..], "{size}");
    }
    let all = FetchRequest { max_bytes: 50_000_000, ..support::fetch_request(topic, 0, 0) };
    let read = client.ask(17, &all).await;
    let records = read.responses[0].partitions[0].records.clone().expect("not null");
    assert_eq!(Batches::new(&records).count(), SIZES.len());
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_batch_is_whole_even_above_the_limits_and_later_partitions_obey() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "limits", 2).await;
    let large = support::batch(1000, &[&vec![b'x'; 100_000]]);
    for partition in 0..2 {
        client.ask(13, &support::produce_request(topic, partition, large.clone())).await;
    }
    let mut request = support::fetch_request(topic, 0, 0);
    request.max_bytes = 10;
    let mut second = request.topics[0].partitions[0].clone();
    second.partition = 1;
    request.topics[0].partitions[0].partition_max_bytes = 10;
    request.topics[0].partitions.push(second);
    let read = client.ask(17, &request).await;
    let sizes: Vec<usize> = read.responses[0]
        .partitions
        .iter()
        .map(|partition| partition.records.as_ref().map_or(0, |records| records.len()))
        .collect();
    assert_eq!(sizes, [large.len(), 0]);
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_finds_everything_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "again", 1).await;
    client.ask(13, &support::produce_request(topic, 0, support::batch(1000, &[b"a", b"b"]))).await;
    broker.stop().await;

    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    let read = client.ask(17, &support::fetch_request(topic, 0, 0)).await;
    let partition = &read.responses[0].partitions[0];
    assert_eq!((partition.error_code, partition.high_watermark), (0, 2));
    client.ask(13, &support::produce_request(topic, 0, support::batch(1000, &[b"c"]))).await;
    let read = client.ask(17, &support::fetch_request(topic, 0, 2)).await;
    assert_eq!(read.responses[0].partitions[0].high_watermark, 3);
    broker.stop().await;
}
