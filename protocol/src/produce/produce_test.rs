//! The views against the plain message structs, for every version.

use super::*;
use crate::messages::{Message, produce as plain};
use bytes::Bytes;
use proptest::prelude::*;

fn request(version: i16) -> plain::ProduceRequest {
    let by_id = version >= BY_ID;
    let topic = |name: &str, id: u8, partitions| plain::TopicProduceData {
        name: if by_id { String::new() } else { name.to_owned() },
        topic_id: if by_id { Uuid([id; 16]) } else { Uuid::ZERO },
        partition_data: partitions,
    };
    let partition = |index, records: Option<&'static [u8]>| plain::PartitionProduceData {
        index,
        records: records.map(Bytes::from_static),
    };
    plain::ProduceRequest {
        transactional_id: Some("txn".to_owned()),
        acks: -1,
        timeout_ms: 1500,
        topic_data: vec![
            topic("one", 1, vec![partition(0, Some(b"abc")), partition(7, None), partition(-1, Some(b""))]),
            topic("none", 2, vec![]),
            topic("two", 3, vec![partition(2, Some(b"defg"))]),
        ],
    }
}

fn encoded(message: &impl Message, version: i16) -> Vec<u8> {
    let mut out = Vec::new();
    message.encode(&mut Writer::new(&mut out, version));
    out
}

/// What a view shows, as the plain struct.
fn shown(version: i16, body: &mut [u8]) -> Result<plain::ProduceRequest, DecodeError> {
    let view = ProduceRequest::read(version, body)?;
    let topics = view.topics.map(|topic| plain::TopicProduceData {
        name: topic.topic.name().unwrap_or_default().to_owned(),
        topic_id: match topic.topic {
            TopicRef::Id(id) => id,
            TopicRef::Name(_) => Uuid::ZERO,
        },
        partition_data: topic
            .partitions
            .map(|partition| plain::PartitionProduceData {
                index: partition.index,
                records: partition.records.map(|records| Bytes::copy_from_slice(records)),
            })
            .collect(),
    });
    Ok(plain::ProduceRequest {
        transactional_id: view.transactional_id.map(Cow::into_owned),
        acks: view.acks,
        timeout_ms: view.timeout_ms,
        topic_data: topics.collect(),
    })
}

#[test]
fn every_version_shows_what_was_sent() {
    for version in 3..=13 {
        let expected = request(version);
        let mut body = encoded(&expected, version);
        assert_eq!(shown(version, &mut body).as_ref(), Ok(&expected), "version {version}");
        body.extend([1, 2, 3]);
        assert_eq!(shown(version, &mut body), Ok(expected), "version {version}, bytes behind");
    }
}

#[test]
fn records_are_patched_in_the_frame() {
    for version in 3..=13 {
        let mut body = encoded(&request(version), version);
        let view = ProduceRequest::read(version, &mut body).unwrap();
        let mut all: Vec<_> = view.topics.flat_map(|topic| topic.partitions).collect();
        let sizes: Vec<_> = all.iter().map(|p| p.records.as_ref().map(|records| records.len())).collect();
        assert_eq!(sizes, [Some(3), None, Some(0), Some(4)]);
        all[3].records.as_mut().unwrap().copy_from_slice(b"DEFG");
        all[0].records.as_mut().unwrap()[0] = b'A';
        let after = shown(version, &mut body).unwrap();
        assert_eq!(after.topic_data[0].partition_data[0].records.as_deref(), Some(&b"Abc"[..]));
        assert_eq!(after.topic_data[2].partition_data[0].records.as_deref(), Some(&b"DEFG"[..]));
    }
}

#[test]
fn a_cut_body_is_refused_wherever_it_is_cut() {
    for version in 3..=13 {
        let body = encoded(&request(version), version);
        for length in 0..body.len() {
            let mut cut = body[..length].to_vec();
            assert!(ProduceRequest::read(version, &mut cut).is_err(), "version {version}, {length} bytes");
        }
    }
}

#[test]
fn counts_beyond_the_bytes_are_refused() {
    let mut body = vec![0xff, 0xff, 0, 1, 0, 0, 0, 9];
    body.extend(i32::MAX.to_be_bytes());
    let refused = ProduceRequest::read(3, &mut body).unwrap_err();
    assert!(matches!(refused, DecodeError::CountTooLarge { .. }));
    let null = [0xff, 0xff, 0, 1, 0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(ProduceRequest::read(3, &mut null.to_vec()).unwrap_err(), DecodeError::NullNotAllowed);
}

proptest! {
    #[test]
    fn damage_never_surprises(version in 3..=13_i16, at: prop::sample::Index, byte: u8, length: prop::sample::Index) {
        let mut body = encoded(&request(version), version);
        let at = at.index(body.len());
        body[at] = byte;
        body.truncate(length.index(body.len()) + 1);
        let plainly = plain::ProduceRequest::decode(&mut Reader::new(&body, version));
        let view = shown(version, &mut body);
        prop_assert_eq!(view.is_ok(), plainly.is_ok(), "{:?} {:?}", view, plainly);
        if let (Ok(view), Ok(plainly)) = (view, plainly) {
            prop_assert_eq!(view, plainly);
        }
    }
}

#[test]
fn every_version_of_the_answer_is_read_back() {
    let errors = [(3, "no key".to_owned())];
    let full = PartitionAnswer {
        index: 1,
        error_code: 6,
        base_offset: 9,
        log_append_time_ms: 10,
        log_start_offset: 11,
        record_errors: &errors,
        error_message: Some("why"),
        current_leader: Some(LeaderIdAndEpoch { leader_id: 2, leader_epoch: 5 }),
    };
    let endpoint = NodeEndpoint { node_id: 2, host: "h", port: 9092, rack: None };
    for version in 3..=13 {
        let mut body = b"before".to_vec();
        let mut w = ProduceResponseWriter::begin(&mut body, version, 2);
        w.topic("t", Uuid([4; 16]), 2);
        w.partition(&PartitionAnswer::refused(0, 3));
        let start = w.partition(&full);
        w.topic("empty", Uuid([5; 16]), 0);
        w.finish(77, &[endpoint]);

        let mut r = Reader::new(&body[6..], version);
        let answer = plain::ProduceResponse::decode(&mut r).unwrap();
        assert!(r.rest().is_empty(), "version {version}");
        assert_eq!(answer.throttle_time_ms, 77);
        assert_eq!(answer.responses.len(), 2);
        let (since_5, since_8, since_10) = (version >= 5, version >= 8, version >= 10);
        let expected = plain::PartitionProduceResponse {
            index: 1,
            error_code: 6,
            base_offset: 9,
            log_append_time_ms: 10,
            log_start_offset: if since_5 { 11 } else { -1 },
            record_errors: if !since_8 {
                vec![]
            } else {
                vec![plain::BatchIndexAndErrorMessage {
                    batch_index: 3,
                    batch_index_error_message: Some("no key".to_owned()),
                }]
            },
            error_message: since_8.then(|| "why".to_owned()),
            current_leader: if since_10 {
                plain::LeaderIdAndEpoch { leader_id: 2, leader_epoch: 5 }
            } else {
                plain::LeaderIdAndEpoch::default()
            },
        };
        assert_eq!(answer.responses[0].partition_responses[1], expected.clone());
        assert_eq!(answer.responses[0].partition_responses[0].base_offset, -1);
        assert_eq!(answer.node_endpoints.len(), usize::from(since_10));
        assert_eq!(answer.responses[0].topic_id, if version >= BY_ID { Uuid([4; 16]) } else { Uuid::ZERO });
        // Byte for byte what the plain struct writes.
        assert_eq!(encoded(&answer, version), body[6..]);

        refuse_written(&mut body, start, version, 56);
        let mut r = Reader::new(&body[6..], version);
        let refused = plain::ProduceResponse::decode(&mut r).unwrap();
        let refused = refused.responses[0].partition_responses[1].clone();
        let (error_code, base_offset, log_append_time_ms) = (56, -1, -1);
        let log_start_offset = -1;
        assert_eq!(
            refused,
            plain::PartitionProduceResponse {
                error_code,
                base_offset,
                log_append_time_ms,
                log_start_offset,
                ..expected
            }
        );
    }
}

#[test]
fn what_is_named_twice_is_merged_and_the_last_records_count() {
    let mut scratch = Vec::new();
    for version in [3, 9, 13] {
        let once = request(version);
        let body = encoded(&once, version);
        assert_eq!(without_repeats(version, &body, &mut scratch), Ok(None), "nothing is named twice");

        let mut twice = once.clone();
        let mut again = once.topic_data[0].clone();
        again.partition_data = vec![
            plain::PartitionProduceData { index: 7, records: Some(Bytes::from_static(b"last")) },
            plain::PartitionProduceData { index: 9, records: None },
        ];
        twice.topic_data.push(again);
        let mut body = without_repeats(version, &encoded(&twice, version), &mut scratch).unwrap().unwrap();
        let mut expected = once;
        let first = &mut expected.topic_data[0].partition_data;
        first[1].records = Some(Bytes::from_static(b"last"));
        first.push(plain::PartitionProduceData { index: 9, records: None });
        assert_eq!(shown(version, &mut body).unwrap(), expected);
    }
}

#[test]
fn a_request_says_whether_it_names_more_than_one_partition() {
    let many = |message: &plain::ProduceRequest| {
        ProduceRequest::read(9, &mut encoded(message, 9)).unwrap().names_many
    };
    let mut message = request(9);
    assert!(many(&message), "three topics");
    message.topic_data.truncate(1);
    assert!(many(&message), "three partitions");
    message.topic_data[0].partition_data.truncate(1);
    assert!(!many(&message));
}
