//! What is done to logs from time to time: retention, checkpoints, forgetting producers, removing files.

use std::sync::Arc;

use tracing::info;

use super::log_dir::LogDir;
use super::partitions::Condemned;
use super::{Partition, Partitions};
use crate::shutdown::Shutdown;
use crate::storage::StorageError;
use crate::storage::checkpoint::{HIGH_WATERMARK, LOG_START, Offsets, RECOVERY_POINT, write_offsets};
use crate::storage::log_dir::{CleanShutdown, write_clean_marker};

/// How often what is done; all in ms.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// `log.initial.task.delay.ms`: nothing is deleted before.
    pub initial_delay: u64,
    /// `log.retention.check.interval.ms`.
    pub retention: u64,
    /// `log.flush.offset.checkpoint.interval.ms` and `log.flush.start.offset.checkpoint.interval.ms`.
    pub checkpoints: u64,
    /// `replica.high.watermark.checkpoint.interval.ms`.
    pub high_watermarks: u64,
    /// `producer.id.expiration.check.interval.ms`.
    pub producers: u64,
    /// `log.flush.scheduler.interval.ms`: how often it is looked whether `flush.ms` is over.
    pub flush: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chore {
    Retention,
    Checkpoints,
    HighWatermarks,
    Producers,
    Flush,
}

impl Partitions {
    /// Does the chores until the broker stops.
    pub async fn maintain(self: Arc<Partitions>, schedule: Schedule, mut shutdown: Shutdown) {
        let clock = self.doors.clock.clone();
        let start = clock.now().mono_ms.saturating_add(schedule.initial_delay);
        let mut chores = [
            (start, schedule.retention, Chore::Retention),
            (start, schedule.checkpoints, Chore::Checkpoints),
            (start, schedule.high_watermarks, Chore::HighWatermarks),
            (start, schedule.producers, Chore::Producers),
            (start.saturating_add(schedule.flush), schedule.flush, Chore::Flush),
        ];
        loop {
            let chore = chores.iter().map(|(due, ..)| *due).min().unwrap_or(u64::MAX);
            let removal = self.condemned.lock().iter().map(|(due, _)| *due).min().unwrap_or(u64::MAX);
            tokio::select! {
                biased;
                () = shutdown.requested() => return,
                () = self.bell.notified() => continue,
                () = clock.sleep_until(chore.min(removal)) => {}
            }
            let now_ms = clock.now().mono_ms;
            let mut due = Vec::new();
            for (at, every, chore) in chores.iter_mut().filter(|(at, ..)| *at <= now_ms) {
                *at = now_ms.saturating_add((*every).max(1));
                due.push(*chore);
            }
            let this = self.clone();
            let work = move || {
                due.into_iter().for_each(|chore| this.do_chore(chore));
                this.remove_condemned(now_ms);
            };
            if let Err(error) = self.doors.spawner.blocking(work).await {
                tracing::error!(%error, "log maintenance was interrupted");
            }
        }
    }

    fn do_chore(&self, chore: Chore) {
        match chore {
            Chore::Retention => self.partitions().iter().for_each(|partition| self.retain(partition)),
            Chore::Checkpoints => self.each_dir(Partitions::write_checkpoints),
            Chore::HighWatermarks => self.each_dir(Partitions::write_high_watermarks),
            Chore::Flush => self.flush_due(),
            Chore::Producers => {
                let (now, expiry_ms) = (self.doors.clock.now(), self.producer_expiry_ms());
                for partition in self.partitions() {
                    partition.maintain(|appender, _| {
                        appender.expire_producers(expiry_ms, now);
                        Ok(())
                    });
                }
            }
        }
    }

    fn flush_due(&self) {
        let now = self.doors.clock.now();
        for partition in self.partitions().iter().filter(|partition| partition.log().flush_due(now)) {
            if let Err(error) = partition.log().flush() {
                partition.dir().fail(&error);
            }
        }
    }

    fn retain(&self, partition: &Partition) {
        let now = self.doors.clock.now();
        let retained = partition.maintain(|appender, high_watermark| appender.retention(high_watermark, now));
        let Some(retained) = retained.filter(|retained| retained.segments > 0) else { return };
        info!(
            partition = %partition.id(),
            "retention deleted {} segments ({} bytes), the log now starts at offset {}",
            retained.segments, retained.bytes, partition.log().start_offset()
        );
        if let Some(removal) = retained.removal {
            self.remove_later(removal.delay_ms(), Condemned::Segments(partition.dir().clone(), removal));
        }
    }

    fn remove_condemned(&self, now_ms: u64) {
        let mut condemned = self.condemned.lock();
        let (due, later) = std::mem::take(&mut *condemned).into_iter().partition(|(due, _)| *due <= now_ms);
        *condemned = later;
        drop(condemned);
        let due: Vec<(u64, Condemned)> = due;
        for (_, condemned) in due {
            let (dir, removed) = match condemned {
                Condemned::Segments(dir, removal) => (dir, removal.run()),
                Condemned::Directory(dir, path) => {
                    let removed = self.doors.disk.remove_dir_all(&path);
                    (dir, removed.map_err(|source| StorageError::Io { doing: "remove", path, source }))
                }
            };
            if let Err(error) = removed {
                dir.fail(&error);
            }
        }
    }

    fn each_dir(&self, write: impl Fn(&Partitions, &LogDir) -> Result<(), StorageError>) {
        for dir in self.dirs.iter().filter(|dir| dir.is_online()) {
            if let Err(error) = write(self, dir) {
                dir.fail(&error);
            }
        }
    }

    fn write(
        &self,
        dir: &LogDir,
        name: &str,
        offset: impl Fn(&Partition) -> Option<i64>,
    ) -> Result<(), StorageError> {
        let here = self.partitions().into_iter().filter(|partition| partition.dir().id() == dir.id());
        let offsets: Offsets =
            here.filter_map(|partition| Some((partition.id().clone(), offset(&partition)?))).collect();
        write_offsets(self.doors.disk.as_ref(), &Partitions::checkpoint(dir, name), &offsets)
    }

    fn write_checkpoints(&self, dir: &LogDir) -> Result<(), StorageError> {
        self.write(dir, RECOVERY_POINT, |partition| Some(partition.log().recovery_point()))?;
        self.write(dir, LOG_START, |partition| {
            let log = partition.log();
            let first = log.segments().first().map_or(0, |segment| segment.base_offset);
            // The first segment's name says it otherwise.
            Some(log.start_offset()).filter(|start| *start > first)
        })
    }

    /// A log was cut below what had been flushed: until that is written down, nothing may be appended to it.
    pub fn note_truncation(&self, partition: &Partition) {
        self.note_recovery_points(partition.dir());
    }

    pub(super) fn note_recovery_points(&self, dir: &LogDir) {
        if let Err(error) = self.write_checkpoints(dir) {
            dir.fail(&error);
        }
    }

    fn write_high_watermarks(&self, dir: &LogDir) -> Result<(), StorageError> {
        self.write(dir, HIGH_WATERMARK, |partition| Some(partition.high_watermark()))
    }

    /// Closes every log in order and marks the directories as clean. Blocks.
    pub fn close(&self, broker_epoch: i64) {
        self.on_all_disks(self.partitions().into(), |partition| {
            if let Some(appender) = partition.close()
                && partition.dir().is_online()
                && let Err(error) = appender.close_clean()
            {
                partition.dir().fail(&error);
            }
        });
        self.each_dir(Partitions::write_checkpoints);
        self.each_dir(Partitions::write_high_watermarks);
        self.each_dir(|this, dir| {
            write_clean_marker(this.doors.disk.as_ref(), dir.path(), CleanShutdown { broker_epoch })
        });
    }
}
