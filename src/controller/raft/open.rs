//! Opening a voter's log: which entry is where.

use super::index::Index;
use super::log_store::{self, LogStore};
use super::state_machine::{self, StateMachine, meta};
use super::types::{LogId, StoredVoters, log_id, to_voters};
use crate::clock::Clock;
use crate::controller::error::ControllerError;
use crate::controller::image::Image;
use crate::controller::metadata::Metadata;
use crate::controller::metadata_log::files::{self, Files};
use crate::controller::metadata_log::open::{newest_snapshot, open_files, places};
use crate::controller::metadata_log::voters::Voters;
use crate::controller::metadata_log::{Opening, SnapshotId, Snapshots, beside, quorum_state};
use crate::controller::record::Record;
use crate::controller::state::{Hard, features};
use crate::ids::Uuid;
use crate::spawn::Spawner;

/// A voter's log.
pub struct Opened {
    /// What the newest snapshot says.
    pub hard: Hard,
    /// The records that a fresh cluster begins with.
    pub fresh: Vec<Record>,
    /// The log.
    pub store: LogStore,
    /// Tells of what is committed.
    pub machine: StateMachine,
    /// The image that the driver feeds.
    pub metadata: Metadata,
    /// The snapshots beside it.
    pub snapshots: Snapshots,
    /// Who votes.
    pub voters: Voters,
    /// `controller.quorum.voters`; none if the log says who votes.
    pub fixed: Option<Voters>,
}

/// Who votes, where several do.
pub struct Seats {
    /// The voters.
    pub voters: Voters,
    /// `controller.quorum.voters` says it, and not the log.
    pub fixed: bool,
}

/// Who votes: those of the log if it says it, else `controller.quorum.voters`; none if that is one node alone. Blocks.
///
/// # Errors
/// The log cannot be read, or it says that another directory has this node's seat.
pub fn seats(
    opening: &Opening,
    configured: &Voters,
    directory: Uuid,
) -> Result<Option<Seats>, ControllerError> {
    let (place, snapshots) = places(opening)?;
    let newest = snapshots.newest()?.unwrap_or(SnapshotId::FRESH);
    let logged = snapshots.read(newest)?.and_then(|contents| contents.voters);
    let fixed = logged.is_none();
    let voters = logged.unwrap_or_else(|| configured.clone());
    if voters.nodes.len() < 2 {
        return Ok(None);
    }
    let node = opening.node;
    let what = match voters.nodes.get(&node) {
        None => format!("node {node} is no voter: it was formatted for others (--initial-controllers)"),
        Some(voter) if !fixed && voter.directory != directory => format!(
            "the voters know node {node} by the directory {}, and this is {directory}: a node that has lost its disk \
             must not vote as if it had not. Restore the directory, or let the other voters go on without it",
            voter.directory
        ),
        Some(_) => return Ok(Some(Seats { voters, fixed })),
    };
    Err(ControllerError::Corrupt { path: place.dir, what })
}

/// Opens the log of a voter. What follows the newest snapshot is not known to be committed before a leader says so.
/// `fixed` are `controller.quorum.voters`; without them the log says who votes. Blocks.
///
/// # Errors
/// The log is damaged in a way that a crash cannot explain, or the disk failed.
pub fn open(
    opening: &Opening,
    fixed: Option<Voters>,
    metadata: impl FnOnce(&Hard) -> Metadata,
    clock: &Clock,
    spawner: Spawner,
) -> Result<Opened, ControllerError> {
    let now = clock.now();
    let (place, snapshots) = places(opening)?;
    let (hard, newest) = newest_snapshot(opening, &snapshots)?;
    // Indexes are made again: a quorum's log is not closed in order.
    let unclean = Opening { clean: false, ..opening.clone() };
    let opened = open_files(&unclean, &place, newest, now)?;
    beside::check_log(opening, &place, newest.is_none() && opened.log.end_offset() == 0)?;
    let mut files = Files::new(opened.appender);
    let fresh = snapshots.read(SnapshotId::FRESH)?;
    let (last, stored) = match newest {
        Some(id) => {
            let meta = meta(id, &snapshots.read(id)?.unwrap_or_default(), fixed.as_ref());
            (meta.last_log_id, meta.last_membership)
        }
        None => (None, StoredVoters::default()),
    };
    let founding =
        fixed.clone().or(fresh.as_ref().and_then(|fresh| fresh.voters.clone())).unwrap_or_default();
    let voters = match newest {
        Some(_) => to_voters(stored.membership()),
        None => founding,
    };
    let end = newest.map_or(0, |id| id.offset);
    if newest.is_some_and(|id| !joins(&files, id)) {
        files.appender.restart_at(end, now)?;
    }
    let index = index(&mut files, last, end, &voters)?;
    let fresh = match fresh {
        Some(contents) => contents.records,
        None => features::fresh().map(Record::from).collect(),
    };
    let vote = quorum_state::read(&place)?;
    let (node, purged, dynamic) = (opening.node, last, fixed.is_none());
    let store =
        log_store::Opened { node, place, files, index, purged, voters: voters.clone(), vote, dynamic };
    let store = LogStore::new(store, clock.clone(), spawner);
    if let (Some(last), Some(id)) = (last, newest) {
        store.note_snapshot(last, id);
    }
    let metadata = metadata(&hard);
    let start = state_machine::Start {
        snapshots: snapshots.clone(),
        applied: last,
        end,
        voters: stored,
        empty: Hard::new(Image::empty(&opening.cluster_id, opening.hash_seed)),
        fixed: fixed.clone(),
    };
    let machine = StateMachine::new(start, store.clone(), metadata.clone(), clock.clone(), spawner);
    Ok(Opened { hard, fresh, store, machine, metadata, snapshots, voters, fixed })
}

/// A crash may have come between the writing of a snapshot and the end of the log that it replaces.
fn joins(files: &Files, snapshot: SnapshotId) -> bool {
    let log = files.appender.log();
    let before = snapshot.offset.saturating_sub(1);
    let same_epoch = log.epoch_for_offset(before).is_none_or(|epoch| epoch == snapshot.epoch);
    log.start_offset() <= snapshot.offset && log.end_offset() >= snapshot.offset && same_epoch
}

/// Counts the entries behind the newest snapshot.
fn index(
    files: &mut Files,
    last: Option<LogId>,
    from: i64,
    voters: &Voters,
) -> Result<Index, ControllerError> {
    let log = files.appender.log().clone();
    let mut index = Index::default();
    let mut next = last.map_or(0, |last| last.index().saturating_add(1));
    if last.is_none() && !voters.nodes.is_empty() {
        index.push(&log_id(0, 0), 0);
        next = 1;
    }
    files.bytes_since_snapshot = files::walk(&log, from, log.end_offset(), &mut |batch| {
        let term = u64::try_from(batch.header().leader_epoch).unwrap_or_default();
        index.push(&log_id(term, next), batch.header().base_offset);
        next = next.saturating_add(1);
        Ok(())
    })?;
    Ok(index)
}
