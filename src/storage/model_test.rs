//! A log against a list: random operations, orderly stops, kills, power cuts and failing disks, by seed.
//!
//! `BARNABAS_SEED=n` runs one seed, `BARNABAS_SEEDS=n` so many (see `each_seed`).
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "numbers in tests are small"
)]

use std::path::Path;
use std::sync::Arc;

use super::testing::*;
use super::*;
use crate::clock::Now;
use crate::disk::{Disk, MemoryDisk, OpenMode};
use crate::rng::Rng;
use crate::seeds::each_seed;

/// A batch that was appended, as it must be in the file.
#[derive(Clone, Debug)]
struct Kept {
    first: i64,
    last: i64,
    timestamps: Vec<i64>,
    sequence: Option<i32>,
    sent: Batch,
}

struct World {
    rng: Rng,
    disk: MemoryDisk,
    config: LogConfig,
    now: Now,
    appender: Appender,
    log: Arc<Log>,
    /// What was appended, from the oldest that may still be there.
    history: Vec<Kept>,
    end: i64,
    start: i64,
    /// What the checkpoint files say.
    checkpoint: (i64, i64),
    /// An append that failed may be in the file all the same.
    doubtful: Option<Kept>,
}

const PRODUCER: i64 = 77;

impl World {
    fn new(seed: u64) -> World {
        let rng = Rng::from_seed(seed);
        let disk = memory();
        disk.sync_dir(Path::new("/")).unwrap();
        disk.keep_open(1 + rng.below(4) as usize);
        let config = LogConfig {
            segment_bytes: 800 + rng.below(2000) as u32,
            index_interval_bytes: rng.below(400) as u32,
            segment_ms: [500, i64::MAX][rng.below(2) as usize],
            retention_ms: -1,
            ..LogConfig::default()
        };
        let Opened { appender, log, .. } = open(&disk, config.clone(), NEW);
        World {
            rng,
            disk,
            config,
            now: NOW,
            appender,
            log,
            history: Vec::new(),
            end: 0,
            start: 0,
            checkpoint: (0, 0),
            doubtful: None,
        }
    }

    fn step(&mut self) {
        match self.rng.below(100) {
            0..50 => self.append(),
            50..60 => self.read(),
            60..64 => self.look_up_time(),
            64..68 => self.retry(),
            68..71 => self.appender.roll(self.now).unwrap(),
            71..76 => self.log.flush().unwrap(),
            76..78 => self.log.flush_sealed().unwrap(),
            78..81 => self.truncate(),
            81..84 => self.retain(),
            84..86 => self.advance_start(),
            86..90 => self.checkpoint = (self.log.recovery_point(), self.log.start_offset()),
            90..93 => self.stop_clean(),
            93..95 => self.fail(),
            95..97 => self.reopen(false),
            97 => self.rot(),
            _ => self.reopen(true),
        }
        self.now.wall_ms += self.rng.below(50) as i64;
    }

    fn batch(&mut self) -> Kept {
        let count = 1 + self.rng.below(4) as i64;
        let timestamps: Vec<i64> =
            (0..count).map(|_| self.now.wall_ms - self.rng.below(200) as i64).collect();
        let mut sent = Batch::at(&timestamps).sized(self.rng.below(150) as usize);
        let idempotent = self.rng.below(2) == 0;
        let sequence = idempotent.then(|| self.next_sequence());
        if let Some(sequence) = sequence {
            sent = sent.of(PRODUCER, 0, sequence);
        }
        Kept { first: self.end, last: self.end + count - 1, timestamps, sequence, sent }
    }

    fn next_sequence(&self) -> i32 {
        let last = self.history.iter().rev().find_map(|kept| Some((kept.sequence?, kept.timestamps.len())));
        last.map_or(0, |(sequence, count)| sequence + count as i32)
    }

    fn append(&mut self) {
        let kept = self.batch();
        let appended = append_at(&mut self.appender, &kept.sent, self.now).unwrap();
        assert_eq!((appended.first_offset, appended.last_offset), (kept.first, kept.last));
        assert!(!appended.duplicate);
        self.end = kept.last + 1;
        self.history.push(kept);
    }

    /// Sends one of the last five batches of the producer again.
    fn retry(&mut self) {
        let sent: Vec<&Kept> = self.history.iter().filter(|kept| kept.sequence.is_some()).collect();
        let Some(newest) = sent.last() else { return };
        // What only a snapshot knows is one batch a producer; what is deleted may be forgotten.
        let back =
            sent.iter().rev().take(5).take_while(|kept| kept.first >= self.log.segments()[0].base_offset);
        let known = back.count();
        if known == 0 {
            return;
        }
        assert!(newest.last < self.end);
        let kept = newest;
        let again = append_at(&mut self.appender, &kept.sent, self.now).unwrap();
        assert!(again.duplicate);
        assert_eq!((again.first_offset, again.last_offset), (kept.first, kept.last));
        assert_eq!(again.append_time, *kept.timestamps.iter().max().unwrap());
    }

    fn read(&mut self) {
        let offset = self.start + self.rng.below((self.end - self.start + 1) as u64) as i64;
        let bound = self.history.get(self.rng.below(self.history.len().max(1) as u64) as usize);
        let bound = bound.filter(|_| self.rng.below(2) == 0).map_or(i64::MAX, |kept| kept.first);
        let most = self.rng.below(1500);
        let slice = self.log.read(offset, most, true, bound).unwrap();
        let bytes = slice.chunk.load().unwrap();
        let expected = self.history.iter().find(|kept| kept.last >= offset && kept.last < bound);
        let Some(expected) = expected else {
            assert!(bytes.is_empty(), "offset {offset}, bound {bound}");
            return;
        };
        let mut batches = barnabas_protocol::batch::Batches::new(&bytes);
        let mut next = expected.first;
        for batch in &mut batches {
            let batch = batch.unwrap();
            assert_eq!(batch.header().base_offset, next);
            next = batch.header().next_offset();
            batch.check_crc().unwrap();
        }
        assert!(next > expected.first, "the first batch is whole");
        assert!(next <= bound.min(self.end));
    }

    fn look_up_time(&mut self) {
        let target = self.now.wall_ms - self.rng.below(3000) as i64;
        let records = self.history.iter().flat_map(|kept| {
            (kept.first..).zip(kept.timestamps.iter().copied()).filter(|(offset, _)| *offset >= self.start)
        });
        let expected = records.clone().find(|(_, timestamp)| *timestamp >= target);
        let found = self.log.offset_for_timestamp(target).unwrap();
        assert_eq!(found.map(|found| (found.offset, found.timestamp)), expected, "{target}");
        if self.start == self.log.segments()[0].base_offset {
            let largest = records.min_by_key(|(_, timestamp)| std::cmp::Reverse(*timestamp));
            let found = self.log.max_timestamp().unwrap();
            assert_eq!(found.map(|found| (found.offset, found.timestamp)), largest);
        }
    }

    fn truncate(&mut self) {
        let Some(kept) = self.history.get(self.rng.below(self.history.len().max(1) as u64) as usize) else {
            return;
        };
        let offset = kept.first.max(self.start);
        if offset != kept.first {
            return;
        }
        self.appender.truncate_to(offset, self.now).unwrap();
        self.cut_history(offset);
        self.checkpoint.0 = self.checkpoint.0.min(offset);
    }

    fn cut_history(&mut self, end: i64) {
        self.history.retain(|kept| kept.first < end);
        self.end = end;
    }

    fn retain(&mut self) {
        let most = self.rng.below(4000) as i64;
        self.log.set_config(LogConfig { retention_bytes: most, ..self.config.clone() });
        let bound = self.end - self.rng.below(10) as i64;
        let retained = self.appender.retention(bound, self.now).unwrap();
        self.log.set_config(self.config.clone());
        self.start = self.start.max(self.log.segments()[0].base_offset);
        assert_eq!(retained.log_start, self.start);
        if let Some(removal) = retained.removal.filter(|_| self.rng.below(2) == 0) {
            removal.run().unwrap();
        }
    }

    fn advance_start(&mut self) {
        self.start += self.rng.below((self.end - self.start + 1) as u64) as i64;
        self.appender.advance_log_start(self.start).unwrap();
    }

    fn stop_clean(&mut self) {
        self.with_closed(|appender| appender.close_clean().unwrap());
        self.checkpoint = (self.end, self.start);
        let opening = Opening { clean: true, recovery_point: self.end, log_start: self.start, ..NEW };
        let opened = open(&self.disk, self.config.clone(), opening);
        assert_eq!(opened.report, RecoveryReport::default());
        (self.appender, self.log) = (opened.appender, opened.log);
    }

    /// Puts a log in another place for the moment, so that this one's appender can be given away.
    fn with_closed(&mut self, close: impl FnOnce(Appender)) {
        let other = open(&memory(), self.config.clone(), NEW);
        close(std::mem::replace(&mut self.appender, other.appender));
    }

    /// The disk fails in the middle of something; the log must be opened again.
    fn fail(&mut self) {
        let kept = self.batch();
        self.disk.fail_after(Some(self.rng.below(8)));
        let truncated = self.history.last().map_or(0, |kept| kept.first).max(self.start);
        let failed = match self.rng.below(3) {
            0 => {
                self.appender.roll(self.now).is_err() || {
                    let result = append_at(&mut self.appender, &kept.sent, self.now);
                    self.doubtful = Some(kept);
                    result.is_err() || self.log.flush().is_err()
                }
            }
            1 => {
                self.appender.truncate_to(truncated, self.now).is_err() || {
                    self.cut_history(truncated);
                    false
                }
            }
            _ => self.log.flush().is_err() || self.appender.retention(self.end, self.now).is_err(),
        };
        self.disk.fail_after(None);
        if failed {
            assert!(self.appender.roll(self.now).is_err(), "unusable after a failure");
        }
        let power_cut = self.rng.below(2) == 0;
        self.checkpoint.0 = self.checkpoint.0.min(self.log.recovery_point());
        self.reopen(power_cut);
    }

    fn reopen(&mut self, power_cut: bool) {
        let flushed = self.log.recovery_point();
        let least = if power_cut { flushed } else { self.log.end_offset().min(self.end) };
        self.with_closed(drop);
        if power_cut {
            self.disk.crash(&self.rng);
        }
        let (recovery_point, log_start) = self.checkpoint;
        let opening = Opening { clean: false, recovery_point, log_start, ..NEW };
        let opened = open(&self.disk, self.config.clone(), opening);
        (self.appender, self.log) = (opened.appender, opened.log);
        self.history.extend(self.doubtful.take());
        let end = self.log.end_offset();
        assert!(end >= least, "{end} of at least {least}; {:?}", opened.report);
        self.start = self.log.start_offset();
        let most = self.history.last().map_or(0, |kept| kept.last + 1).max(self.start);
        assert!(end <= most, "{end} of at most {most}");
        self.cut_history(end);
        if self.log.size() == 0 {
            // The end was lost below the log's start: it begins anew there, perhaps inside a lost batch.
            self.history.retain(|kept| kept.last < self.start);
        }
        self.compare();
    }

    /// A bit of a log file turns while the broker is down: the log ends before that batch.
    fn rot(&mut self) {
        self.log.flush().unwrap();
        let segments = self.log.segments();
        let Some(segment) = segments.get(self.rng.below(segments.len() as u64) as usize) else { return };
        let path = dir().join(format!("{:020}.log", segment.base_offset));
        let bytes = self.disk.read(&path).unwrap();
        // What a leader patches, offset and epoch, is under no checksum.
        let batches: Vec<_> = barnabas_protocol::batch::Batches::new(&bytes).map(Result::unwrap).collect();
        let Some(batch) = batches.get(self.rng.below(batches.len() as u64) as usize) else { return };
        let start = batch.bytes().as_ptr() as usize - bytes.as_ptr() as usize;
        let within = 16 + self.rng.below(batch.bytes().len() as u64 - 16);
        let position = start + within as usize;
        let end = batch.header().base_offset;
        if end < self.checkpoint.1 {
            // All would be gone, and the log begin anew.
            return;
        }
        let turned = bytes[position] ^ (1 << self.rng.below(8));
        self.disk.open(&path, OpenMode::Write).unwrap().write_at(position as u64, &[turned]).unwrap();
        self.with_closed(drop);
        self.checkpoint.0 = 0;
        let opening = Opening { clean: false, recovery_point: 0, log_start: self.checkpoint.1, ..NEW };
        let opened = open(&self.disk, self.config.clone(), opening);
        assert!(opened.report.cut_bytes > 0);
        (self.appender, self.log) = (opened.appender, opened.log);
        assert_eq!(self.log.end_offset(), end, "{:?}", opened.report);
        self.cut_history(end);
        self.start = self.log.start_offset();
        if self.log.size() == 0 {
            self.history.retain(|kept| kept.last < self.start);
        }
        self.compare();
    }

    /// All that can be read is what was appended.
    fn compare(&self) {
        assert_eq!((self.log.start_offset(), self.log.end_offset()), (self.start, self.end));
        let expected: Vec<(i64, i64)> = self
            .history
            .iter()
            .filter(|kept| kept.last >= self.start)
            .map(|kept| (kept.first, kept.last))
            .collect();
        assert_eq!(contents(&self.log), expected);
    }
}

#[test]
fn a_log_is_a_list_whatever_happens() {
    each_seed(200, |seed| {
        let mut world = World::new(seed);
        for _ in 0..150 {
            world.step();
        }
        world.compare();
    });
}
