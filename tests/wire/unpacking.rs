//! Batches that unpack to much more than they are: Kafka takes them, and nobody else has to wait for that.

use barnabas_protocol::batch::{BatchBuilder, BatchView, Codec, HEADER_BYTES};
use barnabas_protocol::messages::produce::{PartitionProduceData, PartitionProduceResponse};
use barnabas_protocol::messages::{CreateTopicsRequest, ProduceRequest, create_topics};

use crate::support::{self, Client};

/// More than any request unpacks at once.
const MUCH: usize = 40 << 20;

fn bomb(codec: Codec) -> Vec<u8> {
    let mut batch = BatchBuilder::new().codec(codec, None);
    batch.append(1000, Some(b"k"), Some(&vec![0; MUCH]));
    batch.finish().expect("a batch")
}

async fn create(
    client: &mut Client,
    name: &str,
    partitions: i32,
    configs: &[(&str, &str)],
) -> ProduceRequest {
    let mut request: CreateTopicsRequest = support::create_topic_request(name, partitions);
    request.topics[0].configs = configs
        .iter()
        .map(|(name, value)| create_topics::CreatableTopicConfig {
            name: (*name).to_owned(),
            value: Some((*value).to_owned()),
        })
        .collect();
    let created = client.ask(7, &request).await;
    assert_eq!(created.topics[0].error_code, 0, "{name}");
    support::produce_request(created.topics[0].topic_id, 0, Vec::new())
}

/// The request with these records for partitions 0, 1, ...
fn of(request: &ProduceRequest, records: &[Vec<u8>]) -> ProduceRequest {
    let mut request = request.clone();
    request.topic_data[0].partition_data = (0..)
        .zip(records)
        .map(|(index, records)| PartitionProduceData { index, records: Some(records.clone().into()) })
        .collect();
    request
}

async fn produce(client: &mut Client, request: &ProduceRequest) -> Vec<PartitionProduceResponse> {
    client.ask(13, request).await.responses.remove(0).partition_responses
}

fn codes(answers: &[PartitionProduceResponse]) -> Vec<(i32, i16, i64)> {
    answers.iter().map(|answer| (answer.index, answer.error_code, answer.base_offset)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_batch_of_much_is_taken_in_its_place() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    let topic = create(&mut client, "t", 5, &[]).await;
    let small = support::batch(1000, &[b"v"]);
    for codec in [Codec::Gzip, Codec::Zstd] {
        let bomb = bomb(codec);
        assert!(bomb.len() < MUCH / 500);
        let mut damaged = bomb.clone();
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        let all = [small.clone(), bomb.clone(), small.clone(), damaged, bomb];
        let answers = produce(&mut client, &of(&topic, &all)).await;
        let at = if codec == Codec::Gzip { 0 } else { 1 };
        assert_eq!(
            codes(&answers),
            [(0, 0, at), (1, 0, at), (2, 0, at), (3, 2, -1), (4, 0, at)],
            "{codec:?}"
        );
    }
    let read = client.ask(17, &support::fetch_request(topic.topic_data[0].topic_id, 1, 0)).await;
    let records = read.responses[0].partitions[0].records.clone().expect("not null");
    let first = BatchView::first(&records).expect("a batch").expect("whole");
    assert_eq!(first.bytes()[HEADER_BYTES..], bomb(Codec::Gzip)[HEADER_BYTES..]);
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_topics_own_limits_and_codec_hold_for_it_too() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    for (name, configs, code) in [
        ("records", &[("max.decompressed.message.bytes", "40000000")][..], 87),
        ("plain", &[("compression.type", "uncompressed")], 10),
        ("packed", &[("compression.type", "lz4")], 0),
        ("keys", &[("cleanup.policy", "compact")], 0),
    ] {
        let topic = create(&mut client, name, 2, configs).await;
        let small = support::batch(1000, &[b"v"]);
        let answers = produce(&mut client, &of(&topic, &[bomb(Codec::Gzip), small])).await;
        let small = if name == "keys" { (1, 87, -1) } else { (1, 0, 0) };
        assert_eq!(codes(&answers), [(0, code, if code == 0 { 0 } else { -1 }), small], "{name}");
    }
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_behind_it_keep_their_order_and_others_are_served_meanwhile() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    let topic = create(&mut client, "t", 1, &[]).await;
    let (large, small) = (of(&topic, &[bomb(Codec::Gzip)]), of(&topic, &[support::batch(1000, &[b"v"])]));
    let mut hostile = Vec::new();
    for _ in 0..8 {
        let mut one = broker.connect().await;
        let first = one.send(13, &large).await;
        let second = one.send(13, &small).await;
        hostile.push((one, first, second));
    }
    let other = create(&mut client, "other", 1, &[]).await;
    for offset in 0..20 {
        let answers = produce(&mut client, &of(&other, &[support::batch(1000, &[b"v"])])).await;
        assert_eq!(codes(&answers), [(0, 0, offset)]);
    }
    for (mut one, first, second) in hostile {
        let large = one.receive::<ProduceRequest>(13, first).await;
        let small = one.receive::<ProduceRequest>(13, second).await;
        let offset = |response: &<ProduceRequest as barnabas_protocol::messages::Request>::Response| {
            response.responses[0].partition_responses[0].base_offset
        };
        assert!(offset(&large) >= 0 && offset(&large) < offset(&small));
    }
    broker.stop().await;
}
