//! Opening the log: the newest snapshot and what was appended after it add up to the truth; then a new epoch begins.

use std::path::PathBuf;
use std::sync::Arc;

use super::files::{self, Files};
use super::quorum_state::{self, QuorumState};
use super::snapshot::Snapshots;
use super::sole::SoleLog;
use super::{DIRECTORY, Place, SnapshotId, TOPIC_ID, batches, beside, log_config};
use crate::clock::Now;
use crate::controller::error::ControllerError;
use crate::controller::image::Image;
use crate::controller::record::Record;
use crate::controller::state::{Hard, apply, features};
use crate::disk::Disk;
use crate::ids::Uuid;
use crate::spawn::Spawner;
use crate::storage::{self, Log, log_dir};

/// What to open.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The disk door.
    pub disk: Arc<dyn Disk>,
    /// `metadata.log.dir`.
    pub dir: PathBuf,
    /// `node.id`.
    pub node: i32,
    /// From `meta.properties`.
    pub cluster_id: String,
    /// The last run stopped in order: nothing is scanned for damage.
    pub clean: bool,
    /// The log directories that work: what lies there must be explained by the log.
    pub log_dirs: Vec<PathBuf>,
    /// The directories were formatted just now.
    pub fresh: bool,
    /// `metadata.log.segment.bytes`.
    pub segment_bytes: u32,
    /// Seeds the image's hash tables.
    pub hash_seed: u64,
}

/// The truth, and the log to go on with.
pub struct Replayed {
    /// What snapshot and log add up to.
    pub hard: Hard,
    /// The records that a fresh cluster begins with.
    pub fresh: Vec<Record>,
    /// The log, in a new epoch that this node leads.
    pub log: SoleLog,
}

/// Opens the log, replays it and begins an epoch. Blocks.
///
/// # Errors
/// The log is damaged in a way that a crash cannot explain, or the disk failed.
pub fn open(opening: &Opening, now: Now, spawner: Spawner) -> Result<Replayed, ControllerError> {
    let (place, snapshots) = places(opening)?;
    let (mut hard, newest) = newest_snapshot(opening, &snapshots)?;
    let opened = open_files(opening, &place, newest, now)?;
    let log = opened.log;
    let from = newest.map_or(0, |id| id.offset);
    if log.start_offset() > from || log.end_offset() < from {
        let what = format!(
            "it has {} to {}, the newest snapshot ends at {from}",
            log.start_offset(),
            log.end_offset()
        );
        return Err(ControllerError::Corrupt { path: place.dir, what });
    }
    let replayed_bytes = files::replay(&log, from, log.end_offset(), &mut |at, records| {
        records.iter().try_for_each(|record| apply(&mut hard, record))?;
        hard.advance(at.offset, at.epoch, at.timestamp_ms);
        Ok(())
    })?;
    beside::check(opening, &place, &hard, newest.is_none() && log.end_offset() == 0)?;
    let fresh = match snapshots.read(SnapshotId::FRESH)? {
        Some(contents) => {
            let nodes = contents.voters.iter().flat_map(|voters| voters.nodes.keys());
            if let Some(other) = nodes.copied().find(|node| *node != opening.node) {
                let what =
                    format!("it was formatted with controller {other} as a voter: one node is not a quorum");
                return Err(ControllerError::Corrupt { path: place.dir, what });
            }
            contents.records
        }
        None => features::fresh().map(Record::from).collect(),
    };
    let mut files = Files::new(opened.appender);
    files.bytes_since_snapshot = replayed_bytes;
    let epoch = begin_epoch(&mut files, &place, opening.node, newest, now)?;
    let log = SoleLog::new(opening.node, epoch, files, snapshots, spawner);
    Ok(Replayed { hard, fresh, log })
}

/// Where the files are.
pub(in crate::controller) fn places(opening: &Opening) -> Result<(Place, Snapshots), ControllerError> {
    let place = Place { disk: opening.disk.clone(), dir: opening.dir.join(DIRECTORY) };
    place.disk.create_dir(&place.dir).map_err(ControllerError::io("create", &place.dir))?;
    Ok((place.clone(), Snapshots { place }))
}

/// What the newest snapshot says.
pub(in crate::controller) fn newest_snapshot(
    opening: &Opening,
    snapshots: &Snapshots,
) -> Result<(Hard, Option<SnapshotId>), ControllerError> {
    snapshots.sweep()?;
    let empty = Hard::new(Image::empty(&opening.cluster_id, opening.hash_seed));
    let Some(id) = snapshots.newest()? else { return Ok((empty, None)) };
    let contents = snapshots.read(id)?.unwrap_or_default();
    Ok((contents.restore(empty, id)?, Some(id)))
}

pub(in crate::controller) fn open_files(
    opening: &Opening,
    place: &Place,
    newest: Option<SnapshotId>,
    now: Now,
) -> Result<storage::Opened, ControllerError> {
    if log_dir::read_topic_id(&*place.disk, &place.dir)?.is_none() {
        log_dir::write_topic_id(&*place.disk, &place.dir, TOPIC_ID)?;
    }
    let files = storage::Opening {
        clean: opening.clean,
        recovery_point: 0,
        log_start: newest.map_or(0, |id| id.offset),
        producer_expiry_ms: i64::MAX,
        jitter_seed: 0,
    };
    let config = log_config(opening.segment_bytes);
    let opened = Log::open(place.disk.clone(), &place.dir, config, files, now)?;
    if opened.report.cut_bytes > 0 {
        let (bytes, reason) =
            (opened.report.cut_bytes, opened.report.cut_reason.as_deref().unwrap_or_default());
        tracing::warn!(bytes, reason, "cut off the end of the metadata log, which nobody was told of");
    }
    Ok(opened)
}

/// No epoch may have two leaders: the new one is on the disk before anything is appended in it.
fn begin_epoch(
    files: &mut Files,
    place: &Place,
    node: i32,
    newest: Option<SnapshotId>,
    now: Now,
) -> Result<i32, ControllerError> {
    let before = quorum_state::read(place)?.unwrap_or(QuorumState::default());
    let written =
        files.appender.log().latest_epoch().unwrap_or_default().max(newest.map_or(0, |id| id.epoch));
    let epoch = before.epoch.max(written).saturating_add(1);
    quorum_state::write(place, QuorumState { epoch, leader: Some(node), voted: None, ..before })?;
    files.appender.begin_epoch(epoch)?;
    files.append(&mut batches::leader_change(node, [(node, Uuid::ZERO)], epoch, now)?, epoch, now)?;
    Ok(epoch)
}
