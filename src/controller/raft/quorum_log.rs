//! The log of a voter as the controller uses it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::quorum::SnapshotPart;
use barnabas_protocol::messages::{QuorumRequest, QuorumResponse};
use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use openraft::async_runtime::{AsyncRuntime, Instant, WatchReceiver};
use openraft::raft::{AppendEntriesRequest, AppendEntriesResponse, TransferLeaderRequest, VoteRequest};
use openraft::vote::{RaftLeaderId, RaftVote};
use openraft::{Config, Raft, ServerState, SnapshotPolicy};
use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};

use super::log_store::LogStore;
use super::network::{Kind, Network, Outcome, Reach, from_entry, from_id, from_vote, to_id, to_vote};
use super::runtime::Runtime;
use super::state_machine::{SnapshotFile, Standing, StateMachine, meta};
use super::types::{LogId, Proposal, Types, Vote, epoch, kafka_node, raft_node};
use crate::clock::Now;
use crate::controller::error::ControllerError;
use crate::controller::image::Image;
use crate::controller::leadership::Leadership;
use crate::controller::metadata_log::voters::{Voter, Voters};
use crate::controller::metadata_log::{
    Follower, Followers, LogEvents, MetadataLog, Position, Quorum, SnapshotId, Snapshots, batches, snapshot,
};
use crate::controller::record::Record;
use crate::ids::Uuid;
use crate::peer::Address;
use crate::spawn::Spawner;
use crate::storage::Log;

type Node = Raft<Types, StateMachine>;
type Fatal = openraft::errors::Fatal<Types>;

/// What a voter is told.
#[derive(Clone)]
pub struct Setup {
    /// `node.id`.
    pub node: i32,
    /// The cluster's id.
    pub cluster_id: String,
    /// How it reaches the others.
    pub reach: Reach,
    /// Where it says who leads.
    pub leadership: Leadership,
    /// `controller.quorum.fetch.timeout.ms`: a leader that is silent for so long is given up.
    pub fetch_timeout_ms: u64,
    /// Runs tasks.
    pub spawner: Spawner,
}

/// The log of one of several voters. Cheap to clone.
#[derive(Clone)]
pub struct QuorumLog(Arc<Inner>);

struct Inner {
    setup: Setup,
    store: LogStore,
    machine: StateMachine,
    snapshots: Snapshots,
    voters: Voters,
    fixed: Option<Voters>,
    followers: Followers,
    node: watch::Sender<Option<Node>>,
    proposals: mpsc::UnboundedSender<(u64, Proposal)>,
    queue: Mutex<Option<mpsc::UnboundedReceiver<(u64, Proposal)>>>,
    /// The term that is led, and the offset of its next record.
    next: Mutex<(u64, i64)>,
    /// A snapshot that a leader sends.
    incoming: Mutex<Option<(SnapshotId, BytesMut)>>,
    /// The last entry that a leader called committed and that is of its own term: it speaks for everything before.
    heard: Mutex<Option<u64>>,
    caught_up: watch::Sender<bool>,
}

impl QuorumLog {
    /// Over an opened log.
    pub fn new(setup: Setup, opened: &super::Opened) -> QuorumLog {
        let (proposals, queue) = mpsc::unbounded_channel();
        let (node, _) = watch::channel(None);
        let (caught_up, _) = watch::channel(false);
        QuorumLog(Arc::new(Inner {
            setup,
            store: opened.store.clone(),
            machine: opened.machine.clone(),
            snapshots: opened.snapshots.clone(),
            voters: opened.voters.clone(),
            fixed: opened.fixed.clone(),
            followers: Followers::default(),
            node,
            proposals,
            queue: Mutex::new(Some(queue)),
            next: Mutex::new((0, 0)),
            incoming: Mutex::new(None),
            heard: Mutex::new(None),
            caught_up,
        }))
    }

    /// True from when everything was told that was committed at the start.
    pub fn caught_up(&self) -> watch::Receiver<bool> {
        self.0.caught_up.subscribe()
    }

    /// openraft's handle, while it runs.
    #[cfg(test)]
    pub(super) fn node(&self) -> Option<Node> {
        self.0.node.borrow().clone()
    }

    /// Answers another voter.
    pub async fn answer(&self, request: QuorumRequest) -> QuorumResponse {
        let refuse = |code: ErrorCode| QuorumResponse { error_code: code.code(), ..Default::default() };
        let Some(node) = self.0.node.borrow().clone() else { return refuse(ErrorCode::BrokerNotAvailable) };
        let Some(kind) = Kind::from_code(request.kind) else { return refuse(ErrorCode::InvalidRequest) };
        let vote = from_vote(&request.vote);
        let answered = match kind {
            Kind::Append => self.append_entries(&node, vote, request).await,
            Kind::Vote | Kind::PreVote => {
                let last_log_id = from_id(&request.before);
                let rpc = VoteRequest { vote, last_log_id, leadership_transfer: request.inherits };
                let asked = if kind == Kind::Vote { node.vote(rpc).await } else { node.pre_vote(rpc).await };
                asked.ok().map(|response| QuorumResponse {
                    outcome: if response.vote_granted { Outcome::Yes } else { Outcome::Partly } as i8,
                    vote: to_vote(&response.vote),
                    last: to_id(response.last_log_id),
                    ..Default::default()
                })
            }
            Kind::Snapshot => self.take_part(&node, vote, request.snapshot).await,
            Kind::Inherit => {
                let (heir, last) = (raft_node(request.heir), from_id(&request.before));
                let handed = node.handle_transfer_leader(TransferLeaderRequest::new(vote, heir, last)).await;
                handed.ok().map(|handed| QuorumResponse {
                    outcome: if handed.is_ok() { Outcome::Yes } else { Outcome::Partly } as i8,
                    ..Default::default()
                })
            }
        };
        answered.unwrap_or_else(|| refuse(ErrorCode::BrokerNotAvailable))
    }

    async fn append_entries(
        &self,
        node: &Node,
        vote: Vote,
        request: QuorumRequest,
    ) -> Option<QuorumResponse> {
        let path = self.0.store.log().dir();
        let entries: Result<Vec<_>, _> =
            request.entries.into_iter().map(|entry| from_entry(entry, &self.0.voters, path)).collect();
        let entries =
            entries.inspect_err(|error| tracing::error!(%error, "damaged entries from the leader")).ok()?;
        let committed = from_id(&request.committed);
        let speaks_for_all =
            committed.filter(|last| request.committed.epoch == request.vote.epoch && last.index() > 0);
        let rpc = AppendEntriesRequest {
            vote,
            prev_log_id: from_id(&request.before),
            entries,
            leader_commit: committed,
        };
        let mut response = QuorumResponse::default();
        response.outcome = match node.append_entries(rpc).await.ok()? {
            AppendEntriesResponse::Success => Outcome::Yes,
            AppendEntriesResponse::PartialSuccess(last) => {
                response.last = to_id(last);
                Outcome::Partly
            }
            AppendEntriesResponse::Conflict => Outcome::Conflict,
            AppendEntriesResponse::HigherVote(vote) => {
                response.vote = to_vote(&vote);
                Outcome::HigherVote
            }
        } as i8;
        if response.outcome == Outcome::Yes as i8 && !*self.0.caught_up.borrow() {
            *self.0.heard.lock() = speaks_for_all.map(|last| last.index());
            self.0.note_progress(node);
        }
        Some(response)
    }

    /// Parts come in order; the last one makes it whole.
    async fn take_part(&self, node: &Node, vote: Vote, part: SnapshotPart) -> Option<QuorumResponse> {
        let id = SnapshotId { offset: part.end_offset, epoch: part.epoch };
        let taken = |vote: &Vote| QuorumResponse { vote: to_vote(vote), ..Default::default() };
        let whole = {
            let mut incoming = self.0.incoming.lock();
            if part.position == 0 {
                *incoming = Some((id, BytesMut::new()));
            }
            let (at, bytes) = incoming.as_mut().filter(|(at, _)| *at == id)?;
            let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            if length != part.position {
                return None;
            }
            bytes.extend_from_slice(&part.bytes);
            if i64::try_from(bytes.len()).unwrap_or(i64::MAX) < part.size {
                return Some(taken(&vote));
            }
            debug_assert_eq!(*at, id);
            incoming.take().map(|(_, bytes)| bytes.freeze())?
        };
        let contents = snapshot::decode(&whole, self.0.store.log().dir())
            .inspect_err(|error| tracing::error!(%error, "a damaged snapshot from the leader"))
            .ok()?;
        let meta = meta(id, &contents, self.0.fixed.as_ref());
        let file = openraft::alias::SnapshotOf::<Types, SnapshotFile> {
            meta,
            snapshot: SnapshotFile { id, bytes: whole },
        };
        let installed = node.install_full_snapshot(vote, file).await.ok()?;
        let outcome = if installed.vote == vote { Outcome::Yes } else { Outcome::HigherVote } as i8;
        Some(QuorumResponse { outcome, ..taken(&installed.vote) })
    }

    /// Runs the voter until it is closed.
    async fn run(self, mut proposals: mpsc::UnboundedReceiver<(u64, Proposal)>) {
        let setup = &self.0.setup;
        let network = Network {
            reach: setup.reach.clone(),
            cluster_id: setup.cluster_id.clone(),
            node: setup.node,
            machine: self.0.machine.clone(),
        };
        let config = match config(setup).validate() {
            Ok(config) => Arc::new(config),
            Err(error) => return self.0.fail(&error),
        };
        let (store, machine) = (self.0.store.clone(), self.0.machine.clone());
        let node = match Node::new(raft_node(setup.node), config, network, store, machine).await {
            Ok(node) => node,
            Err(error) => return self.0.fail(&error),
        };
        self.0.node.send_replace(Some(node.clone()));
        let watching = self.clone().watch(node.clone());
        setup.spawner.spawn(watching);
        let (mut over, mut last) = (None, None);
        while let Some((term, proposal)) = proposals.recv().await {
            if over >= Some(term) {
                continue;
            }
            match propose(&node, term, proposal, last).await {
                Ok(Some(taken)) => last = Some(taken),
                Ok(None) => {
                    // What was proposed behind it has its offsets from it.
                    over = Some(term);
                    self.step_back(&node, term).await;
                }
                Err(_stopped) => return,
            }
        }
    }

    /// Ends the term that this node leads: the driver first, then openraft, which gives its vote of the next term to
    /// another voter, whom it would not elect with a shorter log all the same.
    async fn step_back(&self, node: &Node, term: u64) {
        let setup = &self.0.setup;
        tracing::warn!(
            epoch = epoch(term),
            "no majority of the voters answers this controller: it leads no more"
        );
        setup.spawner.in_place(|| self.0.machine.refused(term));
        let own = raft_node(setup.node);
        let other = node.metrics().borrow_watched().membership_config.voter_ids().find(|id| *id != own);
        let Some(other) = other else { return };
        let later = openraft::alias::LeaderIdOf::<Types>::new(term.saturating_add(1), other);
        let Ok(last_log_id) = last_log_id(node).await else { return };
        let vote: Vote = RaftVote::from_leader_id(later, false);
        let request = VoteRequest { vote, last_log_id, leadership_transfer: true };
        // It refuses if it knows of a later term already.
        let _answer = node.vote(request).await;
    }

    /// Tells of changes of leadership, and of the end.
    async fn watch(self, node: Node) {
        let setup = &self.0.setup;
        let mut metrics = node.metrics();
        let mut known = None;
        loop {
            let (seen, failed) = {
                let now = metrics.borrow_and_update();
                (standing(&now), now.running_state.clone().err())
            };
            if let Some(error) = failed {
                if self.0.node.borrow().is_some() {
                    self.0.fail(&error);
                }
                return;
            }
            if known != Some(seen) {
                known = Some(seen);
                tracing::info!(epoch = seen.term, leader = seen.leader, "the metadata quorum's leader");
                let leader = seen.leader.map(|id| (id, self.0.address(id)));
                setup.leadership.set(epoch(seen.term), leader);
                setup.spawner.in_place(|| self.0.machine.look(|| standing(&node.metrics().borrow_watched())));
            }
            self.0.note_progress(&node);
            let silent = seen.leads && {
                let acked = node.metrics().borrow_watched().last_quorum_acked;
                acked.is_none_or(|acked| acked.elapsed() >= Duration::from_millis(setup.fetch_timeout_ms))
            };
            if silent && self.0.machine.leading() == Some(seen.term) {
                self.step_back(&node, seen.term).await;
            }
            let pause = <Runtime as AsyncRuntime>::sleep(Duration::from_millis(setup.fetch_timeout_ms));
            tokio::select! {
                biased;
                changed = metrics.changed() => if changed.is_err() { return },
                () = pause, if seen.leads => {}
            }
        }
    }

    /// Hands the leadership over to the voter that has most, if this node has it; waits until somebody else leads.
    async fn hand_over(self) {
        let Some(node) = self.0.node.borrow().clone() else { return };
        let mut metrics = node.metrics();
        let heir = {
            let now = metrics.borrow_and_update();
            let others = now.replication.iter().flatten().filter(|(id, _)| **id != now.id);
            others.max_by_key(|(_, matched)| matched.as_ref().map(|last| last.index())).map(|(id, _)| *id)
        };
        let Some(heir) = heir else { return };
        if node.trigger().transfer_leader(heir).await.is_err() {
            return;
        }
        loop {
            let seen = standing(&metrics.borrow_and_update());
            if !seen.leads && seen.leader.is_some() || metrics.changed().await.is_err() {
                return;
            }
        }
    }
}

/// Has a leader's term a batch appended; none if openraft did not take it: the term is over, or no majority has answered
/// of late. It says so to nobody who does not wait for the commit, so the log is looked at.
async fn propose(
    node: &Node,
    term: u64,
    proposal: Proposal,
    last: Option<LogId>,
) -> Result<Option<LogId>, Fatal> {
    let of_term = |id: &LogId| id.committed_leader_id().term == term;
    let before = match last.filter(of_term) {
        Some(last) => Some(last),
        None => last_log_id(node).await?.filter(of_term),
    };
    let leader = openraft::alias::CommittedLeaderIdOf::<Types>::new(term);
    node.write(proposal).with_leader(leader).await?;
    Ok(last_log_id(node).await?.filter(|after| of_term(after) && Some(*after) > before))
}

/// The last entry that openraft has taken, written or not.
async fn last_log_id(node: &Node) -> Result<Option<LogId>, Fatal> {
    node.with_raft_state(|state| state.log_ids.last().copied()).await
}

/// Who leads, as openraft sees it.
fn standing(metrics: &openraft::RaftMetrics<Types>) -> Standing {
    let leads = metrics.state == ServerState::Leader;
    // A vote that was kept from the last run may say that this node leads.
    let leader = metrics.current_leader.filter(|id| leads || *id != metrics.id);
    Standing { term: metrics.vote.leader_id().term(), leader: leader.map(kafka_node), leads }
}

impl Inner {
    /// Where another voter listens.
    fn address(&self, id: i32) -> Option<Address> {
        self.voters.nodes.get(&id).and_then(Voter::address)
    }

    fn note_progress(&self, node: &Node) {
        let applied = node.metrics().borrow_watched().last_applied.map(|last| last.index());
        let has_all = self.heard.lock().is_some_and(|last| applied >= Some(last));
        if has_all || self.machine.leading().is_some() {
            self.caught_up.send_if_modified(|caught_up| !std::mem::replace(caught_up, true));
        }
    }

    fn fail(&self, error: &dyn std::error::Error) {
        self.machine.fail(&ControllerError::Quorum(error.to_string()));
    }
}

/// openraft's settings for Kafka's. A voter gives up a leader that was silent for a lease, and then some that differs
/// from voter to voter: together a half to two thirds of `controller.quorum.fetch.timeout.ms`.
fn config(setup: &Setup) -> Config {
    let election_ms = (setup.fetch_timeout_ms / 3).max(60);
    Config {
        cluster_name: setup.cluster_id.clone(),
        heartbeat_interval: election_ms / 6,
        election_timeout_min: election_ms / 2,
        election_timeout_max: election_ms,
        install_snapshot_timeout: 10_000,
        max_payload_entries: 1000,
        snapshot_policy: SnapshotPolicy::Never,
        // A voter that is not far behind need not be sent a snapshot.
        max_in_snapshot_log_to_keep: 1000,
        replication_lag_threshold: u64::MAX,
        enable_pre_vote: Some(true),
        // Each epoch begins with an election and its LeaderChange.
        enable_leader_restore: Some(false),
        ..Config::default()
    }
}

impl MetadataLog for QuorumLog {
    fn begin(&self, events: Weak<dyn LogEvents>) -> Result<(), ControllerError> {
        self.0.machine.tell(events);
        if let Some(queue) = self.0.queue.lock().take() {
            self.0.setup.spawner.spawn(self.clone().run(queue));
        }
        Ok(())
    }

    fn append(&self, at: i32, records: &[Record], now: Now) -> Result<Position, ControllerError> {
        let mut next = self.0.next.lock();
        let term = self.0.machine.leading().filter(|term| epoch(*term) == at);
        let term = term.ok_or(ControllerError::NotLeader)?;
        let offset = if next.0 == term { next.1 } else { self.0.store.log().end_offset() };
        let bytes = batches::data(records, offset, at, now)?;
        let after = offset.saturating_add(i64::try_from(records.len()).unwrap_or(i64::MAX));
        *next = (term, after);
        // The receiver is gone only when the voter is.
        let proposed = self.0.proposals.send((term, Proposal(Bytes::from(bytes))));
        proposed.map_err(|_| ControllerError::Closed)?;
        Ok(Position { offset: after.saturating_sub(1), epoch: at, timestamp_ms: now.wall_ms })
    }

    fn push(&self) {}

    fn next_offset(&self) -> i64 {
        let (term, next) = *self.0.next.lock();
        let leads = self.0.machine.leading() == Some(term);
        if leads { next } else { self.0.store.log().end_offset() }
    }

    fn quorum(&self) -> Quorum {
        let known = self.0.setup.leadership.get();
        Quorum {
            leader: known.as_ref().map_or(-1, |leader| leader.id),
            epoch: self.0.store.epoch(),
            log_end: self.0.store.log().end_offset(),
            directory: Uuid::ZERO,
        }
    }

    fn log(&self) -> &Arc<Log> {
        self.0.store.log()
    }

    fn snapshots(&self) -> &Snapshots {
        &self.0.snapshots
    }

    fn voters(&self, now: Now) -> Vec<Follower> {
        let metrics = self.0.node.borrow().as_ref().map(|node| node.metrics().borrow_watched().clone());
        let Some(metrics) = metrics else { return Vec::new() };
        let log_end = self.0.store.log().end_offset();
        let voter = |(id, voter): (&u64, &Voter)| {
            let node = kafka_node(*id);
            if *id == metrics.id {
                return Follower::current(node, voter.directory, log_end, now.wall_ms);
            }
            let matched = metrics.replication.as_ref().and_then(|of| of.get(id)?.as_ref());
            let end = matched.and_then(|last| self.0.store.end_of(last.index())).unwrap_or(-1);
            let heard = metrics.heartbeat.as_ref().and_then(|of| of.get(id)?.as_ref());
            let ago = heard.map(|at| i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX));
            let heard_ms = ago.map_or(-1, |ago| now.wall_ms.saturating_sub(ago));
            Follower {
                node,
                directory: voter.directory,
                log_end: end,
                last_fetch_ms: heard_ms,
                last_caught_up_ms: if end >= log_end { heard_ms } else { -1 },
            }
        };
        metrics.membership_config.nodes().map(voter).collect()
    }

    fn followers(&self) -> &Followers {
        &self.0.followers
    }

    fn answer_voter(&self, request: QuorumRequest) -> Option<BoxFuture<'static, QuorumResponse>> {
        self.0.voters.nodes.contains_key(&request.from).then(|| {
            let log = self.clone();
            Box::pin(async move { log.answer(request).await }) as BoxFuture<'static, QuorumResponse>
        })
    }

    fn resign(&self) -> Option<BoxFuture<'static, ()>> {
        self.0.machine.leading()?;
        Some(Box::pin(self.clone().hand_over()))
    }

    fn committed(&self) -> watch::Receiver<i64> {
        self.0.machine.committed()
    }

    fn bytes_since_snapshot(&self) -> u64 {
        self.0.store.bytes_since_snapshot()
    }

    fn snapshot(&self, image: &Image, _now: Now) -> Result<(), ControllerError> {
        let written = self.0.machine.write_snapshot(image)?;
        if let Some(node) = self.0.node.borrow().clone().filter(|_| written) {
            self.0.setup.spawner.spawn(async move { node.trigger().snapshot().await });
        }
        Ok(())
    }

    fn close(&self) -> Result<(), ControllerError> {
        if let Some(node) = self.0.node.send_replace(None) {
            self.0.setup.spawner.spawn(async move { node.shutdown().await });
        }
        Ok(self.0.store.log().flush()?)
    }
}
