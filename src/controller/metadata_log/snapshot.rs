//! Snapshots: an image as records, between a header and a footer.

use std::path::Path;

use barnabas_protocol::batch::{Batches, BuildError};
use barnabas_protocol::messages::records::control::SnapshotHeaderRecord;

use super::batches::Control;
use super::voters::Voters;
use super::{Place, batches};
use crate::clock::Now;
use crate::controller::error::ControllerError;
use crate::controller::image::Image;
use crate::controller::record::Record;
use crate::controller::state::{Hard, apply, features, to_records};
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
    pub(in crate::controller) place: Place,
}

impl Snapshots {
    /// The newest snapshot, [`SnapshotId::FRESH`] apart.
    pub(in crate::controller) fn newest(&self) -> Result<Option<SnapshotId>, ControllerError> {
        let ids = self.list()?.into_iter().filter_map(|(_, id)| id);
        Ok(ids.filter(|id| *id != SnapshotId::FRESH).max())
    }

    /// Removes what a crash left unfinished.
    pub(super) fn sweep(&self) -> Result<(), ControllerError> {
        for (name, _) in self.list()?.iter().filter(|(name, _)| name.ends_with(PART)) {
            self.remove(name)?;
        }
        Ok(())
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
    pub(in crate::controller) fn remove_before(&self, id: SnapshotId) -> Result<(), ControllerError> {
        for (name, other) in self.list()? {
            if other.is_some_and(|other| other < id && other != SnapshotId::FRESH) {
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    /// Writes an image; it is durable when this returns. Blocks.
    pub(in crate::controller) fn write(
        &self,
        image: &Image,
        now: Now,
    ) -> Result<SnapshotId, ControllerError> {
        self.write_entry(image, &SnapshotHeaderRecord::default(), None, now)
    }

    /// The same, saying where its end stands in a quorum, and who votes if that may change.
    pub(in crate::controller) fn write_entry(
        &self,
        image: &Image,
        header: &SnapshotHeaderRecord,
        voters: Option<&Voters>,
        now: Now,
    ) -> Result<SnapshotId, ControllerError> {
        let id = SnapshotId { offset: image.offset().saturating_add(1), epoch: image.epoch() };
        let header =
            SnapshotHeaderRecord { last_contained_log_timestamp: image.timestamp_ms(), ..header.clone() };
        self.store(id, &encode(&to_records(image), &header, voters, id.epoch, now)?)?;
        Ok(id)
    }

    /// Takes in a snapshot that another node wrote; it is durable when this returns. Blocks.
    pub(in crate::controller) fn store(&self, id: SnapshotId, bytes: &[u8]) -> Result<(), ControllerError> {
        write_file(&*self.place.disk, &self.place.dir, id, bytes)
    }

    /// The bytes of a snapshot from a position on, and how many it has; none if there is no such snapshot. Blocks.
    ///
    /// # Errors
    /// The disk failed.
    pub fn bytes(
        &self,
        id: SnapshotId,
        position: u64,
        most: usize,
    ) -> Result<Option<(Vec<u8>, u64)>, ControllerError> {
        let path = self.place.dir.join(id.file_name(COMPLETE));
        let failed = |error| ControllerError::io("read", &path)(error);
        if self.place.disk.meta(&path).map_err(failed)?.is_none() {
            return Ok(None);
        }
        let file = self.place.disk.open(&path, OpenMode::Read).map_err(failed)?;
        let size = file.size().map_err(failed)?;
        let left = usize::try_from(size.saturating_sub(position)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; left.min(most)];
        let read = file.read_at(position, &mut bytes).map_err(failed)?;
        bytes.truncate(read);
        Ok(Some((bytes, size)))
    }

    /// The records of a snapshot; none if there is no such file.
    pub(in crate::controller) fn read(&self, id: SnapshotId) -> Result<Option<Contents>, ControllerError> {
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
#[derive(Debug, Default)]
pub(in crate::controller) struct Contents {
    pub(in crate::controller) records: Vec<Record>,
    pub(in crate::controller) header: SnapshotHeaderRecord,
    /// Who votes, if that may change.
    pub(in crate::controller) voters: Option<Voters>,
}

impl Contents {
    /// The truth that the snapshot stands for.
    pub(in crate::controller) fn restore(
        &self,
        empty: Hard,
        id: SnapshotId,
    ) -> Result<Hard, ControllerError> {
        let mut hard = empty;
        self.records.iter().try_for_each(|record| apply(&mut hard, record))?;
        hard.advance(id.offset.saturating_sub(1), id.epoch, self.header.last_contained_log_timestamp);
        Ok(hard)
    }
}

/// Writes the checkpoint that a freshly formatted directory has.
pub fn write_fresh(
    disk: &dyn Disk,
    dir: &Path,
    voters: Option<&Voters>,
    now: Now,
) -> Result<(), ControllerError> {
    let records: Vec<Record> = features::fresh().map(Record::from).collect();
    let header = SnapshotHeaderRecord { last_contained_log_timestamp: now.wall_ms, ..Default::default() };
    write_file(disk, dir, SnapshotId::FRESH, &encode(&records, &header, voters, 0, now)?)
}

fn encode(
    records: &[Record],
    header: &SnapshotHeaderRecord,
    voters: Option<&Voters>,
    epoch: i32,
    now: Now,
) -> Result<Vec<u8>, BuildError> {
    let mut bytes = batches::snapshot_header(header, voters, epoch, now)?;
    let mut offset = if voters.is_some() { 3 } else { 1 };
    for batch in records.chunks(BATCH_RECORDS) {
        bytes.extend(batches::data(batch, offset, epoch, now)?);
        offset += i64::try_from(batch.len()).unwrap_or_default();
    }
    bytes.extend(batches::snapshot_footer(offset, epoch, now)?);
    Ok(bytes)
}

pub(in crate::controller) fn decode(bytes: &[u8], path: &Path) -> Result<Contents, ControllerError> {
    let mut contents = Contents::default();
    let mut complete = false;
    let mut walk = Batches::new(bytes);
    for batch in &mut walk {
        let batch = batch.map_err(|fault| ControllerError::Batch { path: path.into(), fault })?;
        match batches::read(&batch, path)? {
            batches::Batch::Records(records) => {
                contents.records.extend(records.into_iter().map(|(_, record)| record));
            }
            batches::Batch::Control(controls) => {
                for control in controls {
                    match control {
                        Control::SnapshotHeader(header) => contents.header = header,
                        Control::Voters(voters) => contents.voters = Some(voters),
                        Control::SnapshotFooter => complete = true,
                        Control::LeaderChange | Control::Other => {}
                    }
                }
            }
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
