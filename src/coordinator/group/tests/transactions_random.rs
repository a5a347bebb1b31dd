//! Histories from a seed: plain commits and commits of several transactions into the same partitions, which end in any
//! order or wait for days, while the coordinator moves. Compared with what each commit was promised.

use std::collections::BTreeMap;

use super::transactions::{in_transaction, stable};
use super::*;
use crate::rng::Rng;
use crate::seeds::each_seed;

const PARTITIONS: i32 = 2;
const PRODUCERS: u64 = 3;
const DAY_MS: u64 = 24 * 3_600_000;
const RETENTION_MS: u64 = 7 * DAY_MS;

/// A commit: its offset, when it was made, and how many were made before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Made {
    offset: i64,
    at_ms: u64,
    order: usize,
}

#[derive(Default)]
struct Model {
    counts: BTreeMap<i32, Made>,
    /// By partition and producer.
    pending: BTreeMap<(i32, i64), Made>,
    made: usize,
}

impl Model {
    fn make(&mut self, offset: i64, at_ms: u64) -> Made {
        self.made += 1;
        Made { offset, at_ms, order: self.made }
    }

    fn end(&mut self, producer: i64, commit: bool) {
        for partition in 0..PARTITIONS {
            let Some(made) = self.pending.remove(&(partition, producer)) else { continue };
            if commit && self.counts.get(&partition).is_none_or(|counts| counts.order < made.order) {
                self.counts.insert(partition, made);
            }
        }
    }

    fn is_pending(&self, partition: i32) -> bool {
        self.pending.keys().any(|(pending, _)| *pending == partition)
    }
}

fn compare(tale: &mut Tale, model: &mut Model) {
    let now_ms = tale.story.now.mono_ms;
    for partition in 0..PARTITIONS {
        let pending = model.is_pending(partition);
        let counts = model.counts.get(&partition).copied();
        let seen = tale.offset("g", "t", partition);
        if let Some(made) = counts.filter(|made| seen != made.offset) {
            // Nobody reads in this group: offsets expire by their commits, unless a newer one is pending.
            assert!(seen == -1 && !pending && now_ms - made.at_ms >= RETENTION_MS, "{seen} for {made:?}");
            model.counts.remove(&partition);
        } else if counts.is_none() {
            assert_eq!(seen, -1, "nothing has been committed");
        }
        let expected = if pending { Err(GroupError::UnstableOffset) } else { Ok(seen) };
        assert_eq!(stable(tale, partition), expected, "{:?}", model.pending);
    }
}

fn history(seed: u64) {
    let (rng, mut tale, mut model) = (Rng::from_seed(seed), Tale::new(), Model::default());
    for _ in 0..60 {
        let partition = i32::try_from(rng.below(2)).unwrap();
        let producer = i64::try_from(rng.below(PRODUCERS)).unwrap();
        let offset = i64::try_from(rng.below(1000)).unwrap();
        let made = model.make(offset, tale.story.now.mono_ms);
        match rng.below(12) {
            0..=2 => {
                tale.commit(committing("g", "t", partition, offset)).unwrap();
                model.counts.insert(partition, made);
            }
            3..=6 => {
                tale.commit(in_transaction((producer, 0), partition, offset)).unwrap();
                model.pending.insert((partition, producer), made);
            }
            7..=9 => {
                let commit = rng.below(3) > 0;
                // Now and then it comes twice.
                for _ in 0..=rng.below(2) {
                    tale.story.marker(producer, commit);
                }
                model.end(producer, commit);
            }
            10 => tale.story.reload(),
            _ => tale.story.sleep(rng.below(4 * DAY_MS)),
        }
        compare(&mut tale, &mut model);
    }
    for producer in 0..PRODUCERS {
        let producer = i64::try_from(producer).unwrap();
        tale.story.marker(producer, true);
        model.end(producer, true);
    }
    compare(&mut tale, &mut model);
    assert!(model.pending.is_empty());
}

#[test]
fn random_transactions_leave_the_newest_offset_and_nothing_pending() {
    each_seed(200, history);
}
