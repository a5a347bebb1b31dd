//! openraft's log on Kafka's files. An entry is appended as its batch, a vote is `quorum-state`, and nothing of either
//! is answered for before it is flushed.

use std::fmt::Debug;
use std::io;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use barnabas_protocol::batch::{BatchView, Batches};
use bytes::Bytes;
use openraft::entry::RaftEntry;
use openraft::storage::{IOFlushed, RaftLogStorage};
use openraft::vote::{RaftLeaderId, RaftVote};
use openraft::{EntryPayload, LogState, OptionalSend, RaftLogReader};
use parking_lot::Mutex;

use super::index::Index;
use super::types::{Entry, LogId, Types, Vote, epoch, kafka_node, raft_node, to_voters};
use crate::clock::Clock;
use crate::controller::error::ControllerError;
use crate::controller::metadata_log::files::Files;
use crate::controller::metadata_log::quorum_state::{self, QuorumState};
use crate::controller::metadata_log::voters::Voters;
use crate::controller::metadata_log::{Place, SnapshotId, batches};
use crate::ids::Uuid;
use crate::spawn::Spawner;
use crate::storage::Log;

/// Bytes of entries that are read for one message to a follower.
const READ_BYTES: u64 = 1 << 20;

/// The log of one voter. Cheap to clone.
#[derive(Clone)]
pub struct LogStore(Arc<Inner>);

struct Inner {
    node: i32,
    place: Place,
    dynamic: bool,
    clock: Clock,
    spawner: Spawner,
    log: Arc<Log>,
    state: Mutex<State>,
}

/// The log as it was opened.
pub struct Opened {
    /// `node.id`.
    pub node: i32,
    /// Its directory.
    pub(in crate::controller) place: Place,
    /// Its files.
    pub(in crate::controller) files: Files,
    /// Which entry is where, in the files.
    pub index: Index,
    /// The last entry that the newest snapshot holds.
    pub purged: Option<LogId>,
    /// Who votes: what the founding entry says if it is still in the log, else what the snapshot says.
    pub voters: Voters,
    /// `quorum-state`.
    pub(in crate::controller) vote: Option<QuorumState>,
    /// The log says who votes, not the configuration (KIP-853).
    pub dynamic: bool,
}

struct State {
    files: Files,
    index: Index,
    purged: Option<LogId>,
    /// Where a snapshot's last entry ends, for a log that does not reach so far.
    snapshot: Option<(LogId, i64)>,
    founding: Voters,
    voters: Voters,
    vote: Option<QuorumState>,
    /// Who waits for the next flush.
    waiting: Vec<IOFlushed<Types>>,
    flushing: bool,
}

impl LogStore {
    /// Over an opened log.
    pub fn new(opened: Opened, clock: Clock, spawner: Spawner) -> LogStore {
        let log = opened.files.appender.log().clone();
        let state = State {
            files: opened.files,
            index: opened.index,
            purged: opened.purged,
            snapshot: None,
            founding: opened.voters.clone(),
            voters: opened.voters,
            vote: opened.vote,
            waiting: Vec::new(),
            flushing: false,
        };
        let (node, place, dynamic) = (opened.node, opened.place, opened.dynamic);
        LogStore(Arc::new(Inner { node, place, dynamic, clock, spawner, log, state: Mutex::new(state) }))
    }

    /// What is shared with readers of bytes.
    pub fn log(&self) -> &Arc<Log> {
        &self.0.log
    }

    /// The entry that ends at an offset.
    pub fn entry_ending_at(&self, offset: i64) -> Option<LogId> {
        let state = self.0.state.lock();
        let purged = state.snapshot.as_ref().filter(|(_, end)| *end == offset).map(|(id, _)| *id);
        state.index.ending_at(offset, self.0.log.end_offset()).or(purged)
    }

    /// The first offset behind an entry.
    pub fn end_of(&self, index: u64) -> Option<i64> {
        let state = self.0.state.lock();
        state.index.get(index)?;
        let after = state.index.get(index.saturating_add(1)).map(|(_, base)| base);
        Some(after.unwrap_or_else(|| self.0.log.end_offset()))
    }

    /// A snapshot is on the disk that ends at this offset with this entry.
    pub fn note_snapshot(&self, last: LogId, snapshot: SnapshotId) {
        let mut state = self.0.state.lock();
        state.snapshot = Some((last, snapshot.offset));
        state.files.bytes_since_snapshot = 0;
    }

    /// The newest epoch that this node knows.
    pub fn epoch(&self) -> i32 {
        self.0.state.lock().vote.map_or(0, |vote| vote.epoch)
    }

    /// True if this node leads a term, as far as it knows.
    pub fn leads(&self, term: u64) -> bool {
        let vote = self.0.state.lock().vote;
        vote.is_some_and(|vote| vote.epoch == epoch(term) && vote.leader == Some(self.0.node))
    }

    /// Bytes that a start would have to replay.
    pub fn bytes_since_snapshot(&self) -> u64 {
        self.0.state.lock().files.bytes_since_snapshot
    }

    fn flush_until_idle(&self) {
        loop {
            let waiting = {
                let mut state = self.0.state.lock();
                if state.waiting.is_empty() {
                    state.flushing = false;
                    return;
                }
                std::mem::take(&mut state.waiting)
            };
            let flushed = self.0.log.flush().map_err(|error| error.to_string());
            for waiter in waiting {
                waiter.io_completed(flushed.clone().map_err(io::Error::other));
            }
        }
    }
}

impl State {
    fn append(&mut self, inner: &Inner, entry: &Entry) -> Result<(), ControllerError> {
        let (id, base) = (entry.log_id(), inner.log.end_offset());
        let at = epoch(entry.term());
        let now = inner.clock.now();
        let mut bytes = match (&entry.batch, entry.payload()) {
            (Some(batch), _) => batch.to_vec(),
            (None, EntryPayload::Normal(proposal)) => proposal.0.to_vec(),
            (None, EntryPayload::Membership(voters)) => batches::voters(&to_voters(voters), at, now)?,
            (None, EntryPayload::Blank) => {
                let leader = self.vote.filter(|vote| vote.epoch == at).and_then(|vote| vote.leader);
                batches::leader_change(leader.unwrap_or(inner.node), self.voters.ids(), at, now)?
            }
        };
        if let EntryPayload::Membership(voters) = entry.payload() {
            self.voters = to_voters(voters);
        }
        if !self.index.push(&id, base) {
            let what = format!("entry {id} does not follow entry {:?}", self.index.last());
            return Err(ControllerError::Corrupt { path: inner.place.dir.clone(), what });
        }
        if bytes.is_empty() {
            return Ok(());
        }
        // The leader has given out the offsets of records; LeaderChange and voters take what comes.
        let path = &inner.place.dir;
        let fault = |fault| ControllerError::Batch { path: path.clone(), fault };
        let given = BatchView::first(&bytes).map_err(fault)?.map(|batch| batch.header().base_offset);
        let decided = entry.batch.is_some() || matches!(entry.payload(), EntryPayload::Normal(_));
        if decided && given != Some(base) {
            let what = format!("entry {id} has a batch of offset {given:?}, where {base} follows");
            return Err(ControllerError::Corrupt { path: path.clone(), what });
        }
        self.files.append(&mut bytes, at, now)?;
        Ok(())
    }

    /// Entries from an index on, whole ones up to some bytes, but at least one.
    fn read(&self, inner: &Inner, from: u64, to: u64, most: u64) -> Result<Vec<Entry>, ControllerError> {
        let mut next = from.max(self.index.first());
        let to = to.min(self.index.next());
        let log_end = inner.log.end_offset();
        let until = self.index.get(to).map_or(log_end, |(_, base)| base);
        let mut entries = Vec::new();
        let mut left = most;
        while next < to && (left > 0 || entries.is_empty()) {
            let Some((_, base)) = self.index.get(next) else { break };
            if self.index.get(next.saturating_add(1)).map_or(log_end, |(_, end)| end) == base {
                entries.push(Entry::founding(&self.founding));
                next = next.saturating_add(1);
                continue;
            }
            let before = entries.len();
            let slice = inner.log.read(base, left.max(1), true, until)?;
            let bytes = slice.chunk.load().map_err(ControllerError::io("read", &inner.place.dir))?;
            left = left.saturating_sub(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            let mut position = 0_usize;
            for batch in Batches::new(&bytes) {
                let fault = |fault| ControllerError::Batch { path: inner.place.dir.clone(), fault };
                let length = batch.map_err(fault)?.bytes().len();
                let Some((id, _)) = self.index.get(next).filter(|_| next < to) else { break };
                let end = position.saturating_add(length);
                let batch = Bytes::copy_from_slice(bytes.get(position..end).unwrap_or_default());
                entries.push(Entry::from_batch(id, batch, &inner.place.dir)?);
                (position, next) = (end, next.saturating_add(1));
            }
            if entries.len() == before {
                let what = format!("nothing can be read at offset {base}");
                return Err(ControllerError::Corrupt { path: inner.place.dir.clone(), what });
            }
        }
        Ok(entries)
    }

    fn last(&self) -> Option<LogId> {
        self.index.last().or(self.purged)
    }
}

/// openraft knows one kind of storage error.
pub(super) fn io(error: ControllerError) -> io::Error {
    io::Error::other(error)
}

/// A vote as `quorum-state` has it.
fn to_state(vote: &Vote, voters: &Voters, dynamic: bool) -> QuorumState {
    let (term, node) = (vote.leader_id().term(), kafka_node(*vote.leader_id().node_id()));
    let (leader, voted) = if vote.is_committed() { (Some(node), None) } else { (None, Some(node)) };
    let directory =
        voted.and_then(|node| voters.nodes.get(&node)).map_or(Uuid::ZERO, |voter| voter.directory);
    let data_version = i32::from(dynamic);
    QuorumState { epoch: epoch(term), leader, voted, voted_directory: directory, data_version }
}

/// What `quorum-state` says as a vote. A node that has neither a leader nor voted in its epoch counts as having voted
/// for itself: it will not vote twice.
pub(super) fn to_vote(state: QuorumState, node: i32) -> Vote {
    let whom = state.leader.or(state.voted).unwrap_or(node);
    let term = u64::try_from(state.epoch).unwrap_or_default();
    let leader = openraft::alias::LeaderIdOf::<Types>::new(term, raft_node(whom));
    Vote::from_leader_id(leader, state.leader.is_some())
}

impl RaftLogReader<Types> for LogStore {
    async fn try_get_log_entries<RB: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: RB,
    ) -> io::Result<Vec<Entry>> {
        let from = match range.start_bound() {
            Bound::Included(from) => *from,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let to = match range.end_bound() {
            Bound::Included(last) => last.saturating_add(1),
            Bound::Excluded(to) => *to,
            Bound::Unbounded => u64::MAX,
        };
        self.0.state.lock().read(&self.0, from, to, u64::MAX).map_err(io)
    }

    async fn limited_get_log_entries(&mut self, from: u64, to: u64) -> io::Result<Vec<Entry>> {
        self.0.state.lock().read(&self.0, from, to, READ_BYTES).map_err(io)
    }

    async fn read_vote(&mut self) -> io::Result<Option<Vote>> {
        Ok(self.0.state.lock().vote.map(|state| to_vote(state, self.0.node)))
    }
}

impl RaftLogStorage<Types> for LogStore {
    type LogReader = LogStore;

    async fn get_log_state(&mut self) -> io::Result<LogState<Types>> {
        let state = self.0.state.lock();
        Ok(LogState { last_purged_log_id: state.purged, last_log_id: state.last() })
    }

    async fn get_log_reader(&mut self) -> LogStore {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote) -> io::Result<()> {
        let state = to_state(vote, &self.0.state.lock().voters, self.0.dynamic);
        let place = self.0.place.clone();
        let written = self.0.spawner.blocking(move || quorum_state::write(&place, state));
        written.await.map_err(io::Error::other)?.map_err(io)?;
        self.0.state.lock().vote = Some(state);
        Ok(())
    }

    async fn append<I>(&mut self, entries: I, callback: IOFlushed<Types>) -> io::Result<()>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let idle = {
            let mut state = self.0.state.lock();
            for entry in entries {
                state.append(&self.0, &entry).map_err(io)?;
            }
            state.waiting.push(callback);
            !std::mem::replace(&mut state.flushing, true)
        };
        if idle {
            let store = self.clone();
            drop(self.0.spawner.blocking(move || store.flush_until_idle()));
        }
        Ok(())
    }

    async fn truncate_after(&mut self, last: Option<LogId>) -> io::Result<()> {
        let store = self.clone();
        let truncated = self.0.spawner.blocking(move || {
            let mut state = store.0.state.lock();
            match state.index.truncate(last.map_or(0, |last| last.index().saturating_add(1))) {
                Some(end) => state.files.appender.truncate_to(end, store.0.clock.now()),
                None => Ok(()),
            }
        });
        truncated.await.map_err(io::Error::other)?.map_err(|error| io(error.into()))
    }

    async fn purge(&mut self, upto: LogId) -> io::Result<()> {
        let store = self.clone();
        let purged = self.0.spawner.blocking(move || store.0.state.lock().purge(upto, &store.0));
        purged.await.map_err(io::Error::other)?.map_err(io)
    }
}

impl State {
    fn purge(&mut self, upto: LogId, inner: &Inner) -> Result<(), ControllerError> {
        let now = inner.clock.now();
        let end = inner.log.end_offset();
        self.purged = self.purged.max(Some(upto));
        let start = self.index.purge(upto.index());
        let start = start.or(self.snapshot.filter(|(id, _)| *id == upto).map(|(_, at)| at)).unwrap_or(end);
        if start > end {
            self.files.appender.restart_at(start, now)?;
        }
        self.files.appender.advance_log_start(start)?;
        if let Some(removal) = self.files.appender.retention(start, now)?.removal {
            // A reader that is in them gets an error and asks again.
            removal.run()?;
        }
        Ok(())
    }
}
