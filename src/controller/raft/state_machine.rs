//! What is committed goes from openraft to the driver: in the order of the log, one call at a time.

use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};

use barnabas_protocol::batch::BatchView;
use barnabas_protocol::messages::records::control::SnapshotHeaderRecord;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use openraft::entry::RaftEntry;
use openraft::storage::{EntryResponder, RaftStateMachine};
use openraft::{EntryPayload, OptionalSend, RaftSnapshotBuilder};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::log_store::{LogStore, io};
use super::types::{Entry, LogId, StoredVoters, Types, epoch, log_id, to_members, to_voters};
use crate::clock::Clock;
use crate::controller::error::ControllerError;
use crate::controller::image::Image;
use crate::controller::metadata::Metadata;
use crate::controller::metadata_log::files;
use crate::controller::metadata_log::snapshot::{self, Contents};
use crate::controller::metadata_log::voters::Voters;
use crate::controller::metadata_log::{LogEvents, Position, SnapshotId, Snapshots};
use crate::controller::state::Hard;
use crate::spawn::Spawner;

/// A snapshot as it travels: its name and its file's bytes.
#[derive(Clone, Debug)]
pub struct SnapshotFile {
    /// Where it ends.
    pub id: SnapshotId,
    /// The file.
    pub bytes: Bytes,
}

type Meta = openraft::alias::SnapshotMetaOf<Types>;
type Snapshot = openraft::alias::SnapshotOf<Types, SnapshotFile>;

/// Hands on what is committed. Cheap to clone.
#[derive(Clone)]
pub struct StateMachine(Arc<Inner>);

struct Inner {
    store: LogStore,
    snapshots: Snapshots,
    clock: Clock,
    spawner: Spawner,
    metadata: Metadata,
    /// What a snapshot is restored onto.
    empty: Hard,
    /// Who votes by the configuration; none if the log says it.
    fixed: Option<Voters>,
    events: OnceLock<Weak<dyn LogEvents>>,
    committed: watch::Sender<i64>,
    /// The term that this node leads and the driver knows it leads.
    leading: Mutex<Option<u64>>,
    applied: Mutex<Applied>,
    /// Held while the driver is told something.
    telling: Mutex<()>,
}

struct Applied {
    last: Option<LogId>,
    /// The first offset that is not applied.
    end: i64,
    voters: StoredVoters,
    /// Those before, if a snapshot ends before the change.
    voters_before: StoredVoters,
}

/// Who leads, as this node sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The newest term that it knows.
    pub term: u64,
    /// The leader, if there is one.
    pub leader: Option<i32>,
    /// This node is it.
    pub leads: bool,
}

/// What a state machine begins with.
pub struct Start {
    /// The snapshots.
    pub snapshots: Snapshots,
    /// What follows from the newest snapshot.
    pub applied: Option<LogId>,
    /// The first offset that is not in it.
    pub end: i64,
    /// Who votes there.
    pub voters: StoredVoters,
    /// What a snapshot is restored onto.
    pub empty: Hard,
    /// Who votes by the configuration; none if the log says it.
    pub fixed: Option<Voters>,
}

impl StateMachine {
    /// Over a store.
    pub fn new(
        start: Start,
        store: LogStore,
        metadata: Metadata,
        clock: Clock,
        spawner: Spawner,
    ) -> StateMachine {
        let voters_before = start.voters.clone();
        let applied = Applied { last: start.applied, end: start.end, voters: start.voters, voters_before };
        let (committed, _) = watch::channel(start.end);
        StateMachine(Arc::new(Inner {
            store,
            snapshots: start.snapshots,
            clock,
            spawner,
            metadata,
            empty: start.empty,
            fixed: start.fixed,
            events: OnceLock::new(),
            committed,
            leading: Mutex::new(None),
            applied: Mutex::new(applied),
            telling: Mutex::new(()),
        }))
    }

    /// Whom to tell from now on.
    pub fn tell(&self, events: Weak<dyn LogEvents>) {
        let taken = self.0.events.set(events);
        debug_assert!(taken.is_ok(), "one listener");
    }

    /// The high watermark.
    pub fn committed(&self) -> watch::Receiver<i64> {
        self.0.committed.subscribe()
    }

    /// The term that the driver knows this node to lead.
    pub fn leading(&self) -> Option<u64> {
        *self.0.leading.lock()
    }

    /// Looks who leads; tells the driver if it is not this node, or in another term than the driver knows. `now` is asked
    /// while nothing else is told, so that what it says is not older than what was told. Blocks.
    pub fn look(&self, now: impl FnOnce() -> Standing) {
        let _alone = self.0.telling.lock();
        let Standing { term, leader, leads } = now();
        if leads && self.leading().is_none_or(|led| led == term) {
            return;
        }
        self.0.step_down(term, leader);
        // Those who wait for more must ask the new leader.
        self.0.committed.send_modify(|_| {});
    }

    /// What the driver appended in a term was not taken: it must not build on that. Blocks.
    pub fn refused(&self, term: u64) {
        let _alone = self.0.telling.lock();
        if self.leading() == Some(term) {
            self.0.step_down(term, None);
        }
    }

    /// Nobody listens where another voter should.
    pub fn nobody_there(&self, voter: i32) {
        if let Some(events) = self.0.events() {
            events.nobody_there(voter);
        }
    }

    /// Nothing will be committed any more.
    pub fn fail(&self, error: &ControllerError) {
        if let Some(events) = self.0.events() {
            events.failed(error);
        }
    }

    /// Writes a snapshot of an image and removes older ones; false if there is none newer to write. Blocks.
    ///
    /// # Errors
    /// The disk failed.
    pub fn write_snapshot(&self, image: &Image) -> Result<bool, ControllerError> {
        self.0.write_snapshot(image)
    }
}

impl Inner {
    fn events(&self) -> Option<Arc<dyn LogEvents>> {
        self.events.get().and_then(Weak::upgrade)
    }

    /// Tells the driver of committed entries.
    fn take(&self, entries: &[Entry]) -> Result<(), ControllerError> {
        let _alone = self.telling.lock();
        let mut own = None;
        for entry in entries {
            let at = self.note(entry)?;
            let Some(at) = at else { continue };
            let led = *self.leading.lock();
            if led == Some(entry.term()) {
                own = Some(at.offset);
                continue;
            }
            self.tell_own(own.take());
            if led.is_some() {
                // A later term began before it was noticed that this node's is over.
                self.step_down(entry.term(), None);
            }
            self.tell_others(entry, at)?;
        }
        self.committed.send_replace(self.applied.lock().end);
        self.tell_own(own);
        Ok(())
    }

    fn tell_own(&self, up_to: Option<i64>) {
        if let (Some(up_to), Some(events)) = (up_to, self.events()) {
            events.own_committed(up_to);
        }
    }

    /// What this node led is over.
    fn step_down(&self, term: u64, leader: Option<i32>) {
        *self.leading.lock() = None;
        if let Some(events) = self.events() {
            events.following(epoch(term), leader);
        }
    }

    /// Where an entry's batch is; the founding entry has none.
    fn note(&self, entry: &Entry) -> Result<Option<Position>, ControllerError> {
        let mut applied = self.applied.lock();
        let at = match &entry.batch {
            Some(batch) if batch.is_empty() => None,
            Some(batch) => {
                let header = *view(batch, self.store.log().dir())?.header();
                let (offset, timestamp_ms) = (header.last_offset(), header.max_timestamp);
                Some(Position { offset, epoch: epoch(entry.term()), timestamp_ms })
            }
            // An entry that was in no log: only openraft's own tests have them.
            None => Some(Position { offset: applied.end, epoch: epoch(entry.term()), timestamp_ms: 0 }),
        };
        if let Some(at) = at {
            applied.end = at.offset.saturating_add(1);
        }
        applied.last = Some(entry.log_id());
        if let EntryPayload::Membership(members) = entry.payload() {
            let voters = StoredVoters::new(Some(entry.log_id()), members.clone());
            applied.voters_before = std::mem::replace(&mut applied.voters, voters);
        }
        Ok(at)
    }

    fn tell_others(&self, entry: &Entry, at: Position) -> Result<(), ControllerError> {
        self.committed.send_replace(at.offset.saturating_add(1));
        let Some(events) = self.events() else { return Ok(()) };
        let path = self.store.log().dir();
        let records = match &entry.batch {
            Some(batch) => files::records(&view(batch, path)?, 0, path)?,
            None => Vec::new(),
        };
        events.committed(at, &records);
        if matches!(entry.payload(), EntryPayload::Blank) && self.store.leads(entry.term()) {
            *self.leading.lock() = Some(entry.term());
            events.leading(epoch(entry.term()))?;
        }
        Ok(())
    }

    fn write_snapshot(&self, image: &Image) -> Result<bool, ControllerError> {
        let id = SnapshotId { offset: image.offset().saturating_add(1), epoch: image.epoch() };
        if self.snapshots.newest()? >= Some(id) {
            return Ok(false);
        }
        let (last, voters) = {
            let applied = self.applied.lock();
            let here = applied.last.filter(|_| applied.end == id.offset);
            let last = self.store.entry_ending_at(id.offset).or(here);
            let newest = applied.voters.log_id().is_none_or(|since| Some(since) <= last);
            (last, if newest { applied.voters.clone() } else { applied.voters_before.clone() })
        };
        let Some(last) = last else { return Ok(false) };
        let index = |id: LogId| i64::try_from(id.index()).unwrap_or(i64::MAX);
        let header = SnapshotHeaderRecord {
            last_entry: index(last),
            voters_entry: voters.log_id().map_or(-1, index),
            voters_epoch: voters.log_id().map_or(-1, |id| epoch(id.committed_leader_id().term)),
            ..Default::default()
        };
        let members = to_voters(voters.membership());
        let dynamic = self.fixed.is_none().then_some(&members);
        self.snapshots.write_entry(image, &header, dynamic, self.clock.now())?;
        self.store.note_snapshot(last, id);
        self.snapshots.remove_before(id)?;
        Ok(true)
    }

    fn current(&self) -> Result<Option<Snapshot>, ControllerError> {
        let Some(id) = self.snapshots.newest()? else { return Ok(None) };
        let Some((bytes, _)) = self.snapshots.bytes(id, 0, usize::MAX)? else { return Ok(None) };
        let contents = snapshot::decode(&bytes, self.store.log().dir())?;
        let meta = meta(id, &contents, self.fixed.as_ref());
        Ok(Some(Snapshot { meta, snapshot: SnapshotFile { id, bytes: bytes.into() } }))
    }

    fn install(&self, meta: &Meta, file: &SnapshotFile) -> Result<(), ControllerError> {
        let _alone = self.telling.lock();
        let contents = snapshot::decode(&file.bytes, self.store.log().dir())?;
        let hard = contents.restore(self.empty.clone(), file.id)?;
        self.snapshots.store(file.id, &file.bytes)?;
        if let Some(last) = meta.last_log_id {
            self.store.note_snapshot(last, file.id);
        }
        self.snapshots.remove_before(file.id)?;
        {
            let mut applied = self.applied.lock();
            applied.last = meta.last_log_id;
            applied.end = file.id.offset;
            applied.voters = meta.last_membership.clone();
            applied.voters_before = meta.last_membership.clone();
        }
        if let Some(events) = self.events() {
            events.restored(hard);
        }
        self.committed.send_replace(file.id.offset);
        Ok(())
    }
}

fn view<'a>(batch: &'a Bytes, path: &Path) -> Result<BatchView<'a>, ControllerError> {
    let damaged = |fault| ControllerError::Batch { path: path.into(), fault };
    let cut = || ControllerError::Corrupt { path: path.into(), what: "a batch is cut".to_owned() };
    BatchView::first(batch).map_err(damaged)?.ok_or_else(cut)
}

/// Where a snapshot stands among the entries. One that no quorum wrote says nothing of that: every record counts as
/// an entry, so that all who have it count alike.
pub(super) fn meta(id: SnapshotId, contents: &Contents, fixed: Option<&Voters>) -> Meta {
    let header = &contents.header;
    let term = |epoch: i32| u64::try_from(epoch).unwrap_or_default();
    let last = u64::try_from(header.last_entry).or(u64::try_from(id.offset)).unwrap_or_default();
    let voters = fixed.or(contents.voters.as_ref());
    let since = match u64::try_from(header.voters_entry) {
        Ok(index) => Some(log_id(term(header.voters_epoch), index)),
        Err(_) => voters.map(|_| log_id(0, 0)),
    };
    let members = voters.map(to_members).unwrap_or_default();
    Meta {
        last_log_id: Some(log_id(term(id.epoch), last)),
        last_membership: StoredVoters::new(since, members),
    }
}

impl RaftStateMachine<Types> for StateMachine {
    type SnapshotData = SnapshotFile;
    type SnapshotBuilder = StateMachine;

    async fn applied_state(&mut self) -> io::Result<(Option<LogId>, StoredVoters)> {
        let applied = self.0.applied.lock();
        Ok((applied.last, applied.voters.clone()))
    }

    async fn apply<S>(&mut self, mut entries: S) -> io::Result<()>
    where
        S: Stream<Item = io::Result<EntryResponder<Types>>> + Unpin + OptionalSend,
    {
        let (mut batch, mut responders) = (Vec::new(), Vec::new());
        while let Some(next) = entries.next().await {
            let (entry, responder) = next?;
            batch.push(entry);
            responders.extend(responder);
        }
        self.0.spawner.in_place(|| self.0.take(&batch)).map_err(io)?;
        responders.into_iter().for_each(|responder| responder.send(()));
        Ok(())
    }

    async fn get_snapshot_builder(&mut self) -> StateMachine {
        self.clone()
    }

    async fn install_snapshot(&mut self, meta: &Meta, snapshot: SnapshotFile) -> io::Result<()> {
        self.0.spawner.in_place(|| self.0.install(meta, &snapshot)).map_err(io)
    }

    async fn get_current_snapshot(&mut self) -> io::Result<Option<Snapshot>> {
        self.0.spawner.in_place(|| self.0.current()).map_err(io)
    }
}

impl RaftSnapshotBuilder<Types> for StateMachine {
    type SnapshotData = SnapshotFile;

    async fn build_snapshot(&mut self) -> io::Result<Snapshot> {
        let image = self.0.metadata.image();
        let built = self.0.spawner.in_place(|| {
            self.0.write_snapshot(&image)?;
            self.0.current()
        });
        // Where nothing is applied there is nothing to keep; openraft asks all the same if it finds entries purged.
        let nothing = || Snapshot {
            meta: Meta::default(),
            snapshot: SnapshotFile { id: SnapshotId::FRESH, bytes: Bytes::new() },
        };
        Ok(built.map_err(io)?.unwrap_or_else(nothing))
    }
}
