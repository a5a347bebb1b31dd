//! What voters say to each other, over the controllers' listeners.

use std::future::Future;
use std::time::Duration;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::quorum::{EntryId, QuorumEntry, QuorumVote, SnapshotPart};
use barnabas_protocol::messages::{QuorumRequest, QuorumResponse};
use openraft::entry::RaftEntry;
use openraft::error::{NetworkError, RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, TransferLeaderRequest,
    TransferLeaderResponse, VoteRequest, VoteResponse,
};
use openraft::vote::{RaftLeaderId, RaftVote};
use openraft::{OptionalSend, RaftNetworkFactory, RaftNetworkV2};

use super::state_machine::{SnapshotFile, StateMachine};
use super::types::{Entry, LogId, Types, Vote, epoch, kafka_node, log_id, raft_node};
use crate::controller::error::ControllerError;
use crate::controller::metadata_log::voters::{Voter, Voters};
use crate::peer::{Identity, Loss, Peer, PeerError, Peers};

/// Bytes of a snapshot in one message.
const PART_BYTES: usize = 1 << 20;

/// How long another voter may take to write entries (`controller.quorum.request.timeout.ms`).
const APPEND_WITHIN: Duration = Duration::from_millis(2000);

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub(super) enum Kind {
    /// Entries, or none as a sign of life.
    Append = 0,
    /// A vote.
    Vote = 1,
    /// Whether a vote would be given.
    PreVote = 2,
    /// A part of a snapshot; the last one installs it.
    Snapshot = 3,
    /// The leader goes, and says who is to follow it.
    Inherit = 4,
}

impl Kind {
    pub(super) fn from_code(code: i8) -> Option<Kind> {
        let kinds = [Kind::Append, Kind::Vote, Kind::PreVote, Kind::Snapshot, Kind::Inherit];
        kinds.into_iter().find(|kind| *kind as i8 == code)
    }
}

/// What became of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub(super) enum Outcome {
    /// Taken, or a vote given.
    Yes = 0,
    /// Taken up to the last entry that is named, or a vote refused.
    Partly = 1,
    /// The entry before is not there.
    Conflict = 2,
    /// There is a newer vote.
    HigherVote = 3,
}

pub(super) fn to_id(id: Option<LogId>) -> EntryId {
    id.map_or_else(EntryId::default, |id| EntryId {
        index: i64::try_from(id.index()).unwrap_or(i64::MAX),
        epoch: epoch(id.committed_leader_id().term),
    })
}

pub(super) fn from_id(id: &EntryId) -> Option<LogId> {
    Some(log_id(u64::try_from(id.epoch).ok()?, u64::try_from(id.index).ok()?))
}

pub(super) fn to_vote(vote: &Vote) -> QuorumVote {
    QuorumVote {
        epoch: epoch(vote.leader_id().term()),
        node: kafka_node(*vote.leader_id().node_id()),
        leads: vote.is_committed(),
    }
}

pub(super) fn from_vote(vote: &QuorumVote) -> Vote {
    let term = u64::try_from(vote.epoch).unwrap_or_default();
    let leader = openraft::alias::LeaderIdOf::<Types>::new(term, raft_node(vote.node));
    Vote::from_leader_id(leader, vote.leads)
}

/// An entry from the wire. The founding entry comes without a batch: every voter has it.
pub(super) fn from_entry(
    entry: QuorumEntry,
    voters: &Voters,
    path: &std::path::Path,
) -> Result<Entry, ControllerError> {
    if entry.id == to_id(Some(log_id(0, 0))) {
        return Ok(Entry::founding(voters));
    }
    let id = from_id(&entry.id).ok_or_else(|| ControllerError::Corrupt {
        path: path.into(),
        what: "an entry without its place came from the leader".to_owned(),
    })?;
    Entry::from_batch(id, entry.batch, path)
}

/// How another voter is reached in a simulation: no answer, if it does not come in time.
#[cfg(test)]
pub(super) type Direct = std::sync::Arc<
    dyn Fn(QuorumRequest) -> futures_util::future::BoxFuture<'static, Option<QuorumResponse>> + Send + Sync,
>;

/// The way to other voters.
#[derive(Clone)]
pub enum Reach {
    /// Over the network.
    Peers(Peers),
    /// Past it.
    #[cfg(test)]
    Direct(Direct),
}

/// Makes connections to the other voters.
pub struct Network {
    /// How.
    pub reach: Reach,
    /// The cluster's id.
    pub cluster_id: String,
    /// This node.
    pub node: i32,
    /// Is told where nobody listens.
    pub machine: StateMachine,
}

impl RaftNetworkFactory<Types> for Network {
    type Network = Link;

    async fn new_client(&mut self, target: u64, node: &Voter) -> Link {
        let to = kafka_node(target);
        let identity = Identity { cluster_id: self.cluster_id.clone(), node_id: to };
        let way = match &self.reach {
            Reach::Peers(peers) => Way::Peer(node.address().map(|at| peers.open_node(at, identity))),
            #[cfg(test)]
            Reach::Direct(direct) => Way::Direct(direct.clone()),
        };
        Link { way, cluster_id: self.cluster_id.clone(), from: self.node, to, machine: self.machine.clone() }
    }
}

enum Way {
    /// None if the voter's address is not known.
    Peer(Option<Peer>),
    #[cfg(test)]
    Direct(Direct),
}

/// A connection to one voter.
pub struct Link {
    way: Way,
    cluster_id: String,
    from: i32,
    to: i32,
    machine: StateMachine,
}

type Rpc<T> = Result<T, RPCError<Types>>;

impl Link {
    fn request(&self, kind: Kind, vote: &Vote) -> QuorumRequest {
        QuorumRequest {
            cluster_id: self.cluster_id.clone(),
            from: self.from,
            to: self.to,
            kind: kind as i8,
            vote: to_vote(vote),
            ..Default::default()
        }
    }

    async fn ask(&self, request: &QuorumRequest, within: Duration) -> Rpc<QuorumResponse> {
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        let unreachable = |what: String| RPCError::Unreachable(Unreachable::from_string(what));
        let response = match &self.way {
            Way::Peer(None) => return Err(unreachable("the voter's address is not known".to_owned())),
            Way::Peer(Some(peer)) => match peer.ask_at(request, 0, within_ms).await {
                Ok(response) => response,
                Err(error @ PeerError::TimedOut { .. }) => {
                    return Err(RPCError::Network(NetworkError::new(&error)));
                }
                Err(error) => {
                    if matches!(error, PeerError::Unreachable(Loss::Closed) | PeerError::Lost(Loss::Closed)) {
                        self.machine.nobody_there(self.to);
                    }
                    return Err(unreachable(error.to_string()));
                }
            },
            #[cfg(test)]
            Way::Direct(direct) => match direct(request.clone()).await {
                Some(response) => response,
                None => return Err(unreachable("no answer".to_owned())),
            },
        };
        match ErrorCode::from_code(response.error_code) {
            Some(ErrorCode::None) => Ok(response),
            code => Err(unreachable(format!("node {} refuses: {code:?}", self.to))),
        }
    }

    async fn ask_vote(
        &self,
        kind: Kind,
        rpc: VoteRequest<Types>,
        within: Duration,
    ) -> Rpc<VoteResponse<Types>> {
        let request = QuorumRequest {
            before: to_id(rpc.last_log_id),
            inherits: rpc.leadership_transfer,
            ..self.request(kind, &rpc.vote)
        };
        let response = self.ask(&request, within).await?;
        let granted = response.outcome == Outcome::Yes as i8;
        Ok(VoteResponse::new(from_vote(&response.vote), from_id(&response.last), granted))
    }
}

impl RaftNetworkV2<Types> for Link {
    type SnapshotData = SnapshotFile;

    async fn append_entries(
        &mut self,
        rpc: AppendEntriesRequest<Types>,
        option: RPCOption,
    ) -> Rpc<AppendEntriesResponse<Types>> {
        let entry = |entry: Entry| QuorumEntry {
            id: to_id(Some(entry.log_id())),
            batch: entry.batch.unwrap_or_default(),
        };
        let request = QuorumRequest {
            before: to_id(rpc.prev_log_id),
            committed: to_id(rpc.leader_commit),
            entries: rpc.entries.into_iter().map(entry).collect(),
            ..self.request(Kind::Append, &rpc.vote)
        };
        // openraft's time is that of a heartbeat, which it watches itself; entries must reach a disk.
        let within = if request.entries.is_empty() { option.soft_ttl() } else { APPEND_WITHIN };
        let response = self.ask(&request, within).await?;
        Ok(match response.outcome {
            code if code == Outcome::Yes as i8 => AppendEntriesResponse::Success,
            code if code == Outcome::Partly as i8 => {
                AppendEntriesResponse::PartialSuccess(from_id(&response.last))
            }
            code if code == Outcome::HigherVote as i8 => {
                AppendEntriesResponse::HigherVote(from_vote(&response.vote))
            }
            _ => AppendEntriesResponse::Conflict,
        })
    }

    async fn vote(&mut self, rpc: VoteRequest<Types>, option: RPCOption) -> Rpc<VoteResponse<Types>> {
        self.ask_vote(Kind::Vote, rpc, option.soft_ttl()).await
    }

    async fn pre_vote(&mut self, rpc: VoteRequest<Types>, option: RPCOption) -> Rpc<VoteResponse<Types>> {
        self.ask_vote(Kind::PreVote, rpc, option.soft_ttl()).await
    }

    async fn transfer_leader(
        &mut self,
        req: TransferLeaderRequest<Types>,
        option: RPCOption,
    ) -> Rpc<TransferLeaderResponse<Types>> {
        let request = QuorumRequest {
            before: to_id(req.last_log_id().copied()),
            heir: kafka_node(*req.to_node_id()),
            ..self.request(Kind::Inherit, req.from_leader())
        };
        self.ask(&request, option.soft_ttl()).await?;
        // Whether it took the offer shows in who leads next.
        Ok(Ok(()))
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote,
        snapshot: openraft::alias::SnapshotOf<Types, SnapshotFile>,
        cancel: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        option: RPCOption,
    ) -> Result<SnapshotResponse<Types>, StreamingError<Types>> {
        let SnapshotFile { id, bytes } = snapshot.snapshot;
        let mut cancel = std::pin::pin!(cancel);
        let mut answered = vote;
        for (at, part) in bytes.chunks(PART_BYTES).enumerate() {
            let position = at.saturating_mul(PART_BYTES);
            let request = QuorumRequest {
                snapshot: SnapshotPart {
                    end_offset: id.offset,
                    epoch: id.epoch,
                    size: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
                    position: i64::try_from(position).unwrap_or(i64::MAX),
                    bytes: bytes.slice_ref(part),
                },
                ..self.request(Kind::Snapshot, &vote)
            };
            let response = tokio::select! {
                biased;
                closed = &mut cancel => return Err(closed.into()),
                response = self.ask(&request, option.soft_ttl()) => response?,
            };
            answered = from_vote(&response.vote);
            if response.outcome != Outcome::Yes as i8 {
                break;
            }
        }
        Ok(SnapshotResponse::new(answered))
    }
}
