//! Which leader epoch wrote which offsets: `leader-epoch-checkpoint`.

use std::fmt::Write;
use std::path::Path;

use super::{EpochEnd, StorageError, checkpoint};
use crate::disk::Disk;

/// The file's name.
pub(super) const FILE: &str = "leader-epoch-checkpoint";

/// First offset of each epoch; epochs and offsets grow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LeaderEpochs(Vec<(i32, i64)>);

impl LeaderEpochs {
    pub(super) fn read(disk: &dyn Disk, path: &Path) -> Result<LeaderEpochs, StorageError> {
        let entries = checkpoint::read(disk, path, |line| {
            let (epoch, start) = line.trim().split_once(' ')?;
            Some((epoch.parse().ok()?, start.parse().ok()?))
        })?;
        let mut epochs = LeaderEpochs::default();
        for (epoch, start) in entries {
            epochs.assign(epoch, start);
        }
        Ok(epochs)
    }

    pub(super) fn write(&self, disk: &dyn Disk, path: &Path) -> Result<(), StorageError> {
        checkpoint::write(disk, path, self.0.len(), |text| {
            for (epoch, start) in &self.0 {
                let _ = writeln!(text, "{epoch} {start}");
            }
        })
    }

    /// Notes that `epoch` writes from `start` on; false if that was known. What contradicts it is dropped.
    pub(super) fn assign(&mut self, epoch: i32, start: i64) -> bool {
        if self.0.last().is_some_and(|&(last, from)| last == epoch && start >= from) {
            return false;
        }
        self.0.retain(|&(other, from)| other < epoch && from < start);
        self.0.push((epoch, start));
        true
    }

    pub(super) fn latest(&self) -> Option<i32> {
        self.0.last().map(|(epoch, _)| *epoch)
    }

    pub(super) fn at(&self, offset: i64) -> Option<i32> {
        self.0.iter().rev().find(|(_, start)| *start <= offset).map(|(epoch, _)| *epoch)
    }

    /// Where an epoch ends, as OffsetForLeaderEpoch asks it.
    pub(super) fn end_of(&self, epoch: i32, log_end: i64) -> Option<EpochEnd> {
        if epoch < 0 {
            return None;
        }
        if self.latest() == Some(epoch) {
            return Some(EpochEnd { epoch, end_offset: log_end });
        }
        let above = self.0.partition_point(|(other, _)| *other <= epoch);
        let (_, end_offset) = *self.0.get(above)?;
        let floor = above.checked_sub(1).and_then(|at| self.0.get(at)).map_or(epoch, |(epoch, _)| *epoch);
        Some(EpochEnd { epoch: floor, end_offset })
    }

    /// The log now ends at `end`; true if that changed anything.
    pub(super) fn truncate_from_end(&mut self, end: i64) -> bool {
        let before = self.0.len();
        self.0.retain(|(_, start)| *start < end);
        self.0.len() != before
    }

    /// The log now starts at `log_start`; true if that changed anything.
    pub(super) fn truncate_from_start(&mut self, log_start: i64) -> bool {
        let gone = self.0.partition_point(|(_, start)| *start <= log_start);
        let Some(current) = gone.checked_sub(1) else { return false };
        let Some((_, start)) = self.0.get_mut(current) else { return false };
        let changed = *start != log_start || current > 0;
        *start = log_start;
        self.0.drain(..current);
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::disk::MemoryDisk;

    fn epochs() -> LeaderEpochs {
        let mut epochs = LeaderEpochs::default();
        assert!(epochs.assign(1, 10));
        assert!(epochs.assign(3, 20));
        assert!(epochs.assign(4, 30));
        epochs
    }

    #[test]
    fn an_epoch_ends_where_the_next_begins() {
        let epochs = epochs();
        let end = |epoch| epochs.end_of(epoch, 40).map(|end| (end.epoch, end.end_offset));
        assert_eq!(end(4), Some((4, 40)));
        assert_eq!(end(3), Some((3, 30)));
        assert_eq!(end(2), Some((1, 20)), "unknown, between known ones");
        assert_eq!(end(1), Some((1, 20)));
        assert_eq!(end(0), Some((0, 10)), "older than all");
        assert_eq!(end(5), None, "newer than all");
        assert_eq!(end(-1), None);
        assert_eq!(
            (epochs.at(9), epochs.at(10), epochs.at(29), epochs.at(99)),
            (None, Some(1), Some(3), Some(4))
        );
        assert_eq!(LeaderEpochs::default().end_of(0, 0), None);
    }

    #[test]
    fn what_contradicts_a_new_epoch_is_dropped() {
        let mut epochs = epochs();
        assert!(!epochs.assign(4, 35), "known");
        assert!(epochs.assign(5, 30), "epoch 4 wrote nothing");
        assert_eq!(epochs.0, [(1, 10), (3, 20), (5, 30)]);
        assert!(epochs.assign(6, 15));
        assert_eq!(epochs.0, [(1, 10), (6, 15)]);
    }

    #[test]
    fn truncation_takes_epochs_along() {
        let mut epochs = epochs();
        assert!(!epochs.truncate_from_end(31));
        assert!(epochs.truncate_from_end(30));
        assert_eq!(epochs.0, [(1, 10), (3, 20)]);
        assert!(!epochs.truncate_from_start(5));
        assert!(epochs.truncate_from_start(15));
        assert_eq!(epochs.0, [(1, 15), (3, 20)]);
        assert!(epochs.truncate_from_start(50));
        assert_eq!(epochs.0, [(3, 50)]);
    }

    #[test]
    fn the_file_is_kafkas() {
        let disk = MemoryDisk::new(Clock::simulated(0));
        let path = Path::new("/leader-epoch-checkpoint");
        assert_eq!(LeaderEpochs::read(&disk, path).unwrap(), LeaderEpochs::default());
        epochs().write(&disk, path).unwrap();
        assert_eq!(disk.read(path).unwrap(), b"0\n3\n1 10\n3 20\n4 30\n");
        assert_eq!(LeaderEpochs::read(&disk, path).unwrap(), epochs());
    }
}
