//! A log as its users see it.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::string_slice,
    reason = "numbers in tests are small"
)]

use super::testing::*;
use super::*;
use crate::disk::{Chunk, Disk};

fn small_segments() -> LogConfig {
    LogConfig { segment_bytes: 1000, index_interval_bytes: 200, retention_ms: -1, ..LogConfig::default() }
}

#[test]
fn what_is_appended_is_read() {
    let disk = memory();
    let Opened { mut appender, log, report } = open(&disk, LogConfig::default(), NEW);
    assert_eq!(report, RecoveryReport::default());
    let first = append(&mut appender, &Batch::at(&[10, 11, 12])).unwrap();
    assert_eq!((first.first_offset, first.last_offset, first.append_time), (0, 2, -1));
    let second = append(&mut appender, &Batch::at(&[13])).unwrap();
    assert_eq!((second.first_offset, second.last_offset), (3, 3));
    assert_eq!(contents(&log), [(0, 2), (3, 3)]);
    for offset in 0..3 {
        let slice = log.read(offset, 10_000, false, i64::MAX).unwrap();
        assert_eq!(slice.chunk.len(), log.size(), "the whole batch from its start");
    }
    assert!(log.read(4, 100, true, i64::MAX).unwrap().chunk.is_empty());
    assert!(matches!(log.read(5, 1, true, 9), Err(ReadError::OutOfRange { offset: 5, start: 0, end: 4 })));
    assert!(matches!(log.read(-1, 1, true, 9), Err(ReadError::OutOfRange { .. })));
}

#[test]
fn the_first_batch_is_whole_only_if_asked_for() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, LogConfig::default(), NEW);
    for _ in 0..40 {
        append(&mut appender, &Batch::at(&[1])).unwrap();
    }
    let one = log.size() / 40;
    for offset in [0, 20, 39] {
        let read = |max, min_one| {
            let slice = log.read(offset, max, min_one, i64::MAX).unwrap();
            (slice.chunk.len(), slice.first_cut)
        };
        assert_eq!(read(10, true), (one, false));
        assert_eq!(read(10, false), (10, true));
        assert_eq!(read(0, false), (0, true));
    }
    let slice = log.read(0, one * 2 + 5, true, i64::MAX).unwrap();
    assert_eq!(slice.chunk.len(), one * 2 + 5, "the last batch may be cut");
}

#[test]
fn nothing_at_or_above_the_bound_is_read() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, small_segments(), NEW);
    for _ in 0..100 {
        append(&mut appender, &Batch::at(&[1, 2])).unwrap();
    }
    assert!(log.segments().len() > 3);
    for upper in 0..=200 {
        let mut bytes = 0;
        let mut offset = 0;
        while offset < upper {
            let chunk = log.read(offset, 1 << 20, true, upper).unwrap().chunk;
            if chunk.is_empty() {
                break;
            }
            bytes += chunk.len();
            offset = barnabas_protocol::batch::Batches::new(&chunk.load().unwrap())
                .last()
                .unwrap()
                .unwrap()
                .header()
                .next_offset();
        }
        // A bound inside a batch leaves that batch out.
        assert_eq!(bytes, log.size() / 100 * (upper as u64 / 2), "{upper}");
    }
}

#[test]
fn files_are_named_and_indexed_as_kafka_does() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, small_segments(), NEW);
    for n in 0..12 {
        append(&mut appender, &Batch::at(&[n]).sized(60)).unwrap();
    }
    appender.close_clean().unwrap();
    let size = log.size() / 12;
    assert_eq!(size, 129);
    assert_eq!(
        files(&disk.shared()),
        [
            "00000000000000000000.index",
            "00000000000000000000.log",
            "00000000000000000000.timeindex",
            "00000000000000000007.index",
            "00000000000000000007.log",
            "00000000000000000007.snapshot",
            "00000000000000000007.timeindex",
            "00000000000000000012.snapshot",
            "leader-epoch-checkpoint",
        ]
    );
    // Two batches are more than the interval: every second one after the first two has an entry.
    let index = disk.read(&dir().join("00000000000000000000.index")).unwrap();
    let entries: Vec<u8> = [(2_u32, 2 * size), (4, 4 * size), (6, 6 * size)]
        .iter()
        .flat_map(|&(offset, position)| [offset.to_be_bytes(), (position as u32).to_be_bytes()].concat())
        .collect();
    assert_eq!(index, entries);
    let times = disk.read(&dir().join("00000000000000000000.timeindex")).unwrap();
    let entries: Vec<u8> = [(2_i64, 2_u32), (4, 4), (6, 6)]
        .iter()
        .flat_map(|&(time, offset)| [time.to_be_bytes().as_slice(), &offset.to_be_bytes()].concat())
        .collect();
    assert_eq!(times, entries);
}

#[test]
fn a_log_rolls_by_size_time_and_full_index() {
    let disk = memory();
    let hour = LogConfig { segment_ms: 3_600_000, retention_ms: -1, ..LogConfig::default() };
    let Opened { mut appender, log, .. } = open(&disk, hour.clone(), NEW);
    append(&mut appender, &Batch::at(&[0])).unwrap();
    assert!(!append(&mut appender, &Batch::at(&[3_600_000])).unwrap().rolled);
    assert!(append(&mut appender, &Batch::at(&[3_600_001])).unwrap().rolled, "by the records' own time");
    log.set_config(LogConfig { segment_index_bytes: 24, index_interval_bytes: 0, ..hour });
    let rolled =
        (0..5).map(|_| append(&mut appender, &Batch::at(&[3_600_001])).unwrap().rolled).collect::<Vec<_>>();
    assert_eq!(rolled, [false, true, false, true, false], "one entry of time is all that fits");
    assert_eq!(log.segments().iter().map(|s| s.base_offset).collect::<Vec<_>>(), [0, 2, 4, 6]);
}

#[test]
fn a_batch_larger_than_a_segment_is_refused() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, small_segments(), NEW);
    let refused = append(&mut appender, &Batch::at(&[1]).sized(1000)).unwrap_err();
    assert!(matches!(refused, AppendError::LargerThanSegment { segment_bytes: 1000, .. }));
    assert_eq!((log.end_offset(), log.size()), (0, 0));
}

#[test]
fn timestamps_are_found_inside_batches_and_out_of_order() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, small_segments(), NEW);
    let times = [[50, 40, 60], [10, 20, 30], [55, 90, 5], [70, 70, 80]];
    for round in 0..20 {
        for batch in &times {
            append(&mut appender, &Batch::at(&batch.map(|time| time + round * 10))).unwrap();
        }
    }
    let flat: Vec<i64> =
        (0..20).flat_map(|round| times.iter().flatten().map(move |time| time + round * 10)).collect();
    for target in 0..=290 {
        let expected = flat.iter().position(|time| *time >= target);
        let found = log.offset_for_timestamp(target).unwrap();
        assert_eq!(found.map(|at| at.offset), expected.map(|at| at as i64), "{target}");
        assert_eq!(found.map(|at| at.timestamp), expected.map(|at| flat[at]));
    }
    let largest = log.max_timestamp().unwrap().unwrap();
    assert_eq!((largest.timestamp, largest.offset, largest.leader_epoch), (280, 19 * 12 + 7, 0));
}

#[test]
fn a_duplicate_is_answered_with_its_first_copy() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, LogConfig::default(), NEW);
    append(&mut appender, &Batch::at(&[NOW.wall_ms, 7]).of(5, 0, 0)).unwrap();
    append(&mut appender, &Batch::at(&[NOW.wall_ms + 5]).of(5, 0, 2)).unwrap();
    let again = append(&mut appender, &Batch::at(&[NOW.wall_ms, 7]).of(5, 0, 0)).unwrap();
    assert!(again.duplicate);
    assert_eq!((again.first_offset, again.last_offset, again.append_time), (0, 1, NOW.wall_ms));
    assert_eq!(log.end_offset(), 3);
    assert!(matches!(
        append(&mut appender, &Batch::at(&[1]).of(5, 0, 4)),
        Err(AppendError::OutOfOrderSequence { last: 2, incoming: 4, .. })
    ));
    // The same after a crash and after a clean stop.
    drop(appender);
    let Opened { mut appender, log, .. } = open(&disk, LogConfig::default(), NEW);
    assert!(append(&mut appender, &Batch::at(&[NOW.wall_ms, 7]).of(5, 0, 0)).unwrap().duplicate);
    appender.close_clean().unwrap();
    let Opened { mut appender, .. } = open(&disk, LogConfig::default(), Opening { clean: true, ..NEW });
    assert!(append(&mut appender, &Batch::at(&[NOW.wall_ms + 5]).of(5, 0, 2)).unwrap().duplicate);
    assert_eq!(log.end_offset(), 3);
}

#[test]
fn append_time_is_the_brokers() {
    let disk = memory();
    let config = LogConfig { append_time: true, ..LogConfig::default() };
    let Opened { mut appender, log, .. } = open(&disk, config, NEW);
    let appended = append(&mut appender, &Batch::at(&[10, 20])).unwrap();
    assert_eq!(appended.append_time, NOW.wall_ms);
    let found = log.offset_for_timestamp(100).unwrap().unwrap();
    assert_eq!((found.offset, found.timestamp), (0, NOW.wall_ms));
    let bytes = log.read(0, 1000, true, 9).unwrap().chunk.load().unwrap();
    barnabas_protocol::batch::BatchView::first(&bytes).unwrap().unwrap().check_crc().unwrap();
}

#[test]
fn truncation_takes_offsets_epochs_and_producers_back() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, small_segments(), NEW);
    for n in 0..40 {
        if n == 30 {
            appender.begin_epoch(3).unwrap();
        }
        append(&mut appender, &Batch::at(&[n.into(), 0]).of(9, 0, n * 2)).unwrap();
    }
    assert_eq!(log.latest_epoch(), Some(3));
    assert_eq!(log.end_offset_for_epoch(0), Some(EpochEnd { epoch: 0, end_offset: 60 }));
    log.flush().unwrap();
    appender.truncate_to(31, NOW).unwrap();
    assert_eq!((log.end_offset(), log.latest_epoch(), log.recovery_point()), (31, Some(0), 31));
    assert_eq!(contents(&log).last(), Some(&(28, 29)), "the batch of offset 31 is gone as a whole");
    assert!(log.read(40, 1, true, i64::MAX).is_err());
    let refused = append(&mut appender, &Batch::at(&[1]).of(9, 0, 40)).unwrap_err();
    assert!(matches!(refused, AppendError::OutOfOrderSequence { last: 29, .. }));
    assert_eq!(append(&mut appender, &Batch::at(&[1, 2]).of(9, 0, 30)).unwrap().first_offset, 31);
    assert_eq!(log.max_timestamp().unwrap().unwrap().timestamp, 14);
    appender.truncate_to(0, NOW).unwrap();
    assert_eq!((log.end_offset(), log.size(), log.segments().len()), (0, 0, 1));
    append(&mut appender, &Batch::at(&[1])).unwrap();
    assert_eq!(contents(&log), [(0, 0)]);
}

#[test]
fn an_epoch_without_records_is_forgotten_by_a_truncation_that_cuts_nothing() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, small_segments(), NEW);
    append(&mut appender, &Batch::at(&[0, 0])).unwrap();
    appender.begin_epoch(3).unwrap();
    assert_eq!(log.latest_epoch(), Some(3));
    appender.truncate_to(log.end_offset(), NOW).unwrap();
    assert_eq!((log.end_offset(), log.latest_epoch()), (2, Some(0)));
    appender.begin_epoch(3).unwrap();
    append(&mut appender, &Batch::at(&[1])).unwrap();
    assert_eq!(log.end_offset_for_epoch(0), Some(EpochEnd { epoch: 0, end_offset: 2 }));
}

#[test]
fn retention_takes_whole_segments_from_the_start() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, small_segments(), NEW);
    for n in 0..40 {
        append(&mut appender, &Batch::at(&[NOW.wall_ms - 40 + n]).sized(60)).unwrap();
    }
    let bases = || log.segments().iter().map(|segment| segment.base_offset).collect::<Vec<_>>();
    assert_eq!(bases(), [0, 7, 14, 21, 28, 35]);
    assert_eq!(appender.retention(40, NOW).unwrap().segments, 0);
    // By the log's start.
    appender.advance_log_start(14).unwrap();
    let retained = appender.retention(40, NOW).unwrap();
    assert_eq!((retained.segments, retained.log_start), (2, 14));
    assert_eq!(files(&disk.shared()).iter().filter(|name| name.ends_with(".deleted")).count(), 7);
    let removal = retained.removal.unwrap();
    assert_eq!(removal.delay_ms(), 60_000);
    removal.run().unwrap();
    assert_eq!(files(&disk.shared()).iter().filter(|name| name.ends_with(".deleted")).count(), 0);
    // By size, not above the high watermark.
    log.set_config(LogConfig { retention_bytes: 1000, ..small_segments() });
    assert_eq!(appender.retention(25, NOW).unwrap().segments, 1);
    assert_eq!(bases(), [21, 28, 35]);
    assert_eq!(appender.retention(40, NOW).unwrap().segments, 1);
    // By time, the active one, too.
    log.set_config(LogConfig { retention_ms: 0, ..small_segments() });
    let later = crate::clock::Now { wall_ms: NOW.wall_ms + 1000, ..NOW };
    assert_eq!(appender.retention(40, later).unwrap().segments, 2);
    assert_eq!((bases(), log.start_offset(), log.end_offset(), log.size()), (vec![40], 40, 40, 0));
    assert!(matches!(log.read(39, 1, true, 40), Err(ReadError::OutOfRange { start: 40, .. })));
    assert_eq!(append(&mut appender, &Batch::at(&[NOW.wall_ms])).unwrap().first_offset, 40);
    // Not on a compacted topic.
    log.set_config(LogConfig { retention_ms: 0, delete: false, compact: true, ..small_segments() });
    assert_eq!(appender.retention(41, later).unwrap().segments, 0);
}

#[test]
fn a_failed_write_ends_the_log() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, LogConfig::default(), NEW);
    append(&mut appender, &Batch::at(&[1])).unwrap();
    disk.fail_after(Some(0));
    let failed = append(&mut appender, &Batch::at(&[2])).unwrap_err();
    assert!(matches!(failed, AppendError::Storage(StorageError::Io { .. })), "{failed}");
    disk.fail_after(None);
    let refused = append(&mut appender, &Batch::at(&[2])).unwrap_err();
    assert!(matches!(refused, AppendError::Storage(StorageError::Poisoned { .. })));
    assert!(matches!(log.flush(), Err(StorageError::Poisoned { .. })));
    assert_eq!(contents(&log), [(0, 0)]);
}

#[test]
fn aborted_transactions_are_kept_and_hold_back_the_stable_offset() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, LogConfig::default(), NEW);
    append(&mut appender, &Batch::at(&[NOW.wall_ms, 2]).of(1, 0, 0).transactional()).unwrap();
    append(&mut appender, &Batch::at(&[NOW.wall_ms]).of(2, 0, 0).transactional()).unwrap();
    assert_eq!(log.first_unstable_offset(), Some(0));
    append(&mut appender, &Batch::ends(1, 0, false)).unwrap();
    assert_eq!(log.first_unstable_offset(), Some(2));
    append(&mut appender, &Batch::ends(2, 0, true)).unwrap();
    assert_eq!(log.first_unstable_offset(), None);
    let aborted =
        AbortedTransaction { producer_id: 1, first_offset: 0, last_offset: 3, last_stable_offset: 2 };
    assert_eq!(log.aborted_transactions(0, 5).unwrap(), [aborted]);
    assert_eq!(log.aborted_transactions(4, 5).unwrap(), []);
    drop(appender);
    disk.remove_file(&dir().join("00000000000000000000.txnindex")).unwrap();
    let Opened { log, .. } = open(&disk, LogConfig::default(), NEW);
    assert_eq!(log.aborted_transactions(0, 5).unwrap(), [aborted], "made again after a crash");
    assert_eq!(log.first_unstable_offset(), None);
}

#[test]
fn readers_of_a_deleted_segment_finish() {
    let disk = memory();
    let Opened { mut appender, log, .. } = open(&disk, small_segments(), NEW);
    for _ in 0..20 {
        append(&mut appender, &Batch::at(&[1]).sized(60)).unwrap();
    }
    let slice = log.read(0, 500, true, 20).unwrap();
    assert!(matches!(slice.chunk, Chunk::File { .. }));
    appender.advance_log_start(20).unwrap();
    appender.retention(20, NOW).unwrap().removal.unwrap().run().unwrap();
    assert_eq!(slice.chunk.load().unwrap().len(), 500);
    assert!(log.read(0, 500, true, 20).is_err());
}

#[test]
fn on_a_real_disk_readers_follow_the_writer() {
    use std::os::unix::fs::MetadataExt;

    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("a-0");
    let config = LogConfig { segment_bytes: 2 << 20, retention_ms: -1, ..LogConfig::default() };
    let real = crate::disk::RealDisk::shared();
    let opened = Log::open(real.clone(), &path, config.clone(), NEW, NOW).unwrap();
    let (mut appender, log) = (opened.appender, opened.log);
    let batches = 100;
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut offset, deadline) = (0, std::time::Instant::now() + std::time::Duration::from_secs(60));
            while offset < batches && std::time::Instant::now() < deadline {
                let bytes = log.read(offset, 300_000, true, i64::MAX).unwrap().chunk.load().unwrap();
                for batch in barnabas_protocol::batch::Batches::new(&bytes) {
                    let batch = batch.unwrap();
                    assert_eq!(batch.header().base_offset, offset);
                    batch.check_crc().unwrap();
                    offset += 1;
                }
            }
            offset
        });
        for n in 0..batches {
            append(&mut appender, &Batch::at(&[NOW.wall_ms + n]).sized(100_000)).unwrap();
        }
        assert_eq!(reader.join().unwrap(), batches);
    });
    let segments = log.segments().len();
    assert!(segments >= 5);
    appender.close_clean().unwrap();
    for entry in std::fs::read_dir(&path).unwrap() {
        let meta = entry.unwrap().metadata().unwrap();
        assert!(meta.blocks() * 512 <= meta.len() + 65_536, "reserved space is given back");
    }
    let clean = Opening { clean: true, ..NEW };
    let Opened { appender, log, report } =
        Log::open(real.clone(), &path, config.clone(), clean, NOW).unwrap();
    assert_eq!(report, RecoveryReport::default());
    assert_eq!((log.end_offset(), log.segments().len()), (batches, segments));
    drop(appender);
    let Opened { log, report, .. } = Log::open(real, &path, config, NEW, NOW).unwrap();
    assert_eq!((log.end_offset(), report.scanned_bytes, report.cut_bytes), (batches, log.size(), 0));
    assert_eq!(contents(&log).len(), 100);
}
