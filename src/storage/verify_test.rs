#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers in tests are small")]

use super::*;
use crate::disk::MemoryDisk;
use crate::storage::testing::{Batch, NEW, append, dir, files, memory, open};
use crate::storage::{LogConfig, Opened};

/// A log of several segments, closed in order: batches of producers, an aborted transaction.
fn log() -> MemoryDisk {
    let disk = memory();
    let config = LogConfig { segment_bytes: 1500, index_interval_bytes: 200, ..LogConfig::default() };
    let Opened { mut appender, .. } = open(&disk, config, NEW);
    for n in 0..20 {
        append(&mut appender, &Batch::at(&[100 + n, 300 - n, 200]).of(7, 0, n as i32 * 3)).unwrap();
    }
    append(&mut appender, &Batch::at(&[400]).of(8, 0, 0).transactional()).unwrap();
    append(&mut appender, &Batch::ends(8, 0, false)).unwrap();
    appender.close_clean().unwrap();
    disk
}

fn damage(disk: &MemoryDisk) -> Vec<Damage> {
    verify(disk, dir()).unwrap().damage
}

fn flip(disk: &MemoryDisk, path: &Path, at: usize) {
    let mut byte = disk.read(path).unwrap()[at];
    byte ^= 0x10;
    disk.open(path, OpenMode::Write).unwrap().write_at(at as u64, &[byte]).unwrap();
}

/// Flips a bit in each byte of the files with that ending in turn; gives those that nobody noticed.
fn unnoticed(disk: &MemoryDisk, ending: &str) -> Vec<(String, usize)> {
    let mut unnoticed = Vec::new();
    for name in files(&disk.shared()).into_iter().filter(|name| name.ends_with(ending)) {
        let path = dir().join(&name);
        for at in 0..disk.read(&path).unwrap().len() {
            flip(disk, &path, at);
            if !damage(disk).iter().any(|damage| damage.path == path) {
                unnoticed.push((name.clone(), at));
            }
            flip(disk, &path, at);
        }
    }
    unnoticed
}

#[test]
fn a_sound_log_is_counted() {
    let disk = log();
    let verified = verify(&disk, dir()).unwrap();
    assert_eq!(verified.damage, []);
    assert_eq!((verified.batches, verified.records), (22, 62));
    assert!(verified.segments > 2 && verified.bytes > 2000);
    assert_eq!(damage(&disk), [], "nothing was changed");
}

#[test]
fn every_flipped_bit_of_batches_is_found() {
    let disk = log();
    let mut starts = Vec::new();
    for name in files(&disk.shared()).into_iter().filter(|name| name.ends_with(".log")) {
        let bytes = disk.read(&dir().join(&name)).unwrap();
        let mut at = 0;
        while let Some(header) = bytes.get(at..).and_then(Header::parse) {
            starts.push((name.clone(), at));
            at += header.total_bytes();
        }
    }
    // No checksum covers the leader epoch, nor the offset, which is found where it leaves its segment or its order.
    let uncovered = |(name, at): &(String, usize)| {
        starts.iter().any(|(of, start)| of == name && (start..=&(start + 15)).contains(&at))
            && !starts.iter().any(|(of, start)| of == name && (start + 8..start + 12).contains(at))
    };
    let unnoticed = unnoticed(&disk, ".log");
    let missed: Vec<_> = unnoticed.iter().filter(|place| !uncovered(place)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn every_flipped_bit_of_indexes_and_snapshots_is_found() {
    let disk = log();
    for ending in [".index", ".timeindex", ".snapshot"] {
        assert_eq!(unnoticed(&disk, ending), []);
    }
}

#[test]
fn a_cut_log_and_a_lost_one_are_found() {
    let disk = log();
    let last = files(&disk.shared()).into_iter().rfind(|name| name.ends_with(".log")).unwrap();
    let path = dir().join(last);
    let size = disk.read(&path).unwrap().len() as u64;
    disk.open(&path, OpenMode::Write).unwrap().set_len(size - 1).unwrap();
    let found = damage(&disk);
    assert!(found[0].what.contains("is cut"), "{found:?}");
    disk.remove_file(&path).unwrap();
    assert!(damage(&disk)[0].what.starts_with("missing"));
}
