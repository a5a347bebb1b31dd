//! What the leader tells those who copy its log: where their copy stands beside it (KIP-595, KIP-630).

use super::SnapshotId;
use super::snapshot::Snapshots;
use crate::controller::error::ControllerError;
use crate::storage::{EpochEnd, Log};

/// How a copy that ends at some offset and epoch stands beside the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is a beginning of the log: it goes on from there.
    Follows,
    /// It is another log from somewhere on: the epoch and end that are the newest both may share.
    Diverges(EpochEnd),
    /// What it needs is only in a snapshot.
    NeedsSnapshot(SnapshotId),
}

/// See [`Standing`].
///
/// # Errors
/// The disk failed.
pub fn standing(
    log: &Log,
    snapshots: &Snapshots,
    offset: i64,
    epoch: i32,
) -> Result<Standing, ControllerError> {
    let start = log.start_offset();
    if start == 0 && offset == 0 {
        return Ok(Standing::Follows);
    }
    if let Some(newest) = snapshots.newest()? {
        let first_epoch = log.epoch_for_offset(start).unwrap_or(newest.epoch);
        let at_start = offset == start && start == newest.offset;
        if offset < start || (at_start && epoch != newest.epoch) || (!at_start && epoch < first_epoch) {
            return Ok(Standing::NeedsSnapshot(newest));
        }
        if at_start {
            return Ok(Standing::Follows);
        }
    }
    let end = log
        .end_offset_for_epoch(epoch)
        .unwrap_or(EpochEnd { epoch: log.latest_epoch().unwrap_or(0), end_offset: log.end_offset() });
    if end.epoch != epoch || end.end_offset < offset {
        return Ok(Standing::Diverges(end));
    }
    Ok(Standing::Follows)
}
