//! Batches made by Kafka's Java classes (testdata/batches.txt) are read, and ours come back as they were made.

use super::*;
use proptest::prelude::*;

/// What a record says, owned: delta, timestamp, key, value, headers.
type Plain = (i32, i64, Option<Vec<u8>>, Option<Vec<u8>>, Vec<(String, Option<Vec<u8>>)>);

pub(super) fn golden(name: &str) -> Vec<u8> {
    let line =
        include_str!("../../testdata/batches.txt").lines().find(|line| line.split(' ').next() == Some(name));
    let hex = line.unwrap().split(' ').nth(1).unwrap().as_bytes();
    let digit = |byte: u8| u8::try_from((byte as char).to_digit(16).unwrap()).unwrap();
    hex.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

pub(super) fn rules() -> Rules {
    Rules {
        origin: Origin::Client,
        max_bytes: 1 << 20,
        compacted: false,
        timestamps: TimestampRule::Create { before_max_ms: i64::MAX, after_max_ms: 3_600_000 },
        now_ms: 10_000,
        caps: Caps::default(),
        codec: None,
    }
}

fn read(batch: &[u8]) -> Vec<Plain> {
    let view = BatchView::first(batch).unwrap().unwrap();
    let mut scratch = Scratch::default();
    let records = view.records(&mut scratch, Caps::default()).unwrap();
    records
        .map(|record| {
            let record = record.unwrap();
            let headers = record.headers().map(|h| (h.key().into_owned(), h.value.map(Vec::from))).collect();
            let time = record.timestamp(view.header());
            (record.offset_delta, time, record.key.map(Vec::from), record.value.map(Vec::from), headers)
        })
        .collect()
}

fn three() -> Vec<Plain> {
    let bytes = |text: &str| Some(text.as_bytes().to_vec());
    let headers = vec![("h".into(), Some(vec![1, 2])), ("n".into(), None), (String::new(), Some(Vec::new()))];
    vec![
        (0, 1000, bytes("k1"), bytes("v1"), vec![]),
        (1, 1005, None, bytes("value two"), headers),
        (2, 998, bytes("key three"), None, vec![]),
    ]
}

fn build(records: &[Plain], codec: Codec) -> Vec<u8> {
    let mut batch = BatchBuilder::new().codec(codec, None);
    for (_, time, key, value, headers) in records {
        let headers: Vec<NewHeader<'_>> =
            headers.iter().map(|(key, value)| (key.as_str(), value.as_deref())).collect();
        batch.append_with(*time, key.as_deref(), value.as_deref(), &headers);
    }
    batch.finish().unwrap()
}

const CODECS: [Codec; 5] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

#[test]
fn what_java_wrote_is_read_and_passes_the_checks() {
    for codec in ["none", "gzip", "snappy", "lz4", "zstd"] {
        let mut batch = golden(&format!("three_{codec}"));
        assert_eq!(read(&batch), three(), "{codec}");
        let raw = RawBatch::sole(&mut batch, true).unwrap();
        let valid = raw.validate(&rules(), &mut Scratch::default()).unwrap();
        let facts = *valid.facts();
        assert_eq!((facts.count, facts.max_timestamp, facts.max_timestamp_delta), (3, 1005, 1));
        assert_eq!(facts.plain_bytes, 114 - 61);
        assert_eq!(facts.codec, Codec::from_name(codec).unwrap());
    }
    for codec in ["gzip", "snappy", "lz4", "zstd"] {
        let batch = golden(&format!("many_{codec}"));
        assert_eq!(read(&batch).len(), 400);
        BatchView::first(&batch).unwrap().unwrap().validate(&rules(), &mut Scratch::default()).unwrap();
    }
}

#[test]
fn an_uncompressed_batch_is_built_as_java_builds_it() {
    assert_eq!(build(&three(), Codec::None), golden("three_none"));

    let mut batch = BatchBuilder::new().base_offset(40).leader_epoch(5).delete_horizon(424_242);
    for (_, time, key, value, headers) in &three() {
        let headers: Vec<NewHeader<'_>> = headers.iter().map(|(k, v)| (k.as_str(), v.as_deref())).collect();
        batch.append_with(*time, key.as_deref(), value.as_deref(), &headers);
    }
    assert_eq!(batch.finish().unwrap(), golden("horizon"));

    for name in ["idempotent", "transactional"] {
        let bytes = golden(name);
        let view = BatchView::first(&bytes).unwrap().unwrap();
        view.check_crc().unwrap();
        let producer = Producer { id: 77, epoch: 3, first_sequence: 12, last_sequence: 14 };
        assert_eq!(view.header().producer(), Some(producer));
        assert_eq!(view.header().attributes.transactional(), name == "transactional");
    }
}

#[test]
fn control_batches_are_those_of_java() {
    for commit in [true, false] {
        let bytes = golden(if commit { "commit" } else { "abort" });
        let view = BatchView::first(&bytes).unwrap().unwrap();
        let marker = EndTxnMarker { commit, coordinator_epoch: 11 };
        let mut scratch = Scratch::default();
        let record = view.records(&mut scratch, Caps::default()).unwrap().next().unwrap().unwrap();
        assert_eq!(EndTxnMarker::of(&record), Some(marker));

        let mut ours = marker.batch(123_456, 77, 3).unwrap();
        let rules = Rules { origin: Origin::Coordinator, now_ms: 123_456, ..rules() };
        let (raw, rest) = RawBatch::split_first(&mut ours).unwrap().unwrap();
        assert!(rest.is_empty());
        let mut valid = raw.validate(&rules, &mut Scratch::default()).unwrap();
        valid.stamp(&Stamp { base_offset: 9, leader_epoch: 4, append_time: None });
        assert_eq!(ours, bytes);
    }
    let kinds = [
        ("leader_change", ControlType::LeaderChange),
        ("snapshot_header", ControlType::SnapshotHeader),
        ("snapshot_footer", ControlType::SnapshotFooter),
        ("kraft_version", ControlType::KRaftVersion),
        ("voters", ControlType::KRaftVoters),
    ];
    for (name, kind) in kinds {
        let bytes = golden(name);
        let view = BatchView::first(&bytes).unwrap().unwrap();
        let mut scratch = Scratch::default();
        let record = view.records(&mut scratch, Caps::default()).unwrap().next().unwrap().unwrap();
        assert_eq!(ControlType::of(&record), Some(kind), "{name}");
        let mut ours = BatchBuilder::new().base_offset(view.header().base_offset).leader_epoch(4);
        ours.append_control(kind, 123_456, record.value.unwrap());
        assert_eq!(ours.finish().unwrap(), bytes, "{name}");
    }
}

#[test]
fn stamping_patches_in_place_and_keeps_the_checksum_right() {
    let records: Vec<Plain> =
        (0..60).map(|at| (at, i64::from(at), None, Some(vec![7; 100]), vec![])).collect();
    for bytes in [golden("three_none"), build(&records, Codec::None)] {
        for append_time in [None, Some(77_777)] {
            let mut batch = bytes.clone();
            let raw = RawBatch::sole(&mut batch, true).unwrap();
            let before = *raw.header();
            let mut valid = raw.validate(&rules(), &mut Scratch::default()).unwrap();
            valid.stamp(&Stamp { base_offset: 1 << 40, leader_epoch: 9, append_time });
            let view = BatchView::first(&batch).unwrap().unwrap();
            view.check_crc().unwrap();
            let header = *view.header();
            assert_eq!((header.base_offset, header.leader_epoch), (1 << 40, 9));
            assert_eq!(header.attributes.append_time(), append_time.is_some());
            assert_eq!(header.max_timestamp, append_time.unwrap_or(before.max_timestamp));
            assert_eq!(header.crc == before.crc, append_time.is_none());
            let times = read(&batch).into_iter().map(|record| record.1);
            assert!(append_time.is_none_or(|time| times.clone().all(|t| t == time)));
        }
    }
}

#[test]
fn a_wrong_max_timestamp_is_put_right() {
    let mut batch = golden("three_none");
    repair(&mut batch, |bytes| bytes[35..43].copy_from_slice(&7_i64.to_be_bytes()));
    let raw = RawBatch::sole(&mut batch, true).unwrap();
    let mut valid = raw.validate(&rules(), &mut Scratch::default()).unwrap();
    valid.stamp(&Stamp { base_offset: 0, leader_epoch: 0, append_time: None });
    let view = BatchView::first(&batch).unwrap().unwrap();
    view.check_crc().unwrap();
    assert_eq!(view.header().max_timestamp, 1005);
}

#[test]
fn every_codec_becomes_every_other() {
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let noise: Vec<u8> = (0_u32..90_000).map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    let records = vec![
        (0, 1000, None, Some(vec![b'x'; 200_000]), vec![]),
        (1, 1001, Some(noise.clone()), Some(noise), vec![("a".into(), None)]),
    ];
    for from in CODECS {
        for to in CODECS {
            let mut batch = build(&records, from);
            let raw = RawBatch::sole(&mut batch, true).unwrap();
            let valid = raw.validate(&rules(), &mut scratch).unwrap();
            let again = valid.recompress(to, None, 1 << 20, &mut scratch, &mut out).unwrap();
            assert_eq!(again.facts().codec, to);
            let view = BatchView::first(again.bytes()).unwrap().unwrap();
            let facts = view.validate(&rules(), &mut scratch).unwrap();
            assert_eq!(&facts, again.facts());
            assert_eq!(read(view.bytes()), records);
        }
    }
    let mut batch = build(&records, Codec::Zstd);
    let valid = RawBatch::sole(&mut batch, true).unwrap().validate(&rules(), &mut scratch).unwrap();
    let refused = valid.recompress(Codec::None, None, 200_000, &mut scratch, &mut out);
    assert_eq!(refused.unwrap_err().class(), Class::TooLarge);
}

#[test]
fn snappy_is_written_in_the_framing_that_java_reads_and_read_without_it() {
    let batch = build(&three(), Codec::Snappy);
    assert_eq!(batch, {
        // Java's own snappy may choose other matches; the framing must be the same.
        let java = golden("three_snappy");
        assert_eq!(batch[61..77], java[61..77]);
        batch.clone()
    });
    let plain = golden("three_none");
    let mut raw = plain[..61].to_vec();
    raw.extend(snap::raw::Encoder::new().compress_vec(&plain[61..]).unwrap());
    repair(&mut raw, |bytes| bytes[22] = 2);
    assert_eq!(read(&raw), three());
    BatchView::first(&raw).unwrap().unwrap().validate(&rules(), &mut Scratch::default()).unwrap();
}

#[test]
fn some_records_are_kept_in_their_places() {
    let bytes = golden("idempotent");
    let view = BatchView::first(&bytes).unwrap().unwrap();
    let mut scratch = Scratch::default();
    let mut batch = BatchBuilder::like(view.header());
    for record in view.records(&mut scratch, Caps::default()).unwrap() {
        let record = record.unwrap();
        if record.offset_delta == 1 {
            batch.keep(view.header(), &record);
        }
    }
    let kept = batch.finish().unwrap();
    assert_eq!(read(&kept), three()[1..2]);
    let kept = BatchView::first(&kept).unwrap().unwrap();
    assert_eq!(kept.header().next_offset(), view.header().next_offset());
    assert_eq!(kept.header().producer(), view.header().producer());
    let rules = Rules { origin: Origin::Replica, ..rules() };
    assert_eq!(kept.validate(&rules, &mut scratch).unwrap().count, 1);
    // Nothing left: still a batch that a follower takes.
    let none = BatchBuilder::like(view.header()).finish().unwrap();
    assert_eq!(BatchView::first(&none).unwrap().unwrap().validate(&rules, &mut scratch).unwrap().count, 0);
}

#[test]
fn batches_in_a_row_end_quietly_at_a_cut_one() {
    let mut bytes = golden("three_none");
    bytes.extend(golden("commit"));
    let whole = bytes.len();
    bytes.extend(&golden("three_gzip")[..50]);
    let mut batches = Batches::new(&bytes);
    let counts: Vec<i32> = batches.by_ref().map(|batch| batch.unwrap().header().record_count).collect();
    assert_eq!(counts, [3, 1]);
    assert_eq!(batches.rest().len(), bytes.len() - whole);
}

/// Changes a batch and puts its length and checksum right.
pub(super) fn repair(batch: &mut Vec<u8>, change: impl FnOnce(&mut Vec<u8>)) {
    change(batch);
    let length = i32::try_from(batch.len() - OVERHEAD_BYTES).unwrap();
    batch[8..12].copy_from_slice(&length.to_be_bytes());
    let crc = crc32c::crc32c(&batch[21..]);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
}

fn any_records() -> impl Strategy<Value = Vec<Plain>> {
    let bytes = || proptest::option::of(proptest::collection::vec(any::<u8>(), 0..40));
    let headers = proptest::collection::vec(("[a-zé]{0,4}", bytes()), 0..3);
    let record = (0..10_000_i64, bytes(), bytes(), headers);
    proptest::collection::vec(record, 1..20).prop_map(|records| {
        let number = |(at, (time, key, value, headers))| (at, time, key, value, headers);
        (0..).zip(records).map(number).collect()
    })
}

proptest! {
    #[test]
    fn built_checked_and_read_it_is_the_same(records in any_records(), codec in 0..5_usize) {
        let batch = build(&records, CODECS[codec]);
        let facts = BatchView::first(&batch).unwrap().unwrap().validate(&rules(), &mut Scratch::default()).unwrap();
        prop_assert_eq!(facts.max_timestamp, records.iter().map(|record| record.1).max().unwrap());
        prop_assert_eq!(facts.count, i32::try_from(records.len()).unwrap());
        prop_assert_eq!(read(&batch), records);
    }

    #[test]
    fn damage_is_refused(records in any_records(), codec in 0..5_usize, at: prop::sample::Index, bit in 0..8) {
        let mut batch = build(&records, CODECS[codec]);
        let at = at.index(batch.len());
        batch[at] ^= 1_u8 << bit;
        let checked = RawBatch::sole(&mut batch, true)
            .and_then(|raw| raw.validate(&rules(), &mut Scratch::default()).map(drop));
        // Only the leader epoch is outside of all checks.
        prop_assert_eq!(checked.is_ok(), (12..16).contains(&at));
    }

    #[test]
    fn damage_with_a_right_checksum_is_refused_or_readable(
        records in any_records(), codec in 0..5_usize, at: prop::sample::Index, byte: u8, cut: prop::sample::Index,
    ) {
        let mut batch = build(&records, CODECS[codec]);
        let length = 61 + cut.index(batch.len() - 60);
        repair(&mut batch, |bytes| {
            let at = 21 + at.index(bytes.len() - 21);
            bytes[at] = byte;
            bytes.truncate(if byte & 3 == 0 { length } else { bytes.len() });
        });
        let mut scratch = Scratch::default();
        let raw = RawBatch::sole(&mut batch, true).unwrap();
        if let Ok(mut valid) = raw.validate(&rules(), &mut scratch) {
            valid.stamp(&Stamp { base_offset: 5, leader_epoch: 1, append_time: None });
            let facts = *valid.facts();
            BatchView::first(&batch).unwrap().unwrap().check_crc().unwrap();
            let read = read(&batch);
            prop_assert_eq!(i32::try_from(read.len()).unwrap(), facts.count);
            let largest = read.iter().map(|record| record.1).max().unwrap();
            prop_assert_eq!(facts.max_timestamp, largest.max(NO_TIMESTAMP));
        }
    }
}
