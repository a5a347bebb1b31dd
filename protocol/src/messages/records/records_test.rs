//! Reads and writes records that a Kafka 4.4 broker has written.

use super::control::*;
use super::metadata::MetadataRecord;
use super::*;

/// Each line: kind, key, value in hex.
const RECORDS: &str = include_str!("../../../testdata/records.txt");

fn unhex(text: &str) -> Vec<u8> {
    let digit = |digit: u8| u8::try_from(char::from(digit).to_digit(16).unwrap()).unwrap();
    text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// The fields in hex of the lines of a kind.
fn lines(kind: &str) -> impl Iterator<Item = Vec<&'static str>> {
    RECORDS.lines().filter_map(move |line| {
        let mut words = line.split(' ');
        (words.next() == Some(kind)).then(|| words.collect())
    })
}

fn value(text: &str) -> Option<Vec<u8>> {
    (text != "-").then(|| unhex(text))
}

#[test]
fn metadata_records_are_read_and_written_as_kafka_does() {
    let mut count = 0;
    for line in lines("metadata") {
        let bytes = unhex(line[0]);
        let record = MetadataRecord::decode(&bytes).unwrap();
        let mut back = Vec::new();
        record.encode(i16::from(bytes[2]), &mut back);
        assert_eq!(back, bytes, "{record:?}");
        count += 1;
    }
    assert!(count > 20);
}

macro_rules! keyed_records_survive {
    ($log:ident, $kind:literal) => {
        let mut count = 0;
        for line in lines($kind) {
            let (key, value) = (unhex(line[0]), value(line[1]));
            let record = $log::decode(&key, value.as_deref()).unwrap();
            assert_eq!(record.key_bytes(), key, "{record:?}");
            let version = value.as_ref().map_or(0, |value| i16::from_be_bytes([value[0], value[1]]));
            assert_eq!(record.value_bytes(version), value, "{record:?}");
            count += 1;
        }
        assert!(count > 0);
    };
}

#[test]
fn coordinators_records_are_read_and_written_as_kafka_does() {
    keyed_records_survive!(OffsetsRecord, "offsets");
    keyed_records_survive!(TransactionRecord, "transactions");
}

#[test]
fn control_records_are_read_and_written_as_kafka_does() {
    fn same<M: Message>(bytes: &[u8]) {
        let message: M = from_self_versioned(bytes).unwrap();
        assert_eq!(message.to_bytes(i16::from_be_bytes([bytes[0], bytes[1]])), bytes);
    }
    let mut kinds = Vec::new();
    for line in lines("control") {
        let (key, value) = (unhex(line[0]), unhex(line[1]));
        let kind: ControlRecordTypeSchema = from_versioned(&key).unwrap();
        assert_eq!(to_versioned(&kind, 0), key);
        match kind.r#type {
            0 | 1 => {
                let marker: EndTxnMarker = from_versioned(&value).unwrap();
                assert_eq!(to_versioned(&marker, 0), value);
            }
            2 => same::<LeaderChangeMessage>(&value),
            3 => same::<SnapshotHeaderRecord>(&value),
            4 => same::<SnapshotFooterRecord>(&value),
            other => panic!("unexpected control record {other}"),
        }
        kinds.push(kind.r#type);
    }
    kinds.sort_unstable();
    assert_eq!(kinds, [2, 3, 4]);
}
