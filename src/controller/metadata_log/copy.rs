//! The log as somebody keeps it who does not vote: a copy of the leader's, in the same files.

use std::sync::Arc;

use barnabas_protocol::batch::Batches;
use barnabas_protocol::messages::records::control::SnapshotHeaderRecord;

use super::files::{self, Files};
use super::open::{newest_snapshot, open_files, places};
use super::quorum_state::{self, QuorumState};
use super::snapshot::{self, Snapshots};
use super::{Opening, Place, SnapshotId};
use crate::clock::Now;
use crate::controller::error::ControllerError;
use crate::controller::image::Image;
use crate::controller::metadata::Loader;
use crate::controller::state::Hard;
use crate::storage::{EpochEnd, Log};

/// A copy of the metadata log. All calls block.
pub struct Copy {
    place: Place,
    snapshots: Snapshots,
    files: Files,
    state: QuorumState,
    /// What a snapshot is restored onto.
    empty: Hard,
    /// The newest snapshot's end, below which nothing is kept.
    snapshot: SnapshotId,
    /// The first offset that the loader has not taken.
    loaded: i64,
}

impl Copy {
    /// Opens the copy. What the newest snapshot says is known to be committed; what follows it in the log is not, until
    /// a leader says so.
    ///
    /// # Errors
    /// The files are damaged in a way that a crash cannot explain, or the disk failed.
    pub fn open(opening: &Opening, now: Now) -> Result<(Copy, Hard), ControllerError> {
        let (place, snapshots) = places(opening)?;
        let (hard, newest) = newest_snapshot(opening, &snapshots)?;
        let opened = open_files(opening, &place, newest, now)?;
        let snapshot = newest.unwrap_or(SnapshotId::FRESH);
        let state = quorum_state::read(&place)?.unwrap_or_default();
        let files = Files::new(opened.appender);
        let empty = Hard::new(Image::empty(&opening.cluster_id, opening.hash_seed));
        let loaded = snapshot.offset;
        let mut copy = Copy { place, snapshots, files, state, empty, snapshot, loaded };
        copy.begin_after_snapshot(now)?;
        Ok((copy, hard))
    }

    /// A crash may have come between the writing of a snapshot and the end of the log that it replaces.
    fn begin_after_snapshot(&mut self, now: Now) -> Result<(), ControllerError> {
        let SnapshotId { offset, epoch } = self.snapshot;
        let log = self.log();
        let joins = log.end_offset() > offset
            || log.end_offset() == offset && log.latest_epoch().is_none_or(|latest| latest <= epoch);
        if offset > 0 && (log.start_offset() > offset || !joins) {
            self.files.appender.restart_at(offset, now)?;
        }
        Ok(())
    }

    fn log(&self) -> &Arc<Log> {
        self.files.appender.log()
    }

    /// The first offset that is missing, and the epoch of the last record that is there.
    pub fn end(&self) -> (i64, i32) {
        let log = self.log();
        (log.end_offset(), log.latest_epoch().unwrap_or(0).max(self.snapshot.epoch))
    }

    /// The epoch, and who leads it.
    pub fn leader(&self) -> (i32, Option<i32>) {
        (self.state.epoch, self.state.leader)
    }

    /// Notes who leads; an older epoch is ignored.
    ///
    /// # Errors
    /// The disk failed.
    pub fn follow(&mut self, epoch: i32, leader: Option<i32>) -> Result<bool, ControllerError> {
        let known = epoch == self.state.epoch && (leader.is_none() || leader == self.state.leader);
        if epoch < self.state.epoch || known {
            return Ok(false);
        }
        self.state = QuorumState { epoch, leader, voted: None, ..self.state };
        quorum_state::write(&self.place, self.state)?;
        Ok(true)
    }

    /// Appends the leader's batches as they are, and flushes them.
    ///
    /// # Errors
    /// A batch is damaged or does not follow; the disk failed.
    pub fn append(&mut self, bytes: &mut [u8], now: Now) -> Result<(), ControllerError> {
        let path = self.log().dir().to_path_buf();
        let mut headers = Vec::new();
        for batch in Batches::new(bytes) {
            let batch = batch.map_err(|fault| ControllerError::Batch { path: path.clone(), fault })?;
            headers.push((*batch.header(), batch.bytes().len()));
        }
        let mut rest = bytes;
        for (header, length) in headers {
            let Some((batch, after)) = rest.split_at_mut_checked(length) else { break };
            rest = after;
            let end = self.log().end_offset();
            if header.base_offset != end {
                let what =
                    format!("the leader sent a batch of offset {}, where {end} follows", header.base_offset);
                return Err(ControllerError::Corrupt { path, what });
            }
            self.files.append(batch, header.leader_epoch, now)?;
        }
        Ok(self.log().flush()?)
    }

    /// The leader's log is another one from somewhere on: cuts back to where both agree.
    ///
    /// # Errors
    /// The disk failed, or what a leader had called committed would be cut.
    pub fn cut_back(&mut self, leaders: EpochEnd, now: Now) -> Result<(), ControllerError> {
        let ours = self.log().end_offset_for_epoch(leaders.epoch);
        let to = match ours {
            Some(ours) if ours.epoch == leaders.epoch => ours.end_offset.min(leaders.end_offset),
            Some(ours) => ours.end_offset,
            None => self.snapshot.offset,
        };
        if to < self.loaded {
            let what = format!(
                "the leader's log differs from offset {to} on, but everything below {} was committed",
                self.loaded
            );
            return Err(ControllerError::Corrupt { path: self.place.dir.clone(), what });
        }
        tracing::info!(to, "the metadata log is cut back to where it agrees with the leader's");
        Ok(self.files.appender.truncate_to(to, now)?)
    }

    /// A snapshot of the leader's takes the place of everything.
    ///
    /// # Errors
    /// It is damaged; the disk failed.
    pub fn install(
        &mut self,
        id: SnapshotId,
        bytes: &[u8],
        now: Now,
        loader: &mut Loader,
    ) -> Result<(), ControllerError> {
        let contents = snapshot::decode(bytes, &self.place.dir)?;
        let hard = contents.restore(self.empty.clone(), id)?;
        self.snapshots.store(id, bytes)?;
        self.snapshot = id;
        self.files.appender.restart_at(id.offset, now)?;
        self.files.bytes_since_snapshot = 0;
        self.snapshots.remove_before(id)?;
        self.loaded = id.offset;
        loader.restore(hard);
        Ok(())
    }

    /// Gives the loader what is committed: everything below the leader's high watermark.
    ///
    /// # Errors
    /// The log cannot be read, or contradicts itself.
    pub fn load(&mut self, high_watermark: i64, loader: &mut Loader) -> Result<(), ControllerError> {
        let to = high_watermark.min(self.log().end_offset());
        if to > self.loaded {
            files::replay(self.log(), self.loaded, to, &mut |at, records| loader.take(at, records))?;
            self.loaded = to;
        }
        Ok(())
    }

    /// Writes a snapshot if the log has grown by so many bytes, and removes what it makes needless.
    ///
    /// # Errors
    /// The disk failed.
    pub fn snapshot_if_due(&mut self, image: &Image, bytes: u64, now: Now) -> Result<(), ControllerError> {
        if self.files.bytes_since_snapshot < bytes || image.offset() < self.snapshot.offset {
            return Ok(());
        }
        let id = self.snapshots.write_entry(image, &SnapshotHeaderRecord::default(), None, now)?;
        self.snapshot = id;
        self.files.trim(id, now)?;
        self.snapshots.remove_before(id)
    }

    /// Flushes and closes, for an orderly stop.
    ///
    /// # Errors
    /// The disk failed.
    pub fn close(self) -> Result<(), ControllerError> {
        Ok(self.files.appender.close_clean()?)
    }
}
