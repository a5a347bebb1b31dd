//! What opening makes of damage.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::string_slice,
    reason = "numbers in tests are small"
)]

use std::path::PathBuf;

use crate::disk::{Disk, MemoryDisk, OpenMode};
use crate::rng::Rng;
use crate::storage::testing::*;
use crate::storage::*;

fn small() -> LogConfig {
    LogConfig { segment_bytes: 1000, index_interval_bytes: 200, retention_ms: -1, ..LogConfig::default() }
}

const CLEAN: Opening = Opening { clean: true, ..NEW };

/// A log of 20 batches of one record in 3 segments (0, 7, 14), as kill -9 or an orderly stop leaves it.
fn written(clean: bool) -> MemoryDisk {
    let disk = memory();
    let Opened { mut appender, .. } = open(&disk, small(), NEW);
    for n in 0..20 {
        let batch = Batch::at(&[NOW.wall_ms + i64::from(n)]).sized(60).of(3, 0, n);
        append(&mut appender, &batch).unwrap();
    }
    if clean {
        appender.close_clean().unwrap();
    }
    disk
}

fn path(name: &str) -> PathBuf {
    dir().join(name)
}

fn flip(disk: &MemoryDisk, name: &str, position: u64) {
    let file = disk.open(&path(name), OpenMode::Write).unwrap();
    let mut byte = [0];
    file.read_at(position, &mut byte).unwrap();
    file.write_at(position, &[byte[0] ^ 1]).unwrap();
}

fn indexes(disk: &MemoryDisk) -> Vec<(String, Vec<u8>)> {
    let names = files(&disk.shared()).into_iter().filter(|name| name.ends_with("index"));
    names.map(|name| (name.clone(), disk.read(&path(&name)).unwrap())).collect()
}

#[test]
fn after_a_clean_stop_nothing_is_scanned() {
    let disk = written(true);
    // Damage that a scan would find.
    flip(&disk, "00000000000000000000.log", 100);
    let Opened { log, report, .. } = open(&disk, small(), CLEAN);
    assert_eq!(report, RecoveryReport::default());
    assert_eq!((log.end_offset(), log.recovery_point(), log.segments().len()), (20, 20, 3));
    assert_eq!(contents(&log).len(), 20);
}

#[test]
fn after_a_crash_everything_sound_is_there() {
    let disk = written(false);
    let Opened { appender, log, report } = open(&disk, small(), NEW);
    assert_eq!(report, RecoveryReport { scanned_bytes: log.size(), ..RecoveryReport::default() });
    assert_eq!((log.end_offset(), log.recovery_point()), (20, 0));
    assert_eq!(contents(&log).len(), 20);
    assert_eq!(log.max_timestamp().unwrap().unwrap().offset, 19);
    appender.close_clean().unwrap();
    assert_eq!(indexes(&disk), indexes(&written(true)));
}

#[test]
fn only_what_lies_beyond_the_recovery_point_is_scanned() {
    let disk = written(false);
    flip(&disk, "00000000000000000000.log", 100);
    let Opened { log, report, .. } = open(&disk, small(), Opening { recovery_point: 14, ..NEW });
    assert_eq!(report.scanned_bytes, log.segments()[2].bytes);
    assert_eq!((log.end_offset(), report.cut_bytes), (20, 0));
}

#[test]
fn the_first_bad_byte_ends_the_log() {
    let disk = written(false);
    // In the third batch of the second segment.
    flip(&disk, "00000000000000000007.log", 129 * 2 + 100);
    let whole = 20 * 129;
    let Opened { mut appender, log, report } = open(&disk, small(), NEW);
    assert_eq!((log.end_offset(), log.segments().len()), (9, 2));
    assert_eq!((report.scanned_bytes, report.cut_bytes), (9 * 129, whole - 9 * 129));
    assert_eq!(report.cut_segments, 1);
    let reason = report.cut_reason.unwrap();
    assert!(reason.starts_with("00000000000000000007.log at position 258: record is corrupt"), "{reason}");
    let again = append(&mut appender, &Batch::at(&[NOW.wall_ms]).of(3, 0, 9)).unwrap();
    assert_eq!((again.first_offset, again.duplicate), (9, false));
    assert_eq!(contents(&log).len(), 10);
}

#[test]
fn torn_tails_are_cut() {
    for tail in [vec![0; 200], vec![7; 30], Batch::at(&[1]).bytes()[..70].to_vec(), vec![0xff; 100]] {
        let disk = written(false);
        let name = path("00000000000000000014.log");
        let file = disk.open(&name, OpenMode::Write).unwrap();
        file.write_at(6 * 129, &tail).unwrap();
        let Opened { log, report, .. } = open(&disk, small(), NEW);
        assert_eq!((log.end_offset(), report.cut_bytes), (20, tail.len() as u64));
        assert_eq!(disk.meta(&name).unwrap().unwrap().len, 6 * 129);
        // A stop that was said to be clean, and was not.
        file.write_at(6 * 129, &tail).unwrap();
        let Opened { log, report, .. } = open(&disk, small(), CLEAN);
        assert_eq!((log.end_offset(), report.cut_bytes), (20, tail.len() as u64));
    }
}

#[test]
fn damage_in_front_of_what_is_sound_can_refuse_the_opening() {
    let strict = || LogConfig { refuse_damage: true, ..small() };
    let last = "00000000000000000014.log";
    // In the records, in the length, in the batch before: a CRC, a header that lies, another position.
    for (damaged, next) in [(129 * 2 + 100, 129 * 3), (129 * 2 + 11, 129 * 3), (129 + 100, 129 * 2)] {
        let disk = written(false);
        flip(&disk, last, damaged);
        let before = disk.read(&path(last)).unwrap();
        let refused = try_open(&disk, strict(), NEW).unwrap_err().to_string();
        let found = format!("from position {next} (offset {})", 14 + next / 129);
        assert!(refused.contains(last) && refused.contains(&found), "{refused}");
        assert_eq!(disk.read(&path(last)).unwrap(), before, "nothing is cut");
    }
    let disk = written(false);
    let middle = "00000000000000000007.log";
    flip(&disk, middle, 129 * 6 + 100);
    let before = disk.read(&path(middle)).unwrap();
    let refused = try_open(&disk, strict(), NEW).unwrap_err().to_string();
    assert!(refused.contains(middle) && refused.contains("774 bytes of later segments"), "{refused}");
    assert_eq!(disk.read(&path(middle)).unwrap(), before, "nothing is cut");

    let disk = written(false);
    flip(&disk, last, 129 * 5 + 100);
    assert_eq!(open(&disk, strict(), NEW).log.end_offset(), 19, "a torn tail is cut");
    let disk = written(false);
    disk.open(&path(last), OpenMode::Write).unwrap().write_at(129 * 2, &[0; 129]).unwrap();
    assert_eq!(open(&disk, strict(), NEW).log.end_offset(), 16, "so is what a lost write leaves");
}

#[test]
fn a_log_that_nobody_wrote_to_is_closed_without_a_sync() {
    let disk = memory();
    open(&disk, small(), NEW).appender.close_clean().unwrap();
    let Opened { appender, log, .. } = open(&disk, small(), CLEAN);
    assert_eq!((log.end_offset(), files(&disk.shared()).len()), (0, 3), "a log and its two indexes");
    appender.close_clean().unwrap();
    let disk = written(true);
    let before = files(&disk.shared());
    let Opened { mut appender, .. } = open(&disk, small(), CLEAN);
    append(&mut appender, &Batch::at(&[NOW.wall_ms + 20]).sized(60).of(3, 0, 20)).unwrap();
    appender.close_clean().unwrap();
    assert_ne!(files(&disk.shared()), before, "this one was, and has a new snapshot");
}

#[test]
fn a_hole_ends_the_log_unless_compaction_made_it() {
    for compact in [false, true] {
        let disk = written(false);
        let file = disk.open(&path("00000000000000000007.log"), OpenMode::Write).unwrap();
        file.set_len(6 * 129).unwrap();
        let config = LogConfig { compact, ..small() };
        let Opened { log, report, .. } = open(&disk, config, NEW);
        let expected = if compact { (20, 19, 0) } else { (13, 13, 6 * 129) };
        assert_eq!((log.end_offset(), contents(&log).len(), report.cut_bytes), expected);
    }
}

#[test]
fn missing_and_damaged_indexes_are_made_again() {
    let good = indexes(&written(true));
    for clean in [true, false] {
        for damage in 0..5 {
            let disk = written(true);
            let index = path("00000000000000000007.index");
            match damage {
                0 => disk.remove_file(&index).unwrap(),
                1 => disk.remove_file(&path("00000000000000000007.timeindex")).unwrap(),
                2 => disk.open(&index, OpenMode::Write).unwrap().set_len(13).unwrap(),
                3 => disk.open(&index, OpenMode::Write).unwrap().set_len(800).unwrap(),
                _ => disk.open(&index, OpenMode::Write).unwrap().write_at(16, &[0xff; 8]).unwrap(),
            }
            let Opened { appender, log, report } = open(&disk, small(), Opening { clean, ..NEW });
            assert_eq!(report.rebuilt_indexes, u32::from(clean), "{damage}");
            assert_eq!((log.end_offset(), contents(&log).len()), (20, 20));
            assert_eq!(log.offset_for_timestamp(NOW.wall_ms + 9).unwrap().unwrap().offset, 9);
            appender.close_clean().unwrap();
            assert_eq!(indexes(&disk), good, "{damage}");
        }
    }
}

#[test]
fn producers_survive_a_damaged_snapshot() {
    for clean in [true, false] {
        let disk = written(true);
        flip(&disk, "00000000000000000020.snapshot", 20);
        flip(&disk, "00000000000000000014.snapshot", 20);
        let Opened { mut appender, .. } = open(&disk, small(), Opening { clean, ..NEW });
        let known = append(&mut appender, &Batch::at(&[NOW.wall_ms + 17]).sized(60).of(3, 0, 17)).unwrap();
        assert!(known.duplicate);
        assert_eq!(known.first_offset, 17);
    }
}

#[test]
fn the_log_start_survives_even_beyond_the_end() {
    let disk = written(true);
    let Opened { log, .. } = open(&disk, small(), Opening { log_start: 10, ..CLEAN });
    assert_eq!((log.start_offset(), log.segments()[0].base_offset), (10, 0));
    let Opened { log, mut appender, .. } = open(&disk, small(), Opening { log_start: 50, ..NEW });
    assert_eq!((log.start_offset(), log.end_offset(), log.segments().len()), (50, 50, 1));
    append(&mut appender, &Batch::at(&[1])).unwrap();
    assert_eq!(contents(&log), [(50, 50)]);
}

#[test]
fn leftovers_go() {
    let disk = written(true);
    for name in [
        "00000000000000000000.log.deleted",
        "00000000000000000000.log.cleaned",
        "leader-epoch-checkpoint.tmp",
    ] {
        disk.open(&path(name), OpenMode::Create).unwrap();
    }
    disk.open(&path("00000000000000000099.index"), OpenMode::Create).unwrap();
    open(&disk, small(), CLEAN);
    assert!(files(&disk.shared()).iter().all(|name| !name.ends_with("d") && !name.ends_with("tmp")));
    assert_eq!(disk.meta(&path("00000000000000000099.index")).unwrap(), None);
}

#[test]
fn a_roll_that_a_power_cut_interrupts_leaves_whole_indexes_below_the_recovery_point() {
    for (calls, seed) in (0..12).flat_map(|calls| (0..12).map(move |seed| (calls, seed))) {
        let disk = memory();
        let Opened { mut appender, log, .. } = open(&disk, small(), NEW);
        append(&mut appender, &Batch::at(&[NOW.wall_ms, NOW.wall_ms + 7])).unwrap();
        log.flush().unwrap();
        disk.fail_after(Some(calls));
        let _perhaps = appender.roll(NOW);
        disk.fail_after(None);
        disk.crash(&Rng::from_seed(seed));
        let Opened { log, .. } = open(&disk, small(), Opening { recovery_point: 2, ..NEW });
        let found = log.offset_for_timestamp(NOW.wall_ms + 3).unwrap().map(|found| found.offset);
        assert_eq!((log.end_offset(), found), (2, Some(1)), "{calls} calls, seed {seed}");
    }
}

#[test]
fn what_was_known_of_a_producer_when_its_records_went_survives_a_power_cut() {
    for seed in 0..20 {
        let disk = memory();
        let Opened { mut appender, log, .. } = open(&disk, small(), NEW);
        append(&mut appender, &Batch::at(&[NOW.wall_ms]).of(7, 0, 0)).unwrap();
        appender.roll(NOW).unwrap();
        log.flush_sealed().unwrap();
        appender.advance_log_start(1).unwrap();
        if let Some(removal) = appender.retention(1, NOW).unwrap().removal {
            removal.run().unwrap();
        }
        disk.crash(&Rng::from_seed(seed));
        let opening = Opening { recovery_point: 1, log_start: 1, ..NEW };
        let Opened { mut appender, .. } = open(&disk, small(), opening);
        let again = append(&mut appender, &Batch::at(&[NOW.wall_ms]).of(7, 0, 0)).unwrap();
        assert!(again.duplicate && again.first_offset == 0, "seed {seed}");
    }
}
