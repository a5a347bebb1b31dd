//! What a producer may send, and that it comes back as it was.

use std::collections::HashMap;

use rdkafka::error::KafkaError;
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::types::RDKafkaErrorCode;

use crate::app::{PATIENCE, app};

#[tokio::test]
async fn every_codec_in_one_partition() {
    let Some(app) = app() else { return };
    app.create("codecs", 1).await;
    let codecs = ["none", "gzip", "snappy", "lz4", "zstd"];
    for codec in codecs {
        let producer = app.producer(&[("compression.type", codec), ("linger.ms", "50")]);
        app.fill(&producer, "codecs", 200).await;
    }
    let seen = app.all("codecs", 200 * codecs.len());
    for (offset, record) in (0_i64..).zip(&seen) {
        assert_eq!(record.offset, offset);
        assert_eq!(record.text(), format!("v{}", offset % 200));
    }
}

#[tokio::test]
async fn keys_headers_and_nulls() {
    let Some(app) = app() else { return };
    app.create("shapes", 1).await;
    let producer = app.producer(&[]);
    let headers = || {
        OwnedHeaders::new()
            .insert(Header { key: "a", value: Some("1") })
            .insert(Header { key: "a", value: Some("2") })
            .insert(Header { key: "none", value: None::<&str> })
            .insert(Header { key: "empty", value: Some("") })
    };
    let full = FutureRecord::to("shapes")
        .key("key")
        .payload("value")
        .headers(headers())
        .timestamp(1_700_000_000_123);
    producer.send(full, PATIENCE).await.unwrap();
    producer.send(FutureRecord::<str, str>::to("shapes").key("deleted"), PATIENCE).await.unwrap();
    producer.send(FutureRecord::<str, str>::to("shapes").payload("no key"), PATIENCE).await.unwrap();
    producer.send(FutureRecord::<str, str>::to("shapes"), PATIENCE).await.unwrap();
    producer.send(FutureRecord::to("shapes").key("").payload(""), PATIENCE).await.unwrap();

    let seen = app.all("shapes", 5);
    let bytes = |text: &str| Some(text.as_bytes().to_vec());
    assert_eq!((seen[0].key.clone(), seen[0].value.clone()), (bytes("key"), bytes("value")));
    assert_eq!(seen[0].timestamp, Some(1_700_000_000_123));
    let expected = [("a", bytes("1")), ("a", bytes("2")), ("none", None), ("empty", bytes(""))];
    assert_eq!(seen[0].headers, expected.map(|(key, value)| (key.to_owned(), value)));
    assert_eq!((seen[1].key.clone(), seen[1].value.clone()), (bytes("deleted"), None));
    assert_eq!((seen[2].key.clone(), seen[2].value.clone()), (None, bytes("no key")));
    assert_eq!((seen[3].key.clone(), seen[3].value.clone()), (None, None));
    // librdkafka shows an empty value as none; what is stored differs (the official tools' suite sees it).
    assert!(seen[4].key.as_deref().unwrap_or_default().is_empty());
}

#[tokio::test]
async fn large_batches_and_records() {
    let Some(app) = app() else { return };
    app.create("large", 2).await;
    let settings = [
        ("batch.size", "1000000"),
        ("batch.num.messages", "100000"),
        ("linger.ms", "100"),
        ("message.max.bytes", "5000000"),
    ];
    let producer = app.producer(&settings);
    let payloads: Vec<Vec<u8>> = (0..6000).map(|number| noise(1000, number)).collect();
    let mut waiting = Vec::new();
    for payload in &payloads {
        let record = FutureRecord::<(), _>::to("large").partition(0).payload(payload);
        waiting.push(producer.send_result(record).map_err(|(error, _)| error).unwrap());
    }
    for (offset, delivery) in (0_i64..).zip(waiting) {
        assert_eq!(delivery.await.unwrap().unwrap().offset, offset);
    }
    let nearly = noise(1_048_000, 1);
    let record = FutureRecord::<(), _>::to("large").partition(1).payload(&nearly);
    assert_eq!(producer.send(record, PATIENCE).await.unwrap().offset, 0);
    let above = noise(1_100_000, 2);
    let refused =
        producer.send(FutureRecord::<(), _>::to("large").partition(1).payload(&above), PATIENCE).await;
    let (error, _) = refused.unwrap_err();
    assert_eq!(error, KafkaError::MessageProduction(RDKafkaErrorCode::MessageSizeTooLarge));
    let record = FutureRecord::<(), str>::to("large").partition(1).payload("after");
    assert_eq!(
        producer.send(record, PATIENCE).await.unwrap().offset,
        1,
        "nothing of the refused record is there"
    );

    let mut by_partition: HashMap<i32, Vec<Vec<u8>>> = HashMap::new();
    for record in app.all("large", 6002) {
        by_partition.entry(record.partition).or_default().push(record.value.unwrap());
    }
    assert!(by_partition[&0] == payloads, "the large batches come back as they were");
    assert!(by_partition[&1] == [nearly, b"after".to_vec()], "the large record comes back as it was");
}

#[tokio::test]
async fn acks_and_first_send_to_a_new_topic() {
    let Some(app) = app() else { return };
    for acks in ["0", "1", "all"] {
        let producer = app.producer(&[("acks", acks)]);
        let topic = format!("made-by-acks-{acks}");
        if acks == "0" {
            // Nobody tells such a producer that the new topic's leader was not there yet.
            app.create(&topic, 1).await;
        }
        let placed = app.fill(&producer, &topic, 10).await;
        if acks != "0" {
            assert_eq!(placed, (0..10).map(|offset| (0, offset)).collect::<Vec<_>>());
        }
        let seen: Vec<String> = app.all(&topic, 10).iter().map(|record| record.text()).collect();
        assert_eq!(seen, (0..10).map(|number| format!("v{number}")).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn idempotent_producers_side_by_side() {
    let Some(app) = app() else { return };
    app.create("idempotent", 3).await;
    let idempotent = || app.producer(&[("enable.idempotence", "true"), ("batch.num.messages", "50")]);
    let (one, two) = (idempotent(), idempotent());
    let (first, second) =
        tokio::join!(app.fill(&one, "idempotent", 2000), app.fill(&two, "idempotent", 2000));
    let mut placed: Vec<(i32, i64)> = first.iter().chain(&second).copied().collect();
    placed.sort_unstable();
    placed.dedup();
    assert_eq!(placed.len(), 4000, "every record has a place of its own");

    let seen: HashMap<(i32, i64), String> = app
        .all("idempotent", 4000)
        .iter()
        .map(|record| ((record.partition, record.offset), record.text()))
        .collect();
    for fill in [first, second] {
        for (number, place) in fill.iter().enumerate() {
            assert_eq!(seen[place], format!("v{number}"));
        }
    }
    again(&one).await;
}

/// The producer's sequence goes on over several partitions and a topic that appears later.
async fn again(producer: &FutureProducer) {
    for number in 0..5 {
        let record = FutureRecord::<(), str>::to("idempotent-later").payload("later");
        assert_eq!(producer.send(record, PATIENCE).await.unwrap().offset, number);
    }
}

/// Bytes that do not compress, the same for the same seed.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    })
    .take(length)
    .collect()
}
