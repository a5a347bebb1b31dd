//! Formatting: what a directory must hold before a broker starts on it.

use std::path::Path;

use super::error::ControllerError;
use super::metadata_log::voters::Voters;
use super::metadata_log::{self, DIRECTORY};
use crate::clock::Now;
use crate::disk::Disk;

/// Writes what a fresh cluster begins with into `metadata.log.dir`, as `kafka-storage format` does, with its voters if
/// they may change later (KIP-853). The directories'
/// `meta.properties` are written after this, so that a crash leaves nothing that looks formatted.
///
/// # Errors
/// The disk failed.
pub fn format(
    disk: &dyn Disk,
    metadata_log_dir: &Path,
    voters: Option<&Voters>,
    now: Now,
) -> Result<(), ControllerError> {
    let dir = metadata_log_dir.join(DIRECTORY);
    disk.create_dir(&dir).map_err(ControllerError::io("create", &dir))?;
    metadata_log::write_fresh(disk, &dir, voters, now)?;
    disk.sync_dir(metadata_log_dir).map_err(ControllerError::io("flush", metadata_log_dir))
}
