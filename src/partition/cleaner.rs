//! Compaction of the logs that ask for it: the dirtiest first.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::{info, warn};

use super::log_dir::LogDir;
use super::partitions::Condemned;
use super::{Partition, Partitions};
use crate::clock::Now;
use crate::ids::{TopicPartition, Uuid};
use crate::shutdown::Shutdown;
use crate::storage::checkpoint::{CLEANER, Offsets, read_offsets, write_offsets};
use crate::storage::{CleanError, CleanLimits, Cleaning, Outcome, Plan, ReadError, Step, StorageError};

/// What compaction may use.
#[derive(Clone, Copy, Debug)]
pub struct CleanerSettings {
    /// `log.cleaner.threads`: logs that are compacted at a time.
    pub threads: usize,
    /// `log.cleaner.dedupe.buffer.size`: memory for keys, bytes, of all threads.
    pub key_bytes: u64,
    /// `log.cleaner.io.buffer.load.factor`: share of that memory which is filled, 0 to 1.
    pub load_factor: f64,
    /// `log.cleaner.io.buffer.size`: bytes that are read between two pauses, of all threads.
    pub io_bytes: u64,
    /// `log.cleaner.io.max.bytes.per.second`: read and written, of all threads.
    pub bytes_per_second: f64,
    /// `log.cleaner.backoff.ms`: pause when nothing is dirty.
    pub backoff_ms: u64,
}

/// What a compressed batch may unpack to if it is to be compacted. It is held in memory then.
const UNPACKED_BYTES: u64 = 128 << 20;

/// Steps without a look at the pace's clock elsewhere: going to another thread and back costs as much as a small step.
const STEPS_AT_ONCE: usize = 16;

/// What is known of compaction besides the logs.
#[derive(Debug, Default)]
pub(super) struct Cleaner(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    busy: HashSet<TopicPartition>,
    /// Logs that cannot be read; until the next start they are left alone.
    unreadable: HashSet<TopicPartition>,
    /// What is compacted, by log directory: `cleaner-offset-checkpoint`.
    cleaned: BTreeMap<Uuid, Offsets>,
}

/// A log being compacted.
struct Job {
    partition: Arc<Partition>,
    cleaning: Cleaning,
    started: Now,
}

impl Job {
    /// When it may go on after moving so many bytes, monotonic ms.
    fn due_ms(&self, moved: u64, settings: &CleanerSettings) -> u64 {
        self.started.mono_ms.saturating_add(pace_ms(moved, settings))
    }
}

enum Progress {
    Moved(u64),
    Ended,
}

impl Cleaner {
    /// Reads what a directory remembers.
    pub(super) fn load(&self, partitions: &Partitions, dir: &LogDir) -> Result<(), StorageError> {
        let path = Partitions::checkpoint(dir, CLEANER);
        let offsets = read_offsets(partitions.doors.disk.as_ref(), &path)?;
        self.0.lock().cleaned.insert(dir.id(), offsets);
        Ok(())
    }

    /// Up to where a log is compacted.
    pub(super) fn cleaned_to(&self, dir: &LogDir, id: &TopicPartition) -> Option<i64> {
        self.0.lock().cleaned.get(&dir.id())?.get(id).copied()
    }

    /// A log is gone: a new one of that name starts anew.
    pub(super) fn forget(&self, dir: &LogDir, id: &TopicPartition) {
        let mut state = self.0.lock();
        state.unreadable.remove(id);
        if let Some(offsets) = state.cleaned.get_mut(&dir.id()) {
            offsets.remove(id);
        }
    }

    fn is_left_alone(&self, id: &TopicPartition) -> bool {
        let state = self.0.lock();
        state.busy.contains(id) || state.unreadable.contains(id)
    }
}

impl Partitions {
    /// Compacts until the broker stops.
    pub async fn compact(self: Arc<Partitions>, settings: CleanerSettings, mut shutdown: Shutdown) {
        let (clock, spawner) = (self.doors.clock.clone(), self.doors.spawner);
        while !shutdown.is_requested() {
            let this = self.clone();
            let begun = spawner.blocking(move || this.begin_cleaning(&settings)).await;
            let Some(mut job) = begun.ok().flatten() else {
                let again = clock.now().mono_ms.saturating_add(settings.backoff_ms.max(1));
                tokio::select! {
                    biased;
                    () = shutdown.requested() => return,
                    () = clock.sleep_until(again) => continue,
                }
            };
            let mut moved = 0_u64;
            loop {
                let this = self.clone();
                let stepped = spawner.blocking(move || {
                    let moved = this.advance_for_a_while(&mut job, moved, &settings)?;
                    Some((job, moved))
                });
                let Ok(Some((same, so_far))) = stepped.await else { break };
                (job, moved) = (same, so_far);
                let due = job.due_ms(moved, &settings);
                tokio::select! {
                    biased;
                    () = shutdown.requested() => return,
                    () = clock.sleep_until(due) => {}
                }
            }
        }
    }

    /// Chooses the dirtiest of the logs that are due.
    fn begin_cleaning(&self, settings: &CleanerSettings) -> Option<Job> {
        let now = self.doors.clock.now();
        let mut dirtiest: Option<(Arc<Partition>, Plan)> = None;
        for partition in self.partitions() {
            let config = partition.log().config();
            if !config.compact || !partition.dir().is_online() || self.cleaner.is_left_alone(partition.id()) {
                continue;
            }
            let cleaned_to = self.cleaner.cleaned_to(partition.dir(), partition.id());
            match Plan::of(partition.log(), cleaned_to, partition.last_stable_offset(), now) {
                Ok(plan) if plan.is_due(&config) => {
                    if dirtiest.as_ref().is_none_or(|(_, other)| plan.dirty_ratio > other.dirty_ratio) {
                        dirtiest = Some((partition, plan));
                    }
                }
                Ok(_) => {}
                Err(ReadError::Storage(error)) => self.storage_failed(&partition, &error),
                Err(error) => self.leave_alone(&partition, &error),
            }
        }
        let (partition, plan) = dirtiest?;
        let threads = settings.threads.max(1) as u64;
        let limits = CleanLimits {
            key_bytes: settings.key_bytes / threads,
            load_factor: settings.load_factor,
            step_bytes: (settings.io_bytes / threads).max(1),
            hash_seed: self.doors.rng.next_u64(),
            unpacked_bytes: UNPACKED_BYTES,
        };
        if !self.cleaner.0.lock().busy.insert(partition.id().clone()) {
            // Another thread was quicker.
            return None;
        }
        let begun = partition.maintain(|appender, high_watermark| {
            Ok(Cleaning::begin(appender, plan, high_watermark, limits, now))
        });
        match begun {
            Some(cleaning) => Some(Job { partition, cleaning, started: now }),
            None => {
                self.cleaner.0.lock().busy.remove(partition.id());
                None
            }
        }
    }

    /// Goes on until the pace asks for a pause, but not for long. Gives the bytes that were moved since the beginning;
    /// `None` when the job has ended.
    fn advance_for_a_while(&self, job: &mut Job, mut moved: u64, settings: &CleanerSettings) -> Option<u64> {
        for _ in 0..STEPS_AT_ONCE {
            let Progress::Moved(bytes) = self.advance(job) else { return None };
            moved = moved.saturating_add(bytes);
            if job.due_ms(moved, settings) > self.doors.clock.now().mono_ms {
                break;
            }
        }
        Some(moved)
    }

    fn advance(&self, job: &mut Job) -> Progress {
        let partition = &job.partition;
        match job.cleaning.step() {
            Ok(Step::Moved(bytes)) => return Progress::Moved(bytes),
            Ok(Step::Copied(cleaned)) => {
                // Where segments went away meanwhile, the next plan begins anew.
                if let Some(removal) = partition.maintain(|appender, _| appender.replace(&cleaned)).flatten()
                {
                    let delay_ms = removal.delay_ms();
                    self.remove_later(delay_ms, Condemned::Segments(partition.dir().clone(), removal));
                    return Progress::Moved(0);
                }
            }
            Ok(Step::Done(outcome)) => self.finish(job, outcome),
            Ok(Step::Overtaken) => {}
            Err(CleanError::Storage(error)) => self.storage_failed(partition, &error),
            Err(error) => self.leave_alone(partition, &error),
        }
        self.cleaner.0.lock().busy.remove(partition.id());
        Progress::Ended
    }

    fn finish(&self, job: &Job, outcome: Outcome) {
        let partition = &job.partition;
        let dir = partition.dir();
        // What was deleted meanwhile is not remembered.
        let here: HashSet<TopicPartition> =
            self.partitions().iter().map(|known| known.id().clone()).collect();
        let offsets = {
            let mut state = self.cleaner.0.lock();
            let offsets = state.cleaned.entry(dir.id()).or_default();
            offsets.insert(partition.id().clone(), outcome.cleaned_to);
            offsets.retain(|id, _| here.contains(id));
            offsets.clone()
        };
        let path = Partitions::checkpoint(dir, CLEANER);
        if let Err(error) = write_offsets(self.doors.disk.as_ref(), &path, &offsets) {
            return dir.fail(&error);
        }
        let took_ms = self.doors.clock.now().mono_ms.saturating_sub(job.started.mono_ms);
        info!(
            partition = %partition.id(),
            "compacted up to offset {}: {} bytes became {} in {took_ms} ms",
            outcome.cleaned_to, outcome.bytes_before, outcome.bytes_after
        );
    }

    /// A log whose topic was deleted meanwhile has lost its files by right.
    fn storage_failed(&self, partition: &Partition, error: &StorageError) {
        if partition.maintain(|_, _| Ok(())).is_some() {
            partition.dir().fail(error);
        }
    }

    fn leave_alone(&self, partition: &Partition, error: &dyn std::error::Error) {
        warn!(partition = %partition.id(), %error, "the log cannot be compacted and is left as it is");
        self.cleaner.0.lock().unreadable.insert(partition.id().clone());
    }
}

/// How long moving so many bytes must take at least.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a time; casts saturate"
)]
fn pace_ms(bytes: u64, settings: &CleanerSettings) -> u64 {
    let rate = settings.bytes_per_second / settings.threads.max(1) as f64;
    (bytes as f64 * 1000.0 / rate.max(1.0)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_shared_by_the_threads() {
        let settings = CleanerSettings {
            threads: 2,
            key_bytes: 0,
            load_factor: 0.9,
            io_bytes: 0,
            bytes_per_second: 1_000_000.0,
            backoff_ms: 0,
        };
        assert_eq!(pace_ms(500_000, &settings), 1000);
        assert_eq!(pace_ms(u64::MAX, &CleanerSettings { bytes_per_second: f64::MAX, ..settings }), 0);
    }
}
