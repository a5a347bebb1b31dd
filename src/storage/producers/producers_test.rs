//! Which batches are taken, which are known, which are refused; and snapshots.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::string_slice,
    reason = "numbers in tests are small"
)]

use std::path::Path;

use barnabas_protocol::batch::{Attributes, sequence_plus};

use super::*;
use crate::clock::Clock;
use crate::disk::{Disk, MemoryDisk};

fn batch(id: i64, epoch: i16, sequence: i32, count: i32, offset: i64) -> (Header, Producer) {
    let header = Header {
        base_offset: offset,
        length: 49,
        leader_epoch: 0,
        magic: 2,
        crc: 0,
        attributes: Attributes(0),
        last_offset_delta: count - 1,
        base_timestamp: 0,
        max_timestamp: offset * 10,
        producer_id: id,
        producer_epoch: epoch,
        base_sequence: sequence,
        record_count: count,
    };
    (header, header.producer().unwrap())
}

/// Appends as the log does; `Ok(Some(first offset))` is a duplicate.
fn offer(producers: &mut Producers, batch: (Header, Producer)) -> Result<Option<i64>, AppendError> {
    match producers.check(&batch.1, batch.0.attributes.transactional(), Origin::Client, &Guards::default())? {
        Some(known) => Ok(Some(known.first_offset())),
        None => {
            producers.apply(&batch.0, &batch.1);
            Ok(None)
        }
    }
}

#[test]
fn the_last_five_batches_are_known() {
    let mut producers = Producers::default();
    for n in 0..7 {
        assert_eq!(offer(&mut producers, batch(9, 0, n * 10, 10, i64::from(n) * 100)).unwrap(), None);
    }
    for n in 2..7 {
        assert_eq!(offer(&mut producers, batch(9, 0, n * 10, 10, 999)).unwrap(), Some(i64::from(n) * 100));
    }
    for (sequence, count) in [(10, 10), (60, 5), (65, 10), (71, 1), (0, 1)] {
        let refused = offer(&mut producers, batch(9, 0, sequence, count, 999)).unwrap_err();
        assert!(matches!(refused, AppendError::OutOfOrderSequence { last: 69, .. }), "{sequence}");
    }
    assert_eq!(offer(&mut producers, batch(9, 0, 70, 1, 700)).unwrap(), None);
}

#[test]
fn sequences_wrap() {
    let mut producers = Producers::default();
    let near_end = i32::MAX - 2;
    assert_eq!(offer(&mut producers, batch(9, 0, near_end, 2, 0)).unwrap(), None, "any start");
    assert_eq!(offer(&mut producers, batch(9, 0, i32::MAX, 3, 2)).unwrap(), None, "max, 0, 1");
    assert_eq!(offer(&mut producers, batch(9, 0, i32::MAX, 3, 9)).unwrap(), Some(2));
    assert_eq!(sequence_plus(i32::MAX, 2), 1);
    assert_eq!(offer(&mut producers, batch(9, 0, 2, 1, 5)).unwrap(), None);
    let mut producers = Producers::default();
    assert_eq!(offer(&mut producers, batch(9, 0, i32::MAX, 1, 0)).unwrap(), None);
    assert_eq!(offer(&mut producers, batch(9, 0, 0, 1, 1)).unwrap(), None);
}

#[test]
fn a_new_epoch_starts_at_zero_and_fences_the_old() {
    let mut producers = Producers::default();
    offer(&mut producers, batch(9, 1, 0, 5, 0)).unwrap();
    assert!(matches!(
        offer(&mut producers, batch(9, 2, 5, 1, 5)),
        Err(AppendError::OutOfOrderSequence { .. })
    ));
    assert_eq!(offer(&mut producers, batch(9, 2, 0, 5, 5)).unwrap(), None, "not a duplicate of epoch 1");
    assert!(matches!(
        offer(&mut producers, batch(9, 1, 5, 1, 10)),
        Err(AppendError::InvalidProducerEpoch { incoming: 1, current: 2, .. })
    ));
}

#[test]
fn transactions_hold_back_what_is_stable() {
    let mut producers = Producers::default();
    let transactional = |id, sequence, offset| {
        let (mut header, producer) = batch(id, 0, sequence, 1, offset);
        header.attributes = header.attributes.with_transactional(true);
        (header, producer)
    };
    for (id, offset) in [(1, 0), (2, 1), (1, 2)] {
        let (header, producer) = transactional(id, if offset == 2 { 1 } else { 0 }, offset);
        producers.apply(&header, &producer);
    }
    assert_eq!(producers.first_open(), Some(0));
    let abort = Marker { commit: false, coordinator_epoch: 4 };
    let (header, producer) = batch(1, 0, -1, 1, 3);
    let aborted = producers.apply_marker(&header, &producer, abort).unwrap();
    assert_eq!(
        aborted,
        AbortedTransaction { producer_id: 1, first_offset: 0, last_offset: 3, last_stable_offset: 1 }
    );
    assert_eq!(producers.first_open(), Some(1));
    let (header, producer) = batch(2, 0, -1, 1, 4);
    let commit = Marker { commit: true, coordinator_epoch: 4 };
    assert_eq!(producers.apply_marker(&header, &producer, commit), None);
    assert_eq!(producers.first_open(), None);
    let old = Marker { commit: true, coordinator_epoch: 3 };
    assert!(matches!(
        producers.check_marker(&producer, old, Origin::Coordinator),
        Err(AppendError::CoordinatorFenced { incoming: 3, current: 4, .. })
    ));
    assert_eq!(offer(&mut producers, batch(1, 0, 2, 1, 5)).unwrap(), None, "the sequence goes on");
}

#[test]
fn silent_producers_are_forgotten() {
    let mut producers = Producers::default();
    offer(&mut producers, batch(1, 0, 0, 1, 10)).unwrap();
    offer(&mut producers, batch(2, 0, 0, 1, 20)).unwrap();
    producers.expire(100);
    assert_eq!(producers.entries().map(|(id, _)| id).collect::<Vec<_>>(), [2]);
}

#[test]
fn snapshots_keep_the_newest_batch_and_notice_damage() {
    let disk = MemoryDisk::new(Clock::simulated(0));
    let path = Path::new("/00000000000000000030.snapshot");
    let mut producers = Producers::default();
    offer(&mut producers, batch(1, 3, 0, 10, 10)).unwrap();
    let (mut header, producer) = batch(2, 0, 0, 1, 20);
    header.attributes = header.attributes.with_transactional(true);
    producers.apply(&header, &producer);
    write(&disk, path, &producers, true).unwrap();
    assert_eq!(decode(&disk.read(path).unwrap()), Some(producers.clone()));
    assert_eq!(parse_file_name("00000000000000000030.snapshot"), Some(30));
    let good = disk.read(path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        disk.replace(path, &bad).unwrap();
        assert_eq!(decode(&disk.read(path).unwrap()), None, "byte {at}");
    }
    disk.replace(path, &good[..good.len() - 1]).unwrap();
    assert_eq!(decode(&disk.read(path).unwrap()), None);
}

#[test]
fn kafkas_snapshot_is_read_and_written_to_the_byte() {
    let hex = "000188713690000000010000000000000000000000004e1f0000000000004e1f0000001f000001a22830da2f\
               ffffffffffffffffffffffff";
    let bytes: Vec<u8> =
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap()).collect();
    let disk = MemoryDisk::new(Clock::simulated(0));
    let path = Path::new("/s");
    disk.replace(path, &bytes).unwrap();
    let producers = decode(&disk.read(path).unwrap()).unwrap();
    let (_, entry) = producers.entries().next().unwrap();
    assert_eq!((entry.last_sequence(), entry.last().unwrap().first_offset()), (19_999, 19_968));
    write(&disk, path, &producers, false).unwrap();
    assert_eq!(disk.read(path).unwrap(), bytes);
}

#[test]
fn a_transaction_begins_with_the_lowest_sequence_that_was_seen() {
    let mut producers = Producers::default();
    let mut guards = Guards::default();
    let mut offer = |guards: &Guards, sequence: i32| {
        let (header, producer) = batch(9, 0, sequence, 1, i64::from(sequence));
        let known = producers.check(&producer, true, Origin::Client, guards);
        known.inspect(|_| producers.apply(&header, &producer)).is_ok()
    };
    // The batch with 4 came first, but its question was answered last.
    guards.note(9, 0, 4, false, 100);
    guards.note(9, 0, 5, false, 100);
    assert!(!offer(&guards, 5), "4 is on its way");
    assert!(offer(&guards, 4));
    guards.settle(9);
    assert!(offer(&guards, 5));
    guards.note(9, 0, 7, false, 100);
    guards.note(9, 1, 2, false, 100);
    assert!(!offer(&guards, 6), "a newer epoch's lowest counts");
    guards.expire(100);
    assert!(offer(&guards, 6), "nobody waits for ever");
}

#[test]
fn an_unknown_producer_begins_at_zero_where_its_protocol_says_so() {
    let producers = Producers::default();
    let mut guards = Guards::default();
    guards.note(9, 0, 3, true, 100);
    let refused = |sequence| {
        let (_, producer) = batch(9, 0, sequence, 1, 0);
        producers.check(&producer, true, Origin::Client, &guards).is_err()
    };
    assert!(refused(3));
    assert!(!refused(0));
}
