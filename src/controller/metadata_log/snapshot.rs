//! Snapshots: an image as records, between a header and a footer.

use std::path::Path;

use barnabas_protocol::batch::{Batches, BuildError};

use super::{Place, batches};
use crate::clock::Now;
use crate::controller::error::ControllerError;
use crate::controller::image::Image;
use crate::controller::record::Record;
use crate::controller::state::{features, to_records};
use crate::disk::{Disk, OpenMode};

/// Records in one batch of a snapshot.
const BATCH_RECORDS: usize = 1000;
/// What a snapshot is called while it is written.
const PART: &str = ".checkpoint.part";
pub(super) const COMPLETE: &str = ".checkpoint";

/// What a snapshot holds: everything below an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SnapshotId {
    /// The first offset that is not in it.
    pub offset: i64,
    /// Leader epoch of the last record in it.
    pub epoch: i32,
}

impl SnapshotId {
    /// What `format` writes: the records that the first leader appends.
    pub const FRESH: SnapshotId = SnapshotId { offset: 0, epoch: 0 };

    pub(super) fn file_name(self, suffix: &str) -> String {
        format!("{:020}-{:010}{suffix}", self.offset, self.epoch)
    }

    fn parse(file_name: &str) -> Option<SnapshotId> {
        let (offset, epoch) = file_name.strip_suffix(COMPLETE)?.split_once('-')?;
        let digits =
            |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(offset, 20) || !digits(epoch, 10) {
            return None;
        }
        Some(SnapshotId { offset: offset.parse().ok()?, epoch: epoch.parse().ok()? })
    }
}

/// The snapshots of a log.
#[derive(Clone, Debug)]
pub struct Snapshots {
    pub(super) place: Place,
}

impl Snapshots {
    /// The newest snapshot, [`SnapshotId::FRESH`] apart; remnants of a crash are removed.
    pub(super) fn newest(&self) -> Result<Option<SnapshotId>, ControllerError> {
        let mut newest = None;
        for (name, id) in self.list()? {
            match id {
                Some(SnapshotId::FRESH) => {}
                Some(id) => newest = newest.max(Some(id)),
                None if name.ends_with(PART) => self.remove(&name)?,
                None => {}
            }
        }
        Ok(newest)
    }

    fn list(&self) -> Result<Vec<(String, Option<SnapshotId>)>, ControllerError> {
        let dir = &self.place.dir;
        let entries = self.place.disk.list(dir).map_err(ControllerError::io("list", dir))?;
        let named = entries.into_iter().map(|entry| {
            let id = SnapshotId::parse(&entry.name);
            (entry.name, id)
        });
        Ok(named.collect())
    }

    fn remove(&self, name: &str) -> Result<(), ControllerError> {
        let path = self.place.dir.join(name);
        self.place.disk.remove_file(&path).map_err(ControllerError::io("remove", &path))
    }

    /// Removes those that a newer one makes needless.
    pub(super) fn remove_before(&self, id: SnapshotId) -> Result<(), ControllerError> {
        for (name, other) in self.list()? {
            if other.is_some_and(|other| other < id && other != SnapshotId::FRESH) {
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    /// Writes an image; it is durable when this returns. Blocks.
    pub(crate) fn write(&self, image: &Image, now: Now) -> Result<SnapshotId, ControllerError> {
        let id = SnapshotId { offset: image.offset().saturating_add(1), epoch: image.epoch() };
        let bytes = encode(&to_records(image), id.epoch, image.timestamp_ms(), now)?;
        write_file(&*self.place.disk, &self.place.dir, id, &bytes)?;
        Ok(id)
    }

    /// The records of a snapshot; none if there is no such file.
    pub(super) fn read(&self, id: SnapshotId) -> Result<Option<Contents>, ControllerError> {
        let path = self.place.dir.join(id.file_name(COMPLETE));
        let failed = ControllerError::io("read", &path);
        match self.place.disk.meta(&path) {
            Ok(None) => return Ok(None),
            Ok(Some(_)) => {}
            Err(error) => return Err(failed(error)),
        }
        let bytes = self.place.disk.read(&path).map_err(failed)?;
        decode(&bytes, &path).map(Some)
    }
}

/// What a snapshot says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Contents {
    pub(super) records: Vec<Record>,
    /// Append time of the last record it replaces.
    pub(super) timestamp_ms: i64,
}

/// Writes the checkpoint that a freshly formatted directory has.
pub fn write_fresh(disk: &dyn Disk, dir: &Path, now: Now) -> Result<(), ControllerError> {
    let records: Vec<Record> = features::fresh().map(Record::from).collect();
    write_file(disk, dir, SnapshotId::FRESH, &encode(&records, 0, now.wall_ms, now)?)
}

fn encode(records: &[Record], epoch: i32, last_timestamp_ms: i64, now: Now) -> Result<Vec<u8>, BuildError> {
    let mut bytes = batches::snapshot_header(last_timestamp_ms, epoch, now)?;
    let mut offset = 1;
    for batch in records.chunks(BATCH_RECORDS) {
        bytes.extend(batches::data(batch, offset, epoch, now)?);
        offset += i64::try_from(batch.len()).unwrap_or_default();
    }
    bytes.extend(batches::snapshot_footer(offset, epoch, now)?);
    Ok(bytes)
}

fn decode(bytes: &[u8], path: &Path) -> Result<Contents, ControllerError> {
    let mut contents = Contents::default();
    let mut complete = false;
    let mut walk = Batches::new(bytes);
    for batch in &mut walk {
        let batch = batch.map_err(|fault| ControllerError::Batch { path: path.into(), fault })?;
        match batches::read(&batch, path)? {
            batches::Batch::Records(records) => {
                contents.records.extend(records.into_iter().map(|(_, record)| record));
            }
            batches::Batch::SnapshotHeader { last_timestamp_ms } => contents.timestamp_ms = last_timestamp_ms,
            batches::Batch::SnapshotFooter => complete = true,
            batches::Batch::Control => {}
        }
    }
    if !complete || !walk.rest().is_empty() {
        let what = "it does not end with a footer".to_owned();
        return Err(ControllerError::Corrupt { path: path.into(), what });
    }
    Ok(contents)
}

/// Writes a snapshot's file so that it is there whole or not at all.
fn write_file(disk: &dyn Disk, dir: &Path, id: SnapshotId, bytes: &[u8]) -> Result<(), ControllerError> {
    let part = dir.join(id.file_name(PART));
    let whole = dir.join(id.file_name(COMPLETE));
    let file = disk.open(&part, OpenMode::Truncate).map_err(ControllerError::io("create", &part))?;
    file.write_at(0, bytes).map_err(ControllerError::io("write", &part))?;
    file.sync_all().map_err(ControllerError::io("flush", &part))?;
    disk.rename(&part, &whole).map_err(ControllerError::io("rename", &part))?;
    disk.sync_dir(dir).map_err(ControllerError::io("flush", dir))
}
