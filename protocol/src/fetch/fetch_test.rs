//! The views against the plain message structs, for every version.

use super::*;
use crate::messages::{Message, fetch as plain};
use bytes::Bytes;
use proptest::prelude::*;

fn request(version: i16) -> plain::FetchRequest {
    let since = |least: i16| version >= least;
    let name = |name: &str| if since(BY_ID) { String::new() } else { name.to_owned() };
    let id = |id: u8| if since(BY_ID) { Uuid([id; 16]) } else { Uuid::ZERO };
    let partition = |partition| plain::FetchPartition {
        partition,
        current_leader_epoch: if since(9) { 4 } else { -1 },
        fetch_offset: 1 << 40,
        last_fetched_epoch: if since(12) { 3 } else { -1 },
        log_start_offset: if since(5) { 7 } else { -1 },
        partition_max_bytes: 1 << 20,
        replica_directory_id: if since(17) { Uuid([9; 16]) } else { Uuid::ZERO },
        high_watermark: if since(18) { 55 } else { i64::MAX },
    };
    let state = plain::ReplicaState { replica_id: 3, replica_epoch: 66 };
    plain::FetchRequest {
        replica_id: if since(15) { -1 } else { 3 },
        max_wait_ms: 500,
        min_bytes: 1,
        max_bytes: 1 << 25,
        isolation_level: 1,
        session_id: if since(7) { 123 } else { 0 },
        session_epoch: if since(7) { 4 } else { -1 },
        topics: vec![
            plain::FetchTopic {
                topic: name("one"),
                topic_id: id(1),
                partitions: vec![partition(0), partition(5)],
            },
            plain::FetchTopic { topic: name("none"), topic_id: id(2), partitions: vec![] },
        ],
        forgotten_topics_data: if since(7) {
            vec![plain::ForgottenTopic { topic: name("gone"), topic_id: id(8), partitions: vec![1, 2, 3] }]
        } else {
            vec![]
        },
        rack_id: if since(11) { "rack".to_owned() } else { String::new() },
        cluster_id: since(12).then(|| "cluster".to_owned()),
        replica_state: if since(15) { state } else { plain::ReplicaState::default() },
    }
}

fn encoded(message: &impl Message, version: i16) -> Vec<u8> {
    let mut out = Vec::new();
    message.encode(&mut Writer::new(&mut out, version));
    out
}

fn named(topic: &TopicRef<'_>) -> (String, Uuid) {
    match topic {
        TopicRef::Name(name) => (name.clone().into_owned(), Uuid::ZERO),
        TopicRef::Id(id) => (String::new(), *id),
    }
}

/// What a view shows, as the plain struct.
fn shown(version: i16, body: &[u8]) -> Result<plain::FetchRequest, DecodeError> {
    let view = FetchRequest::read(version, body)?;
    let state = plain::ReplicaState { replica_id: view.replica_id, replica_epoch: view.replica_epoch };
    let tagged = version >= 15;
    let topics = view.topics.map(|topic| {
        let (name, topic_id) = named(&topic.topic);
        let partitions = topic.partitions.map(|partition| plain::FetchPartition {
            partition: partition.partition,
            current_leader_epoch: partition.current_leader_epoch,
            fetch_offset: partition.fetch_offset,
            last_fetched_epoch: partition.last_fetched_epoch,
            log_start_offset: partition.log_start_offset,
            partition_max_bytes: partition.partition_max_bytes,
            replica_directory_id: partition.replica_directory_id,
            high_watermark: partition.high_watermark,
        });
        plain::FetchTopic { topic: name, topic_id, partitions: partitions.collect() }
    });
    let forgotten = view.forgotten.map(|topic| {
        let (name, topic_id) = named(&topic.topic);
        plain::ForgottenTopic { topic: name, topic_id, partitions: topic.partitions().collect() }
    });
    Ok(plain::FetchRequest {
        replica_id: if tagged { -1 } else { view.replica_id },
        max_wait_ms: view.max_wait_ms,
        min_bytes: view.min_bytes,
        max_bytes: view.max_bytes,
        isolation_level: view.isolation_level,
        session_id: view.session_id,
        session_epoch: view.session_epoch,
        topics: topics.collect(),
        forgotten_topics_data: forgotten.collect(),
        rack_id: view.rack_id.into_owned(),
        cluster_id: view.cluster_id.map(Cow::into_owned),
        replica_state: if tagged { state } else { plain::ReplicaState::default() },
    })
}

#[test]
fn every_version_shows_what_was_sent() {
    for version in 4..=18 {
        let expected = request(version);
        let mut body = encoded(&expected, version);
        assert_eq!(shown(version, &body).as_ref(), Ok(&expected), "version {version}");
        body.push(0);
        assert_eq!(shown(version, &body), Ok(expected), "version {version}, a byte behind");
    }
}

#[test]
fn a_cut_body_is_refused_wherever_it_is_cut() {
    for version in 4..=18 {
        let body = encoded(&request(version), version);
        for length in 0..body.len() {
            assert!(
                FetchRequest::read(version, &body[..length]).is_err(),
                "version {version}, {length} bytes"
            );
        }
    }
}

proptest! {
    #[test]
    fn damage_never_surprises(version in 4..=18_i16, at: prop::sample::Index, byte: u8, length: prop::sample::Index) {
        let mut body = encoded(&request(version), version);
        let at = at.index(body.len());
        body[at] = byte;
        body.truncate(length.index(body.len()) + 1);
        let plainly = plain::FetchRequest::decode(&mut Reader::new(&body, version));
        let view = shown(version, &body);
        prop_assert_eq!(view.is_ok(), plainly.is_ok(), "{:?} {:?}", view, plainly);
        if let (Ok(view), Ok(plainly)) = (view, plainly) {
            prop_assert_eq!(view, plainly);
        }
    }
}

#[test]
fn every_version_of_the_answer_is_read_back_with_the_records_put_in() {
    let aborted = [AbortedTransaction { producer_id: 5, first_offset: 6 }];
    let full = PartitionAnswer {
        partition: 1,
        error_code: 74,
        high_watermark: 9,
        last_stable_offset: 8,
        log_start_offset: 7,
        aborted_transactions: Some(&aborted),
        preferred_read_replica: 2,
        diverging_epoch: Some(EpochAndOffset { epoch: 3, end_offset: 4 }),
        current_leader: Some(LeaderIdAndEpoch { leader_id: 2, leader_epoch: 5 }),
        snapshot_id: Some(EpochAndOffset { epoch: 13, end_offset: 14 }),
    };
    let endpoint = NodeEndpoint { node_id: 2, host: "h", port: 9092, rack: Some("r") };
    for version in 4..=18 {
        let mut out = b"before".to_vec();
        let mut w = FetchResponseWriter::begin(&mut out, version, 11, 70, 12, 2);
        w.topic("t", Uuid([4; 16]), 2);
        w.partition(&PartitionAnswer::refused(0, 0), 300, |out| out.extend([b'x'; 300]));
        w.partition(&full, 0, |_| {});
        w.topic("empty", Uuid([5; 16]), 0);
        w.finish(&[endpoint]);
        let body = &out[6..];

        let mut r = Reader::new(body, version);
        let answer = plain::FetchResponse::decode(&mut r).unwrap();
        assert!(r.rest().is_empty(), "version {version}");
        let since = |least: i16| version >= least;
        assert_eq!(answer.throttle_time_ms, 11);
        assert_eq!((answer.error_code, answer.session_id), if since(7) { (70, 12) } else { (0, 0) });
        assert_eq!(answer.node_endpoints.len(), usize::from(since(16)));
        let topic = &answer.responses[0];
        assert_eq!(topic.partitions[0].records, Some(Bytes::from_static(&[b'x'; 300])));
        assert_eq!(topic.partitions[0].aborted_transactions, None);
        let expected = plain::PartitionData {
            partition_index: 1,
            error_code: 74,
            high_watermark: 9,
            last_stable_offset: 8,
            log_start_offset: if since(5) { 7 } else { -1 },
            aborted_transactions: Some(vec![plain::AbortedTransaction { producer_id: 5, first_offset: 6 }]),
            preferred_read_replica: if since(11) { 2 } else { -1 },
            records: Some(Bytes::new()),
            ..plain::PartitionData::default()
        };
        let expected = if since(12) {
            plain::PartitionData {
                diverging_epoch: plain::EpochEndOffset { epoch: 3, end_offset: 4 },
                current_leader: plain::LeaderIdAndEpoch { leader_id: 2, leader_epoch: 5 },
                snapshot_id: plain::SnapshotId { end_offset: 14, epoch: 13 },
                ..expected
            }
        } else {
            expected
        };
        assert_eq!(topic.partitions[1], expected, "version {version}");
        // Byte for byte what the plain struct writes.
        assert_eq!(encoded(&answer, version), body);
    }
}
