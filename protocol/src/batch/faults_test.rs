//! What is refused, and as what: the answers of Kafka 4.4 to the same bytes, and where we are stricter.

use super::batch_test::{golden, repair, rules};
use super::*;

/// Two records, `k` and `v` each.
const FIRST: &[u8] = &[0x10, 0, 0, 0, 2, b'k', 2, b'v', 0];
const SECOND: &[u8] = &[0x10, 0, 0, 2, 2, b'k', 2, b'v', 0];

fn check_by(rules: &Rules, mut batch: Vec<u8>) -> Result<Facts, Fault> {
    let raw = RawBatch::sole(&mut batch, true)?;
    raw.validate(rules, &mut Scratch::default()).map(|valid| *valid.facts())
}

fn class(batch: Vec<u8>) -> Option<Class> {
    check_by(&rules(), batch).err().map(|fault| fault.class())
}

/// A good batch with one change and a right checksum.
fn with(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut batch = two();
    repair(&mut batch, change);
    batch
}

fn two() -> Vec<u8> {
    records(&[FIRST, SECOND].concat(), 2, Codec::None)
}

/// A batch of these bytes, said to be so many records, compressed.
fn records(plain: &[u8], count: i32, codec: Codec) -> Vec<u8> {
    let mut batch = BatchBuilder::new();
    batch.append(1000, None, None);
    let mut bytes = batch.finish().unwrap();
    bytes.truncate(HEADER_BYTES);
    let mut packer = super::pack::Packer::new(codec, None, &mut bytes).unwrap();
    std::io::Write::write_all(&mut packer, plain).unwrap();
    packer.finish().unwrap();
    repair(&mut bytes, |bytes| {
        bytes[22] = u8::try_from(codec.id()).unwrap();
        bytes[23..27].copy_from_slice(&(count - 1).to_be_bytes());
        bytes[57..61].copy_from_slice(&count.to_be_bytes());
    });
    bytes
}

fn put(bytes: &mut [u8], at: usize, value: impl AsRef<[u8]>) {
    let value = value.as_ref();
    bytes[at..at + value.len()].copy_from_slice(value);
}

#[test]
fn what_is_not_one_batch() {
    let good = two();
    let sole = |mut bytes: Vec<u8>| RawBatch::sole(&mut bytes, true).map(|raw| raw.bytes().len());
    let joined = |tail: &[u8]| [&good, tail].concat();
    assert_eq!(sole(good.clone()), Ok(good.len()));
    for cut in [0, 11, 12, 16, 17, 60, good.len() - 1] {
        assert_eq!(sole(good[..cut].to_vec()), Err(Fault::NoBatch), "{cut} bytes");
    }
    assert_eq!(sole(joined(&good)), Err(Fault::SeveralBatches));
    assert_eq!(sole(joined(&good[..good.len() - 1])), Ok(good.len()));
    assert_eq!(sole(joined(&[1; 5])), Ok(good.len()));
    assert_eq!(sole(joined(&[0; 12])), Err(Fault::Length(0)));
    let length = |length: i32| {
        let mut bytes = good.clone();
        put(&mut bytes, 8, length.to_be_bytes());
        sole(bytes)
    };
    for least in [-1, 0, 10, 13] {
        assert_eq!(length(least), Err(Fault::Length(least)));
    }
    for short in [14, 40, 48] {
        assert_eq!(length(short).unwrap_err().class(), Class::Corrupt);
    }
    assert_eq!(length(1_000_000), Err(Fault::NoBatch));
    for (magic, expected) in
        [(0, Class::Invalid), (1, Class::Invalid), (3, Class::Corrupt), (255, Class::Corrupt)]
    {
        assert_eq!(class(with(|bytes| bytes[16] = magic)), Some(expected), "magic {magic}");
    }
}

#[test]
fn zstd_needs_produce_7() {
    let zstd = records(FIRST, 1, Codec::Zstd);
    assert_eq!(RawBatch::sole(&mut zstd.clone(), false).unwrap_err().class(), Class::UnsupportedCodec);
    assert_eq!(RawBatch::sole(&mut zstd.repeat(2), false).unwrap_err(), Fault::ZstdTooEarly);
    assert!(RawBatch::sole(&mut zstd.clone(), true).is_ok());
}

#[test]
fn transactions_are_seen_before_anything_else() {
    assert_eq!(peek_transactional(&two()), Ok(false));
    assert_eq!(peek_transactional(&with(|bytes| bytes[22] = 0x10)), Ok(true));
    assert_eq!(peek_transactional(&[0; 5]), Ok(false));
    let fault = peek_transactional(&[0; 12]).unwrap_err();
    assert_eq!(fault.to_string(), "Record size 0 is less than the minimum record overhead (14)");
}

#[test]
fn bad_headers() {
    let mut crc = two();
    crc[17] ^= 1;
    assert_eq!(class(crc), Some(Class::Corrupt));
    for offset in [5_i64, -1] {
        assert_eq!(class(with(|bytes| put(bytes, 0, offset.to_be_bytes()))), Some(Class::Invalid));
    }
    for delta in [-1, i32::MIN, 0, 2, i32::MAX] {
        assert_eq!(class(with(|bytes| put(bytes, 23, delta.to_be_bytes()))), Some(Class::Invalid), "{delta}");
    }
    for count in [-1, 0, 1, 3, i32::MAX] {
        assert_eq!(class(with(|bytes| put(bytes, 57, count.to_be_bytes()))), Some(Class::Invalid), "{count}");
    }
    assert_eq!(class(records(FIRST, 2, Codec::None)), Some(Class::Invalid));
    assert_eq!(class(records(&[FIRST, SECOND].concat(), 1, Codec::None)), Some(Class::Invalid));
    assert_eq!(class(with(|bytes| bytes[22] = 0x20)), Some(Class::Invalid));
    for unknown in [5, 6, 7] {
        assert_eq!(class(with(|bytes| bytes[22] = unknown)), Some(Class::Unreadable));
    }
    let producer = |id: i64, epoch: i16, sequence: i32| {
        class(with(|bytes| {
            put(bytes, 43, id.to_be_bytes());
            put(bytes, 51, epoch.to_be_bytes());
            put(bytes, 53, sequence.to_be_bytes());
        }))
    };
    assert_eq!(producer(5, 0, -1), Some(Class::Invalid));
    for taken in [producer(5, 0, 0), producer(5, -1, 0), producer(-1, 3, -1), producer(-1, 0, 3)] {
        assert_eq!(taken, None);
    }
    for harmless in [0x40, 0x80, 0x10] {
        assert_eq!(class(with(|bytes| bytes[22] = harmless)), None);
    }
}

#[test]
fn the_size_is_looked_at_before_the_checksum() {
    let small = Rules { max_bytes: 70, ..rules() };
    let mut broken = two();
    broken[17] ^= 1;
    assert_eq!(check_by(&small, broken).unwrap_err(), Fault::TooLarge { bytes: 79, max: 70 });
    let replica = Rules { origin: Origin::Replica, ..small };
    assert!(check_by(&replica, two()).is_ok());
}

#[test]
fn malformed_records() {
    let bad: &[(&str, &[u8])] = &[
        ("too long", &[0x12, 0, 0, 0, 2, b'k', 2, b'v', 0]),
        ("too short", &[0x0e, 0, 0, 0, 2, b'k', 2, b'v', 0]),
        ("negative length", &[1, 0, 0, 0, 2, b'k', 2, b'v', 0]),
        ("no length", &[0]),
        ("key beyond", &[0x10, 0, 0, 0, 0x40, b'k', 2, b'v', 0]),
        ("negative headers", &[0x10, 0, 0, 0, 2, b'k', 2, b'v', 1]),
        ("too many headers", &[0x10, 0, 0, 0, 2, b'k', 2, b'v', 0x64]),
        ("header without key", &[0x14, 0, 0, 0, 2, b'k', 2, b'v', 2, 1, 1]),
        ("bytes after headers", &[0x12, 0, 0, 0, 2, b'k', 2, b'v', 0, 0]),
        ("endless varint", &[0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0]),
        ("byte after the record", &[0x10, 0, 0, 0, 2, b'k', 2, b'v', 0, 0]),
        ("offset", &[0x10, 0, 0, 5, 2, b'k', 2, b'v', 0]),
    ];
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let packed = codec != Codec::None;
        for (name, bytes) in bad {
            let unreadable = *name == if packed { "offset" } else { "endless varint" };
            let expected = if unreadable { Class::Unreadable } else { Class::Invalid };
            assert_eq!(class(records(bytes, 1, codec)), Some(expected), "{name} {codec:?}");
        }
        let twice = if packed { Class::Unreadable } else { Class::Invalid };
        assert_eq!(class(records(&[FIRST, FIRST].concat(), 2, codec)), Some(twice));
        // Odd, but Kafka takes them.
        let odd: [&[u8]; 4] = [
            &[0x0e, 0, 0, 0, 3, 2, b'v', 0],
            &[0x10, 0xff, 0, 0, 2, b'k', 2, b'v', 0],
            &[0x90, 0x80, 0, 0, 0, 0, 2, b'k', 2, b'v', 0],
            &[0x16, 0, 0, 0, 2, b'k', 2, b'v', 2, 2, 0xff, 1],
        ];
        for bytes in odd {
            assert_eq!(class(records(bytes, 1, codec)), None, "{bytes:?} {codec:?}");
        }
    }
}

#[test]
fn broken_compression() {
    let all = [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];
    for codec in all {
        let name = format!("{codec:?}");
        assert_eq!(
            class(with(|bytes| bytes[22] = u8::try_from(codec.id()).unwrap())),
            Some(Class::Unreadable)
        );
        let good = records(FIRST, 1, codec);
        let changed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut batch = good.clone();
            repair(&mut batch, |bytes| change(bytes));
            class(batch)
        };
        for missing in [1, 4, 9] {
            let cut = changed(&|bytes| bytes.truncate(bytes.len() - missing));
            assert_eq!(cut, Some(Class::Unreadable), "{name} without {missing}");
        }
        assert_eq!(changed(&|bytes| bytes[61] ^= 0x55), Some(Class::Unreadable), "{name}");
        let empty = if codec == Codec::Zstd { Class::Invalid } else { Class::Unreadable };
        assert_eq!(changed(&|bytes| bytes.truncate(61)), Some(empty), "{name}");
        let tail = matches!(codec, Codec::Snappy | Codec::Zstd).then_some(Class::Unreadable);
        assert_eq!(changed(&|bytes| bytes.extend([1, 2, 3, 4, 5, 6, 7, 8, 9])), tail, "{name}");
        let twice = (codec != Codec::Lz4).then_some(Class::Invalid);
        assert_eq!(changed(&|bytes| bytes.extend(bytes[61..].to_vec())), twice, "{name}");
        assert_eq!(class(records(FIRST, 2, codec)), Some(Class::Invalid), "{name}");
        let compressed = records(FIRST, 1, codec);
        let mut called_plain = compressed.clone();
        repair(&mut called_plain, |bytes| bytes[22] = 0);
        assert_eq!(class(called_plain), Some(Class::Invalid), "{name}");
    }
    let mut nothing = golden("three_none");
    repair(&mut nothing, |bytes| {
        bytes.truncate(61);
        bytes.push(0);
        bytes[22] = 2;
    });
    assert_eq!(class(nothing), Some(Class::Invalid), "an empty raw snappy block");
}

#[test]
fn records_that_may_not_be_in_the_topic() {
    let keyless: &[u8] = &[0x0e, 0, 0, 2, 1, 2, b'v', 0];
    let compacted = Rules { compacted: true, ..rules() };
    for codec in [Codec::None, Codec::Lz4] {
        let batch = records(&[FIRST, keyless].concat(), 2, codec);
        assert!(check_by(&rules(), batch.clone()).is_ok());
        let fault = check_by(&compacted, batch).unwrap_err();
        assert_eq!(fault.class(), Class::Invalid);
        let texts: Vec<_> = fault.records().iter().map(|r| (r.index, r.message("c", 0))).collect();
        let text = "Compacted topic cannot accept message without key in topic partition c-0";
        assert_eq!(texts, [(1, text.to_owned())]);
        assert_eq!(
            fault.message("c", 0).unwrap(),
            "One or more records have been rejected due to 1 record errors in total, and only showing the \
             first three errors at most: [RecordError(batchIndex=1, message='Compacted topic cannot accept \
             message without key in topic partition c-0')]"
        );
    }
}

#[test]
fn times_out_of_bounds() {
    let at = |base: i64| with(|bytes| put(bytes, 27, base.to_be_bytes()));
    let rules = Rules {
        timestamps: TimestampRule::Create { before_max_ms: 500, after_max_ms: 100 },
        now_ms: 10_000,
        ..rules()
    };
    for fine in [9_500, 10_000, 10_100, -1] {
        assert!(check_by(&rules, at(fine)).is_ok(), "{fine}");
    }
    for off in [9_499, 10_101, -2, i64::MIN, i64::MAX] {
        assert_eq!(check_by(&rules, at(off)).unwrap_err().class(), Class::Timestamp, "{off}");
    }
    let fault = check_by(&rules, at(10_101)).unwrap_err();
    assert_eq!(
        fault.records()[1].message("t", 0),
        "Timestamp 10101 of message with offset 1 is out of range. The timestamp should be within [9500, 10100]"
    );
    assert_eq!(
        fault.message("t", 0).unwrap(),
        "One or more records have been rejected due to invalid timestamp"
    );
}

#[test]
fn a_producer_that_claims_append_time() {
    let claims = || with(|bytes| bytes[22] = 8);
    // The batch's max timestamp (1000) becomes every record's; the flag goes when it is stamped.
    let mut batch = claims();
    let mut valid =
        RawBatch::sole(&mut batch, true).unwrap().validate(&rules(), &mut Scratch::default()).unwrap();
    valid.stamp(&Stamp { base_offset: 0, leader_epoch: 0, append_time: None });
    assert!(!valid.header().attributes.append_time());
    assert_eq!(valid.header().max_timestamp, 1000);

    let none = with(|bytes| {
        bytes[22] = 8;
        put(bytes, 35, (-1_i64).to_be_bytes());
    });
    assert_eq!(class(none), Some(Class::Timestamp));
    let append = Rules { timestamps: TimestampRule::Append, ..rules() };
    assert_eq!(check_by(&append, claims()).unwrap_err().class(), Class::Timestamp);
    assert!(check_by(&append, two()).is_ok());
}

#[test]
fn a_bomb_stops_at_the_cap() {
    let value = vec![0; 32 << 20];
    let caps = Caps { bytes: 1 << 20, ..Caps::default() };
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let mut batch = BatchBuilder::new().codec(codec, None);
        batch.append(1000, None, Some(&value));
        let bytes = batch.finish().unwrap();
        let rules = Rules { max_bytes: usize::MAX, caps, ..rules() };
        let mut scratch = Scratch::default();
        let view = BatchView::first(&bytes).unwrap().unwrap();
        assert_eq!(view.validate(&rules, &mut scratch), Err(Fault::Bomb(1 << 20)), "{codec:?}");
        assert_eq!(view.records(&mut scratch, caps).unwrap_err(), Fault::Bomb(1 << 20), "{codec:?}");
        // With room for it, it is only looked at through a window.
        let rules = Rules { caps: Caps::default(), ..rules };
        assert_eq!(view.validate(&rules, &mut scratch).unwrap().count, 1, "{codec:?}");
    }
}

#[test]
fn a_snappy_block_cannot_claim_a_gigabyte() {
    let mut batch = two();
    // The varint says 1 GiB, three bytes follow.
    repair(&mut batch, |bytes| {
        bytes.truncate(61);
        bytes.extend([0x80, 0x80, 0x80, 0x80, 0x04, 0, 0, 0]);
        bytes[22] = 2;
    });
    assert_eq!(class(batch), Some(Class::Unreadable));
}

#[test]
fn followers_take_what_compaction_left() {
    let replica = Rules { origin: Origin::Replica, max_bytes: 1, compacted: true, ..rules() };
    let gaps = with(|bytes| {
        put(bytes, 0, 500_i64.to_be_bytes());
        put(bytes, 23, 9_i32.to_be_bytes());
        bytes[61 + 3] = 4;
        bytes[61 + 9 + 3] = 18;
    });
    assert_eq!(check_by(&replica, gaps.clone()).unwrap().count, 2);
    let backwards = with(|bytes| {
        put(bytes, 23, 9_i32.to_be_bytes());
        bytes[61 + 3] = 18;
        bytes[61 + 9 + 3] = 4;
    });
    assert_eq!(check_by(&replica, backwards).unwrap_err().class(), Class::Invalid);
    assert!(check_by(&rules(), gaps).is_err());
}

#[test]
fn a_compressed_record_may_have_max_decompressed_message_bytes_and_a_batch_of_them_more() {
    let value = [0; 93];
    let of = |count: u32, value: &[u8], codec: Codec| {
        let mut batch = BatchBuilder::new().codec(codec, None);
        (0..count).for_each(|_| batch.append(1000, None, Some(value)));
        batch.finish().unwrap()
    };
    let rules = Rules { caps: Caps { record_bytes: 100, ..Caps::default() }, ..rules() };
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        assert_eq!(check_by(&rules, of(50, &value, codec)).unwrap().count, 50, "{codec:?}");
        let fault = check_by(&rules, of(1, &[0; 94], codec)).unwrap_err();
        assert_eq!(fault, Fault::Record { index: 0, what: Malformed::Long }, "{codec:?}");
        assert_eq!(fault.class(), Class::Invalid);
    }
    assert!(check_by(&rules, of(1, &[0; 94], Codec::None)).is_ok(), "only what is compressed");
}

#[test]
fn records_that_may_not_be_in_the_topic_are_named_even_if_they_are_out_of_order() {
    let compacted = Rules { compacted: true, ..rules() };
    let keyless: &[u8] = &[0x0e, 0, 0, 0, 1, 2, b'v', 0];
    for codec in [Codec::None, Codec::Gzip] {
        let fault = check_by(&compacted, records(&[keyless, keyless].concat(), 2, codec)).unwrap_err();
        assert_eq!(
            fault.records().iter().map(|record| record.index).collect::<Vec<_>>(),
            [0, 1],
            "{codec:?}"
        );
    }
    let short: &[u8] = &[0x0c, 0, 0, 0, 1, 2, b'v', 0];
    let fault = check_by(&compacted, records(short, 1, Codec::Gzip)).unwrap_err();
    assert_eq!(fault.records().len(), 1, "to Kafka the length of a compressed record is but a hint");
    assert_eq!(class(records(short, 1, Codec::Gzip)), Some(Class::Invalid), "but we store no such thing");
}

#[test]
fn a_batch_that_is_built_anew_loses_what_has_no_meaning_and_cannot_have_negative_times() {
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let mut again = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut batch = with(|bytes| change(bytes));
        let valid = RawBatch::sole(&mut batch, true).unwrap().validate(&rules(), &mut scratch).unwrap();
        let again = valid.recompress(Codec::Gzip, None, 1 << 20, &mut scratch, &mut out);
        again.map(|batch| batch.header().attributes.0)
    };
    for odd in [0x7f80_u16, 0x8000, 0x0040] {
        assert_eq!(again(&|bytes| put(bytes, 21, odd.to_be_bytes())).unwrap(), 1, "{odd:#x}");
    }
    assert_eq!(again(&|bytes| put(bytes, 21, 0x0010_i16.to_be_bytes())).unwrap(), 0x11, "transactional");
    for time in [-2, -(1 << 62)] {
        let fault = again(&|bytes| put(bytes, 27, i64::to_be_bytes(time))).unwrap_err();
        assert_eq!(fault.class(), Class::Unreadable, "{time}");
    }
    let fault = again(&|bytes| {
        put(bytes, 43, 5_i64.to_be_bytes());
        put(bytes, 51, (-1_i16).to_be_bytes());
        put(bytes, 53, 0_i32.to_be_bytes());
    });
    assert_eq!(fault.unwrap_err().class(), Class::Unreadable);
}

#[test]
fn a_bomb_that_is_built_anew_is_given_up_once_it_is_too_large() {
    let mut batch = BatchBuilder::new().codec(Codec::Gzip, None);
    batch.append(1000, None, Some(&vec![0; 32 << 20]));
    let mut batch = batch.finish().unwrap();
    let (mut scratch, mut out) = (Scratch::default(), Vec::new());
    let valid = RawBatch::sole(&mut batch, true).unwrap().validate(&rules(), &mut scratch).unwrap();
    for codec in [Codec::None, Codec::Snappy] {
        let refused = valid.recompress(codec, None, 1 << 20, &mut scratch, &mut out);
        assert_eq!(refused.unwrap_err().class(), Class::TooLarge);
        assert!(out.capacity() < 4 << 20, "{} bytes for {codec:?}", out.capacity());
    }
}

#[test]
fn a_batch_longer_than_any_buffer() {
    for (length, class) in
        [(i32::MAX, Class::Unreadable), (i32::MAX - 11, Class::Unreadable), (i32::MAX - 12, Class::Invalid)]
    {
        let mut batch = two();
        put(&mut batch, 8, length.to_be_bytes());
        assert_eq!(RawBatch::sole(&mut batch, true).unwrap_err().class(), class, "{length}");
    }
}

#[test]
fn a_claim_of_append_time_is_told_as_kafka_sees_the_record() {
    let append = Rules { timestamps: TimestampRule::Append, ..rules() };
    let keyless: &[u8] = &[0x0e, 0, 0, 0, 1, 2, b'v', 0];
    let text = |rules: &Rules, codec: Codec| {
        let mut batch = records(keyless, 1, codec);
        repair(&mut batch, |bytes| bytes[22] |= 8);
        check_by(rules, batch).unwrap_err().records()[0].message("t", 0)
    };
    let end = "value=1 bytes). Producer should not set timestamp type to LogAppendTime.";
    let begin = "Invalid timestamp type in message";
    let plain = format!("{begin} DefaultRecord(offset=0, timestamp=1000, key=0 bytes, {end}");
    assert_eq!(text(&append, Codec::None), plain);
    let skimmed = format!("{begin} PartialDefaultRecord(offset=0, timestamp=1000, key=-1 bytes, {end}");
    assert_eq!(text(&append, Codec::Gzip), skimmed);
    assert_eq!(text(&Rules { codec: Some(Codec::Gzip), ..append }, Codec::Gzip), skimmed);
    assert_eq!(text(&Rules { codec: Some(Codec::Lz4), ..append }, Codec::Gzip), plain);
}
