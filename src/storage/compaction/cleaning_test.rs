//! What a compaction leaves, case by case.

use std::path::Path;

use barnabas_protocol::batch::{
    BatchBuilder, Batches, Caps, Codec, ControlType, EndTxnMarker, Header, Origin, Scratch,
};

use crate::clock::Now;
use crate::disk::{Disk, MemoryDisk};
use crate::storage::testing::*;
use crate::storage::*;

const DAY_MS: i64 = 86_400_000;

fn config() -> LogConfig {
    LogConfig { compact: true, delete: false, index_interval_bytes: 0, ..LogConfig::default() }
}

fn later(by_ms: i64) -> Now {
    Now { wall_ms: NOW.wall_ms + by_ms, ..NOW }
}

/// Every batch: its header and `offset key=value`, where a marker is `!commit` or `!abort`.
fn batches(log: &Log) -> Vec<(Header, Vec<String>)> {
    let mut found = Vec::new();
    for segment in log.segments.load().iter() {
        let bytes = log.disk.read(&segment.path("log")).unwrap();
        for batch in Batches::new(&bytes[..usize::try_from(segment.bytes()).unwrap()]) {
            let batch = batch.unwrap();
            batch.check_crc().unwrap();
            let header = *batch.header();
            let mut scratch = Scratch::default();
            let text = |bytes: Option<&[u8]>| {
                bytes.map_or("-".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
            };
            let records = batch.records(&mut scratch, Caps::default()).unwrap().map(|record| {
                let record = record.unwrap();
                let offset = record.offset(header.base_offset);
                match ControlType::of(&record).filter(|_| header.attributes.control()) {
                    Some(kind) => format!("{offset} !{kind:?}").to_lowercase(),
                    None => format!("{offset} {}={}", text(record.key), text(record.value)),
                }
            });
            found.push((header, records.collect()));
        }
    }
    found
}

fn records(log: &Log) -> Vec<String> {
    batches(log).into_iter().flat_map(|(_, records)| records).collect()
}

struct Story {
    disk: MemoryDisk,
    appender: Appender,
    cleaned_to: Option<i64>,
}

impl Story {
    fn new(config: LogConfig) -> Story {
        let disk = memory();
        let appender = open(&disk, config, NEW).appender;
        Story { disk, appender, cleaned_to: None }
    }

    fn log(&self) -> &Log {
        self.appender.log()
    }

    fn put(&mut self, records: &[Keyed<'_>]) -> &mut Story {
        put(&mut self.appender, keyed(records, NOW.wall_ms), Origin::Client, NOW);
        self
    }

    fn transactional(&mut self, producer: i64, sequence: i32, records: &[Keyed<'_>]) -> &mut Story {
        let batch = keyed(records, NOW.wall_ms).producer(producer, 0, sequence).transactional();
        put(&mut self.appender, batch, Origin::Client, NOW);
        self
    }

    fn end(&mut self, producer: i64, commit: bool) -> &mut Story {
        let marker = EndTxnMarker { commit, coordinator_epoch: 1 };
        let bytes = marker.batch(NOW.wall_ms, producer, 0).unwrap();
        put_bytes(&mut self.appender, bytes, Origin::Coordinator, NOW).unwrap();
        self
    }

    fn roll(&mut self) -> &mut Story {
        self.appender.roll(NOW).unwrap();
        self
    }

    fn clean(&mut self, now: Now) -> Outcome {
        let outcome = compact(&mut self.appender, self.cleaned_to, LIMITS, now).unwrap();
        self.cleaned_to = Some(outcome.cleaned_to);
        outcome
    }
}

#[test]
fn the_last_record_of_every_key_stays_at_its_offset() {
    let mut story = Story::new(config());
    story.put(&[("a", Some("1")), ("b", Some("1")), ("a", Some("2"))]).put(&[("b", Some("2"))]).roll();
    story.put(&[("c", Some("1")), ("a", Some("3"))]).roll();
    story.put(&[("c", Some("2"))]);
    let outcome = story.clean(NOW);
    assert_eq!(outcome.cleaned_to, 6);
    assert_eq!(records(story.log()), ["3 b=2", "4 c=1", "5 a=3", "6 c=2"], "the active segment is untouched");
    let ranges: Vec<_> =
        batches(story.log()).iter().map(|(header, _)| (header.base_offset, header.last_offset())).collect();
    assert_eq!(ranges, [(3, 3), (4, 5), (6, 6)]);
    assert_eq!(story.log().segments().len(), 2, "both fit into one");
    assert_eq!(contents(story.log()), [(3, 3), (4, 5), (6, 6)], "a fetch from 0 goes on at 3");
    let found = story.log().offset_for_timestamp(NOW.wall_ms).unwrap().unwrap();
    assert_eq!(found.offset, 3);
}

#[test]
fn the_rest_of_a_batch_keeps_codec_times_and_producer() {
    let mut story = Story::new(config());
    let mut batch = BatchBuilder::new().producer(9, 0, 0).codec(Codec::Gzip, None);
    for (at, key) in (0..).zip(["a", "b", "c"]) {
        batch.append(NOW.wall_ms + at * 10, Some(key.as_bytes()), Some(b"1"));
    }
    put(&mut story.appender, batch, Origin::Client, NOW);
    story.put(&[("a", Some("2")), ("c", Some("2"))]).roll().put(&[("z", None)]);
    story.clean(NOW);
    let (header, left) = batches(story.log()).swap_remove(0);
    assert_eq!(left, ["1 b=1"]);
    assert_eq!(header.attributes.codec(), Some(Codec::Gzip));
    assert_eq!((header.base_offset, header.last_offset_delta, header.record_count), (0, 2, 1));
    assert_eq!((header.producer_id, header.base_sequence), (9, 0));
    assert_eq!((header.base_timestamp, header.max_timestamp), (NOW.wall_ms + 10, NOW.wall_ms + 10));
    // Its last sequence is still known after a start that has nothing but the log.
    let batch = keyed(&[("d", Some("1"))], NOW.wall_ms).producer(9, 0, 3);
    story.disk.remove_file(&dir().join("00000000000000000005.snapshot")).unwrap();
    let mut appender = open(&story.disk, config(), NEW).appender;
    assert_eq!(put(&mut appender, batch, Origin::Client, NOW), 6);
}

#[test]
fn tombstones_stay_until_their_horizon() {
    let mut story = Story::new(config());
    story.put(&[("a", Some("1"))]).put(&[("a", None)]).roll().put(&[("b", Some("1"))]);
    story.clean(NOW);
    let (header, left) = batches(story.log()).swap_remove(0);
    assert_eq!(left, ["1 a=-"]);
    assert!(header.attributes.delete_horizon());
    assert_eq!(header.base_timestamp, NOW.wall_ms + DAY_MS);
    assert_eq!(header.max_timestamp, NOW.wall_ms, "the record's own time is as it was");
    story.roll().put(&[("c", Some("1"))]);
    story.clean(later(DAY_MS - 1));
    assert_eq!(records(story.log()), ["1 a=-", "2 b=1", "3 c=1"]);
    story.roll().put(&[("d", Some("1"))]);
    story.clean(later(DAY_MS));
    assert_eq!(records(story.log()), ["2 b=1", "3 c=1", "4 d=1"]);
}

#[test]
fn aborted_records_go_and_their_markers_follow() {
    let mut story = Story::new(config());
    story.transactional(1, 0, &[("a", Some("aborted"))]).transactional(1, 1, &[("b", Some("aborted"))]);
    story.end(1, false).put(&[("b", Some("2"))]);
    story.transactional(2, 0, &[("c", Some("1"))]).end(2, true).roll().put(&[("z", Some("1"))]);
    assert_eq!(story.log().aborted_transactions(0, 7).unwrap().len(), 1);
    story.clean(NOW);
    // The last batch of each producer stays, if only empty: it holds the sequence.
    let left = batches(story.log());
    assert_eq!(left[0].0.base_offset, 1);
    assert!(left[0].1.is_empty() && left[0].0.attributes.transactional());
    assert_eq!(records(story.log()), ["2 !abort", "3 b=2", "4 c=1", "5 !commit", "6 z=1"]);
    assert_eq!(story.log().aborted_transactions(0, 7).unwrap().len(), 1, "a batch of it is left");

    // Once the producer has gone on elsewhere, the empty batch goes; then the marker gets its horizon, then it goes.
    story.transactional(1, 2, &[("y", Some("1"))]).end(1, true);
    story.transactional(2, 1, &[("y", Some("2"))]).end(2, true).roll().put(&[("z", Some("2"))]);
    story.clean(NOW);
    let first = batches(story.log()).swap_remove(0);
    assert_eq!((first.0.base_offset, first.1), (2, vec!["2 !abort".to_owned()]));
    assert!(!first.0.attributes.delete_horizon(), "in this pass a batch of it was still there");
    story.roll().put(&[("z", Some("3"))]);
    story.clean(NOW);
    let first = batches(story.log()).swap_remove(0);
    assert!(first.0.attributes.delete_horizon() && first.1 == ["2 !abort"]);
    assert!(story.log().aborted_transactions(0, 7).unwrap().is_empty());
    story.roll().put(&[("z", Some("4"))]);
    story.clean(later(DAY_MS));
    assert_eq!(records(story.log())[0], "3 b=2");
}

#[test]
fn open_transactions_and_young_records_are_left_alone() {
    let mut story = Story::new(config());
    story.put(&[("a", Some("1"))]).roll().transactional(1, 0, &[("a", Some("2"))]).roll();
    story.put(&[("a", Some("3"))]).roll().put(&[("a", Some("4"))]);
    let outcome = story.clean(NOW);
    assert_eq!(outcome.cleaned_to, 1);
    story.end(1, true);
    let lag = LogConfig { min_compaction_lag_ms: 1000, ..config() };
    story.log().set_config(lag);
    assert_eq!(story.clean(later(1000 - 1)).cleaned_to, 1, "too young");
    assert_eq!(story.clean(later(1000)).cleaned_to, 3);
    assert_eq!(records(story.log()), ["2 a=3", "3 a=4", "4 !commit"]);
}

#[test]
fn a_log_is_due_by_its_dirty_part_or_by_age() {
    let mut story = Story::new(config());
    let plan = |story: &Story, now| {
        let log = story.log();
        Plan::of(log, story.cleaned_to, log.end_offset(), now).unwrap()
    };
    story.put(&[("a", Some("1"))]);
    assert!(!plan(&story, NOW).is_due(&config()), "all of it is active");
    story.roll().put(&[("b", Some("1"))]);
    assert!(plan(&story, NOW).is_due(&config()));
    assert_eq!(plan(&story, NOW).dirty_ratio, 1.0);
    story.clean(NOW);
    assert!(!plan(&story, NOW).is_due(&config()));
    story.roll().put(&[("c", Some("1"))]);
    assert_eq!(plan(&story, NOW).dirty_ratio, 0.5);
    assert!(!plan(&story, NOW).is_due(&config()), "not more than the ratio");
    let hurry = LogConfig { max_compaction_lag_ms: 1000, ..config() };
    story.log().set_config(hurry.clone());
    assert!(!plan(&story, later(1000)).is_due(&hurry));
    assert!(plan(&story, later(1001)).is_due(&hurry));
    let plan = Plan::of(story.log(), Some(99), 3, NOW).unwrap();
    assert!(plan.restarted && plan.first_dirty == 0, "a checkpoint beyond the end makes no sense");
}

#[test]
fn a_full_key_map_ends_the_pass_early() {
    let mut story = Story::new(config());
    for _ in 0..3 {
        for key in ["a", "b", "c", "d"] {
            story.put(&[(key, Some("x"))]);
        }
        story.roll();
    }
    story.put(&[("z", None)]);
    let tight = CleanLimits { key_bytes: 24 * 4, load_factor: 0.8, ..LIMITS };
    let outcome = compact(&mut story.appender, None, tight, NOW).unwrap();
    assert_eq!(outcome.cleaned_to, 3, "room for three keys");
    assert_eq!(records(story.log()).len(), 13, "nothing of them comes twice below 3");
    let mut cleaned_to = 3;
    while cleaned_to < 12 {
        cleaned_to = compact(&mut story.appender, Some(cleaned_to), tight, NOW).unwrap().cleaned_to;
    }
    assert_eq!(records(story.log()), ["8 a=x", "9 b=x", "10 c=x", "11 d=x", "12 z=-"]);
}

#[test]
fn a_batch_that_unpacks_to_much_stays_and_nothing_goes_because_of_it() {
    let mut story = Story::new(config());
    let large = "x".repeat(5000);
    story.put(&[("a", Some("1")), ("b", Some("1"))]).roll();
    let packed = keyed(&[("a", Some(&large)), ("c", Some(&large))], NOW.wall_ms).codec(Codec::Zstd, None);
    put(&mut story.appender, packed, Origin::Client, NOW);
    story.put(&[("c", Some("2"))]).roll().put(&[("z", None)]);
    let few = CleanLimits { unpacked_bytes: 10_000, ..LIMITS };
    let outcome = compact(&mut story.appender, None, few, NOW).unwrap();
    assert_eq!(outcome.cleaned_to, 5);
    let left: Vec<String> =
        records(story.log()).into_iter().map(|record| record.replace(&large, "large")).collect();
    assert_eq!(left, ["0 a=1", "1 b=1", "2 a=large", "3 c=large", "4 c=2", "5 z=-"]);
    story.clean(NOW);
    assert_eq!(records(story.log()).len(), 4, "with room for it it is compacted as every batch");
}

#[test]
fn groups_are_no_larger_than_a_segment() {
    let small = LogConfig { segment_bytes: 1000, ..config() };
    let mut story = Story::new(small);
    for n in 0..40 {
        story.put(&[(&format!("key {n}"), Some("some value of some length"))]);
    }
    let before = story.log().segments();
    story.clean(NOW);
    assert_eq!(story.log().segments(), before, "nothing to take out, nothing to join");
    assert!(before.len() > 3);
    for n in 0..36 {
        story.put(&[(&format!("key {n}"), Some("other"))]);
    }
    story.roll().put(&[("z", None)]);
    story.clean(NOW);
    assert!(story.log().segments().iter().all(|segment| segment.bytes <= 1000));
    assert_eq!(records(story.log()).len(), 41);
}

#[test]
fn what_cannot_be_read_is_left_as_it_is() {
    let mut story = Story::new(config());
    story.put(&[("a", Some("1"))]).put(&[("a", Some("2"))]).roll().put(&[("b", Some("1"))]);
    let path = dir().join("00000000000000000000.log");
    let file = story.disk.open(&path, crate::disk::OpenMode::Write).unwrap();
    let sound = story.disk.read(&path).unwrap();
    // A record, and an offset, which no checksum covers.
    for position in [65, 70] {
        file.write_at(position, b"!").unwrap();
        let before = story.disk.read(&path).unwrap();
        let error = compact(&mut story.appender, None, LIMITS, NOW).unwrap_err();
        assert!(matches!(error, CleanError::Unreadable { segment: 0, .. }), "{error}");
        assert_eq!(story.disk.read(&path).unwrap(), before);
        file.write_at(0, &sound).unwrap();
    }
}

#[test]
fn readers_of_the_old_segments_finish() {
    let mut story = Story::new(config());
    story.put(&[("a", Some("1"))]).put(&[("a", Some("2"))]).roll().put(&[("b", Some("1"))]);
    let old = story.log().read(0, 1 << 20, true, i64::MAX).unwrap();
    let seen = story.log().segments.load_full();
    story.clean(NOW);
    assert_eq!(Batches::new(&old.chunk.load().unwrap()).count(), 2);
    // One who had the list of segments but nothing open yet.
    let found = seen[0].find(story.log().disk.as_ref(), 0, seen[0].bytes()).unwrap().unwrap();
    assert_eq!(found.header.base_offset, 0);
}

#[test]
fn a_group_that_changed_meanwhile_is_not_replaced() {
    let mut story = Story::new(config());
    story.put(&[("a", Some("1"))]).put(&[("a", Some("2"))]).roll().put(&[("b", Some("1"))]);
    let plan = Plan::of(story.log(), None, 3, NOW).unwrap();
    let mut cleaning = Cleaning::begin(&story.appender, plan, 3, LIMITS, NOW);
    let cleaned = loop {
        if let Step::Copied(cleaned) = cleaning.step().unwrap() {
            break cleaned;
        }
    };
    story.appender.advance_log_start(2).unwrap();
    story.appender.retention(3, NOW).unwrap();
    assert!(story.appender.replace(&cleaned).unwrap().is_none());
    assert!(files(&story.disk.shared()).iter().all(|name| !name.ends_with(".cleaned")));
    assert_eq!(records(story.log()), ["2 b=1"]);
}

/// Stops after every possible number of changes to the disk, by a failure or a power cut, and opens again.
#[test]
fn a_crash_at_any_step_leaves_one_good_copy() {
    for power_cut in [false, true] {
        for calls in 0.. {
            let mut story = Story::new(config());
            for (key, value) in [("a", "1"), ("b", "1"), ("a", "2"), ("c", "1"), ("b", "2"), ("a", "3")] {
                story.put(&[(key, Some(value))]).roll();
            }
            story.put(&[("z", Some("1"))]);
            story.log().flush().unwrap();
            let before = records(story.log());
            story.disk.fail_after(Some(calls));
            let done = compact(&mut story.appender, None, LIMITS, NOW).is_ok();
            story.disk.fail_after(None);
            if power_cut {
                story.disk.crash(&crate::rng::Rng::from_seed(calls));
            }
            let opening = Opening { recovery_point: 7, ..NEW };
            let opened = open(&story.disk, config(), opening);
            let after = records(&opened.log);
            let compacted = ["3 c=1", "4 b=2", "5 a=3", "6 z=1"];
            assert!(after == before || after == compacted, "after {calls} calls: {after:?}");
            let names = files(&story.disk.shared());
            let leftover =
                |name: &&String| [".swap", ".cleaned", ".deleted"].iter().any(|end| name.ends_with(end));
            assert_eq!(names.iter().find(leftover), None);
            if done {
                assert_eq!(after, compacted);
                break;
            }
        }
    }
}

#[test]
fn what_kafka_left_in_the_middle_is_finished_or_undone() {
    let build = || {
        let mut story = Story::new(config());
        story.put(&[("a", Some("1"))]).roll().put(&[("a", Some("2"))]).roll().put(&[("b", Some("1"))]);
        story.log().flush().unwrap();
        story.disk
    };
    let name = |base: i64, rest: &str| dir().join(format!("{base:020}.{rest}"));
    // A copy of both that is complete: Kafka renames the log first.
    let disk = build();
    let copy = disk.read(&name(1, "log")).unwrap();
    let write = |path: &Path, bytes: &[u8]| {
        disk.open(path, crate::disk::OpenMode::Truncate).unwrap().write_at(0, bytes).unwrap();
    };
    write(&name(0, "log.swap"), &copy);
    write(&name(0, "index.swap"), b"");
    write(&name(0, "timeindex.swap"), b"");
    let opened = open(&disk, config(), Opening { recovery_point: 2, ..NEW });
    assert_eq!(records(&opened.log), ["1 a=2", "2 b=1"]);
    assert_eq!(opened.log.segments().len(), 2);
    // One whose index has not its new name yet.
    let disk = build();
    let write = |path: &Path, bytes: &[u8]| {
        disk.open(path, crate::disk::OpenMode::Truncate).unwrap().write_at(0, bytes).unwrap();
    };
    write(&name(0, "log.swap"), &copy);
    write(&name(0, "index.cleaned"), b"");
    let opened = open(&disk, config(), Opening { recovery_point: 2, ..NEW });
    assert_eq!(records(&opened.log), ["0 a=1", "1 a=2", "2 b=1"]);
}
