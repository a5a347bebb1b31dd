//! A compacted log against a map: random puts, deletes, transactions, rolls, retention, truncation, compactions that go
//! on meanwhile, and crashes, by seed.
//!
//! `BARNABAS_SEED=n` runs one seed, `BARNABAS_SEEDS=n` so many (see `each_seed`).
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "numbers in tests are small"
)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use barnabas_protocol::batch::{
    BatchBuilder, BatchView, Batches, Caps, ControlType, EndTxnMarker, Origin, Scratch,
};

use crate::clock::Now;
use crate::disk::{Disk, MemoryDisk};
use crate::rng::Rng;
use crate::seeds::each_seed;
use crate::storage::testing::*;
use crate::storage::*;

type Value = Option<String>;

/// A record as it was appended.
#[derive(Clone, Debug)]
struct Record {
    offset: i64,
    key: String,
    value: Value,
}

/// What was appended, a batch each.
#[derive(Clone, Debug)]
enum Entry {
    Data { records: Vec<Record>, producer: Option<(i64, bool)> },
    Marker { offset: i64, producer: i64, commit: bool },
}

impl Entry {
    fn first(&self) -> i64 {
        match self {
            Entry::Data { records, .. } => records[0].offset,
            Entry::Marker { offset, .. } => *offset,
        }
    }
}

struct World {
    rng: Rng,
    disk: MemoryDisk,
    config: LogConfig,
    now: Now,
    appender: Appender,
    log: Arc<Log>,
    history: Vec<Entry>,
    end: i64,
    start: i64,
    /// What the checkpoint files say: recovery point, log start, compacted up to.
    checkpoint: (i64, i64, Option<i64>),
    /// A compaction that is under way.
    cleaning: Option<Cleaning>,
    /// The high watermark of the last compaction: nothing below is truncated, since what it decided rests on it.
    looked_at: i64,
    /// When a compaction first passed over a tombstone.
    passed: HashMap<i64, i64>,
}

const PRODUCERS: [i64; 3] = [5, 6, 7];
const RETENTION_MS: i64 = 700;

impl World {
    fn new(seed: u64) -> World {
        let rng = Rng::from_seed(seed);
        let disk = memory();
        disk.sync_dir(Path::new("/")).unwrap();
        disk.keep_open(1 + rng.below(4) as usize);
        let config = LogConfig {
            segment_bytes: 500 + rng.below(1500) as u32,
            index_interval_bytes: rng.below(300) as u32,
            compact: true,
            delete: rng.below(2) == 0,
            retention_ms: -1,
            delete_retention_ms: RETENTION_MS,
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
            checkpoint: (0, 0, None),
            cleaning: None,
            looked_at: 0,
            passed: HashMap::new(),
        }
    }

    fn step(&mut self) {
        match self.rng.below(100) {
            0..50 => self.put(),
            50..62 => self.end_transaction(),
            62..66 => self.appender.roll(self.now).unwrap(),
            66..68 => self.log.flush().unwrap(),
            68..70 => self.retain(),
            70..72 => self.truncate(),
            72..80 => self.go_on_compacting(),
            80..86 => self.compact(None),
            86..89 => {
                self.checkpoint.0 = self.log.recovery_point();
                self.checkpoint.1 = self.log.start_offset();
            }
            89..91 => self.advance_start(),
            91..93 => self.stop_clean(),
            93..96 => self.compact(Some(self.rng.below(30))),
            96..98 => self.reopen(false),
            _ => self.reopen(true),
        }
        self.now.wall_ms += self.rng.below(60) as i64;
    }

    /// The next sequence of a producer, by what is in the log.
    fn next_sequence(&self, producer: i64) -> i32 {
        let of = |entry: &Entry| match entry {
            Entry::Data { records, producer: Some((id, _)) } if *id == producer => records.len(),
            _ => 0,
        };
        self.history.iter().map(of).sum::<usize>() as i32
    }

    fn open_transactions(&self) -> HashMap<i64, i64> {
        self.open_at(i64::MAX)
    }

    /// Producers and first offsets of the transactions that are open at an offset.
    fn open_at(&self, offset: i64) -> HashMap<i64, i64> {
        let mut open = HashMap::new();
        for entry in self.history.iter().filter(|entry| entry.first() < offset) {
            match entry {
                Entry::Data { producer: Some((id, true)), records } => {
                    open.entry(*id).or_insert(records[0].offset);
                }
                Entry::Marker { producer, .. } => {
                    open.remove(producer);
                }
                Entry::Data { .. } => {}
            }
        }
        open
    }

    fn put(&mut self) {
        let producer = PRODUCERS.get(self.rng.below(5) as usize).copied();
        // A producer with a transaction writes nothing outside of it.
        let producer = producer.map(|id| (id, id != 5));
        let mut batch = match producer {
            Some((id, true)) => BatchBuilder::new().producer(id, 0, self.next_sequence(id)).transactional(),
            Some((id, false)) => BatchBuilder::new().producer(id, 0, self.next_sequence(id)),
            None => BatchBuilder::new(),
        };
        let records: Vec<Record> = (0..=self.rng.below(3) as i64)
            .map(|at| Record {
                offset: self.end + at,
                key: format!("k{}", self.rng.below(8)),
                value: (self.rng.below(4) != 0).then(|| format!("v{}", self.end + at)),
            })
            .collect();
        for record in &records {
            batch.append(
                self.now.wall_ms,
                Some(record.key.as_bytes()),
                record.value.as_ref().map(String::as_bytes),
            );
        }
        let bytes = batch.finish().unwrap();
        let last = match put_bytes(&mut self.appender, bytes, Origin::Client, self.now) {
            Ok(appended) => appended.last_offset,
            // Retention took its records, a marker is left: Kafka, too, knows its epoch but no sequence then.
            Err(AppendError::OutOfOrderSequence { last: -1, .. }) if self.config.delete => return,
            Err(error) => panic!("{error}"),
        };
        assert_eq!(last, records.last().unwrap().offset);
        self.end = last + 1;
        self.history.push(Entry::Data { records, producer });
    }

    fn end_transaction(&mut self) {
        let producer = PRODUCERS[1 + self.rng.below(2) as usize];
        // Markers also come to producers that have written nothing.
        let commit = self.rng.below(2) == 0;
        let bytes = EndTxnMarker { commit, coordinator_epoch: 1 };
        let bytes = bytes.batch(self.now.wall_ms, producer, 0).unwrap();
        let appended = put_bytes(&mut self.appender, bytes, Origin::Coordinator, self.now).unwrap();
        assert_eq!(appended.first_offset, self.end);
        self.history.push(Entry::Marker { offset: self.end, producer, commit });
        self.end += 1;
    }

    fn limits(&self) -> CleanLimits {
        CleanLimits {
            key_bytes: [24 * 5, 1 << 16][self.rng.below(2) as usize],
            step_bytes: 100 + self.rng.below(1000),
            ..LIMITS
        }
    }

    /// A part of a compaction; whatever comes next finds it half done.
    fn go_on_compacting(&mut self) {
        let mut cleaning = self.cleaning.take().unwrap_or_else(|| {
            let stable = self.log.first_unstable_offset().unwrap_or(self.end);
            let plan = Plan::of(&self.log, self.checkpoint.2, stable, self.now).unwrap();
            self.looked_at = self.end;
            self.note_tombstones();
            Cleaning::begin(&self.appender, plan, self.end, self.limits(), self.now)
        });
        for _ in 0..self.rng.below(12) {
            match cleaning.step().unwrap() {
                Step::Moved(_) => {}
                Step::Copied(cleaned) => {
                    let replaced = self.appender.replace(&cleaned).unwrap();
                    self.compare();
                    let Some(removal) = replaced else { return };
                    removal.run().unwrap();
                    self.compare();
                }
                Step::Done(outcome) => {
                    self.checkpoint.2 = Some(outcome.cleaned_to);
                    self.no_key_twice_below(outcome.cleaned_to);
                    return;
                }
                Step::Overtaken => return,
            }
        }
        self.cleaning = Some(cleaning);
    }

    fn retain(&mut self) {
        let most = self.rng.below(4000) as i64;
        self.log.set_config(LogConfig { retention_bytes: most, ..self.config.clone() });
        let stable = self.log.first_unstable_offset().unwrap_or(self.end);
        let retained = self.appender.retention(stable, self.now).unwrap();
        self.log.set_config(self.config.clone());
        assert!(self.config.delete || retained.log_start == self.start, "only what is below the start goes");
        self.start = retained.log_start;
        if let Some(removal) = retained.removal.filter(|_| self.rng.below(2) == 0) {
            removal.run().unwrap();
        }
        self.compare();
    }

    fn truncate(&mut self) {
        let least = self.looked_at.max(self.start);
        let choice: Vec<i64> =
            self.history.iter().map(Entry::first).filter(|first| *first >= least).collect();
        let Some(offset) = choice.get(self.rng.below(choice.len().max(1) as u64) as usize).copied() else {
            return;
        };
        // What began before the log's first record only a snapshot knows, which a power cut may have taken.
        let first = self.log.segments()[0].base_offset;
        if self.open_at(offset).values().any(|begun| *begun < first) {
            return;
        }
        self.appender.truncate_to(offset, self.now).unwrap();
        self.history.retain(|entry| entry.first() < offset);
        self.passed.retain(|passed, _| *passed < offset);
        self.end = offset;
        self.checkpoint.0 = self.checkpoint.0.min(offset);
        self.compare();
    }

    /// Compacts; if the disk fails after so many changes, the log is opened again.
    fn compact(&mut self, fail_after: Option<u64>) {
        // One at a time.
        self.cleaning = None;
        self.looked_at = self.end;
        self.disk.fail_after(fail_after);
        let limits = self.limits();
        let cleaned = compact(&mut self.appender, self.checkpoint.2, limits, self.now);
        self.disk.fail_after(None);
        match cleaned {
            Ok(outcome) => {
                self.checkpoint.2 = Some(outcome.cleaned_to);
                self.note_tombstones();
                self.no_key_twice_below(outcome.cleaned_to);
                self.compare();
            }
            Err(error) => {
                assert!(fail_after.is_some(), "{error}");
                self.note_tombstones();
                self.reopen(self.rng.below(2) == 0);
            }
        }
    }

    fn note_tombstones(&mut self) {
        for entry in &self.history {
            if let Entry::Data { records, .. } = entry {
                for record in records.iter().filter(|record| record.value.is_none()) {
                    self.passed.entry(record.offset).or_insert(self.now.wall_ms);
                }
            }
        }
    }

    fn advance_start(&mut self) {
        self.start += self.rng.below(((self.end - self.start) / 4 + 1) as u64) as i64;
        self.appender.advance_log_start(self.start).unwrap();
        self.checkpoint.1 = self.start;
    }

    fn stop_clean(&mut self) {
        self.cleaning = None;
        let other = open(&memory(), self.config.clone(), NEW);
        std::mem::replace(&mut self.appender, other.appender).close_clean().unwrap();
        self.checkpoint = (self.end, self.start, self.checkpoint.2);
        let opening = Opening { clean: true, recovery_point: self.end, log_start: self.start, ..NEW };
        let opened = open(&self.disk, self.config.clone(), opening);
        assert_eq!(opened.report, RecoveryReport::default());
        (self.appender, self.log) = (opened.appender, opened.log);
        self.compare();
    }

    fn reopen(&mut self, power_cut: bool) {
        self.cleaning = None;
        // A sealed segment that lost its end cannot be told from a compacted one, by Kafka neither; it is flushed when
        // it is sealed.
        let power_cut = power_cut && self.log.flush_sealed().is_ok();
        let flushed = self.log.recovery_point();
        let other = open(&memory(), self.config.clone(), NEW);
        self.appender = other.appender;
        if power_cut {
            self.disk.crash(&self.rng);
        }
        let (recovery_point, log_start, _) = self.checkpoint;
        let opening = Opening { clean: false, recovery_point, log_start, ..NEW };
        let opened = open(&self.disk, self.config.clone(), opening);
        (self.appender, self.log) = (opened.appender, opened.log);
        let end = self.log.end_offset();
        assert!(end >= if power_cut { flushed } else { self.end }, "{:?}", opened.report);
        self.history.retain(|entry| entry.first() < end);
        self.passed.retain(|offset, _| *offset < end);
        self.end = end;
        self.start = self.log.start_offset();
        // The log begins anew. Of what was before only a snapshot could know, which a power cut may have taken.
        if self.log.size() == 0 && self.appender.producer_infos().is_empty() {
            self.history.clear();
        }
        self.compare();
    }

    /// Records by offset, and the map that committed records add up to, of everything at or after the log's start.
    fn expected(&self) -> (BTreeMap<i64, Record>, BTreeMap<String, String>) {
        let stable = self.open_transactions().into_values().min().unwrap_or(i64::MAX);
        let mut all = BTreeMap::new();
        let mut map = BTreeMap::new();
        for (at, entry) in self.history.iter().enumerate() {
            let Entry::Data { records, producer } = entry else { continue };
            let end = self.history.iter().skip(at).find_map(|later| match later {
                Entry::Marker { producer: id, commit, .. } if producer.is_some_and(|(own, _)| own == *id) => {
                    Some(*commit)
                }
                _ => None,
            });
            let aborted = producer.is_some_and(|(_, transactional)| transactional) && end == Some(false);
            for record in records {
                all.insert(record.offset, record.clone());
                if record.offset < self.start || record.offset >= stable || aborted {
                    continue;
                }
                match &record.value {
                    Some(value) => map.insert(record.key.clone(), value.clone()),
                    None => map.remove(&record.key),
                };
            }
        }
        (all, map)
    }

    /// Every batch that a fetch gives.
    fn fetch(&self) -> Vec<Vec<u8>> {
        let mut batches = Vec::new();
        let mut offset = self.log.start_offset();
        while offset < self.log.end_offset() {
            let bytes = self.log.read(offset, 400, true, i64::MAX).unwrap().chunk.load().unwrap();
            let mut next = offset;
            for batch in Batches::new(&bytes) {
                let batch = batch.unwrap();
                batch.check_crc().unwrap();
                next = batch.header().next_offset();
                batches.push(batch.bytes().to_vec());
            }
            if next == offset {
                break;
            }
            offset = next;
        }
        batches
    }

    /// What a consumer sees is what the history adds up to, and no record is other than it was appended.
    fn compare(&self) {
        let (all, expected) = self.expected();
        let stable = self.log.first_unstable_offset().unwrap_or(self.end);
        assert_eq!(stable, self.open_transactions().into_values().min().unwrap_or(self.end));
        let mut aborted = self.log.aborted_transactions(self.start, self.end).unwrap();
        aborted.sort_by_key(|aborted| aborted.first_offset);
        let mut aborted = aborted.into_iter().peekable();
        let mut aborting = HashSet::new();
        let mut map = BTreeMap::new();
        let mut seen = HashSet::new();
        let mut last = -1;
        for bytes in self.fetch() {
            let batch = BatchView::first(&bytes).unwrap().unwrap();
            let header = batch.header();
            assert!(header.base_offset > last);
            last = header.last_offset();
            let mut scratch = Scratch::default();
            let records = batch.records(&mut scratch, Caps::default()).unwrap().map(Result::unwrap);
            while let Some(begun) = aborted.next_if(|aborted| aborted.first_offset <= last) {
                aborting.insert(begun.producer_id);
            }
            if header.attributes.control() {
                if let Some(record) = records.into_iter().next()
                    && ControlType::of(&record) == Some(ControlType::Abort)
                {
                    aborting.remove(&header.producer_id);
                }
                continue;
            }
            let visible = !(header.attributes.transactional() && aborting.contains(&header.producer_id));
            for record in records {
                let offset = record.offset(header.base_offset);
                let known = &all[&offset];
                assert_eq!(record.key, Some(known.key.as_bytes()));
                assert_eq!(record.value, known.value.as_ref().map(String::as_bytes), "at {offset}");
                seen.insert(offset);
                if !visible || offset < self.start || offset >= stable {
                    continue;
                }
                match &known.value {
                    Some(value) => map.insert(known.key.clone(), value.clone()),
                    None => map.remove(&known.key),
                };
            }
        }
        assert_eq!(map, expected);
        self.tombstones_are_there(&seen);
    }

    /// A tombstone that is the last word on its key can be read for `delete.retention.ms` after it was passed over.
    fn tombstones_are_there(&self, seen: &HashSet<i64>) {
        let mut last = BTreeMap::new();
        for entry in &self.history {
            // Whatever became of the others: a key that only plain batches touch is simple.
            let Entry::Data { records, producer } = entry else { continue };
            for record in records {
                last.insert(&record.key, (record, producer.is_none_or(|(_, transactional)| !transactional)));
            }
        }
        for (record, plain) in last.values() {
            let passed = self.passed.get(&record.offset);
            let due = passed.is_some_and(|passed| self.now.wall_ms >= passed + RETENTION_MS);
            if *plain && record.value.is_none() && record.offset >= self.start && !due {
                assert!(seen.contains(&record.offset), "the tombstone at {}", record.offset);
            }
        }
    }

    fn no_key_twice_below(&self, cleaned_to: i64) {
        let mut keys = HashMap::new();
        for bytes in self.fetch() {
            let batch = BatchView::first(&bytes).unwrap().unwrap();
            let header = batch.header();
            let mut scratch = Scratch::default();
            if header.attributes.control() {
                continue;
            }
            for record in batch.records(&mut scratch, Caps::default()).unwrap() {
                let record = record.unwrap();
                let offset = record.offset(header.base_offset);
                if offset >= self.start && offset < cleaned_to {
                    let before = keys.insert(record.key.unwrap().to_vec(), offset);
                    assert_eq!(before, None, "a key at {offset} again, compacted up to {cleaned_to}");
                }
            }
        }
    }
}

#[test]
fn a_compacted_log_is_a_map_whatever_happens() {
    each_seed(200, |seed| {
        let mut world = World::new(seed);
        for _ in 0..150 {
            world.step();
        }
        world.compare();
    });
}
