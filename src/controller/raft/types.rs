//! What openraft is told of our log: its terms are leader epochs, its entries are Kafka's batches.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use barnabas_protocol::batch::BatchView;
use bytes::Bytes;
use openraft::entry::{RaftEntry, RaftPayload};
use openraft::{EntryPayload, Membership};

use super::runtime::Runtime;
use crate::controller::error::ControllerError;
use crate::controller::metadata_log::batches::{self, Batch, Control};
use crate::controller::metadata_log::voters::{Voter, Voters};

openraft::declare_raft_types!(
    /// The types of the metadata quorum.
    pub Types:
        D = Proposal,
        R = (),
        NodeId = u64,
        Node = Voter,
        Term = u64,
        LeaderId = openraft::impls::leader_id_std::LeaderId<u64, u64>,
        Entry = Entry,
        AsyncRuntime = Runtime,
);

/// One leader per term, so a term is all there is to a leader that was granted.
pub type LogId = openraft::alias::LogIdOf<Types>;
/// Whom this node votes for or follows.
pub type Vote = openraft::alias::VoteOf<Types>;
/// Who votes, as openraft has it.
pub type Members = Membership<u64, Voter>;
/// Who votes, and since which entry.
pub type StoredVoters = openraft::alias::StoredMembershipOf<Types>;
type Payload = EntryPayload<Proposal, u64, Voter>;

/// The entry of a leader epoch at an index.
pub fn log_id(epoch: u64, index: u64) -> LogId {
    LogId::new(openraft::alias::CommittedLeaderIdOf::<Types>::new(epoch), index)
}

/// A term as a leader epoch. Terms grow by elections only: none gets near the limit.
pub fn epoch(term: u64) -> i32 {
    i32::try_from(term).unwrap_or(i32::MAX)
}

/// A node's id as openraft has it.
pub fn raft_node(id: i32) -> u64 {
    u64::try_from(id).unwrap_or_default()
}

/// A node's id as Kafka has it.
pub fn kafka_node(id: u64) -> i32 {
    i32::try_from(id).unwrap_or(-1)
}

/// Voters as openraft has them.
pub fn to_members(voters: &Voters) -> Members {
    let nodes: BTreeMap<u64, Voter> =
        voters.nodes.iter().map(|(id, voter)| (raft_node(*id), voter.clone())).collect();
    if nodes.is_empty() {
        return Members::default();
    }
    if voters.majorities.is_empty() {
        return Members::from(nodes);
    }
    let ids = |majority: &BTreeSet<i32>| majority.iter().map(|id| raft_node(*id)).collect();
    let majorities = voters.majorities.iter().map(ids).collect();
    Members::new(majorities, nodes.clone()).unwrap_or_else(|_| Members::from(nodes))
}

/// Voters as Kafka has them.
pub fn to_voters(members: &Members) -> Voters {
    let mut voters = Voters::all_of(members.nodes().map(|(id, voter)| (kafka_node(*id), voter.clone())));
    let ids = |majority: &BTreeSet<u64>| majority.iter().map(|id| kafka_node(*id)).collect();
    let majorities: Vec<BTreeSet<i32>> = members.get_joint_config().iter().map(ids).collect();
    if !matches!(&majorities[..], [one] if one.iter().eq(voters.nodes.keys())) {
        voters.majorities = majorities;
    }
    voters
}

/// Decided records, encoded as one batch at the offset that it is to have.
#[derive(Clone, PartialEq, Eq)]
pub struct Proposal(pub Bytes);

impl fmt::Debug for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a batch of {} bytes", self.0.len())
    }
}

impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    log_id: LogId,
    payload: Payload,
    /// Its batch, unless openraft has just made the entry. Empty for the first entry of a cluster, which says who
    /// votes and is not in the log's files.
    pub batch: Option<Bytes>,
}

impl Entry {
    /// What a batch of the log means.
    ///
    /// # Errors
    /// The batch is damaged.
    pub fn from_batch(log_id: LogId, batch: Bytes, path: &Path) -> Result<Entry, ControllerError> {
        let damaged = |fault| ControllerError::Batch { path: path.into(), fault };
        let view = BatchView::first(&batch).map_err(damaged)?.ok_or_else(|| ControllerError::Corrupt {
            path: path.into(),
            what: "a batch is cut".to_owned(),
        })?;
        let voters = |control| match control {
            Control::Voters(voters) => Some(to_members(&voters)),
            _ => None,
        };
        let payload = if !view.header().attributes.control() {
            EntryPayload::Normal(Proposal(batch.clone()))
        } else if let Batch::Control(controls) = batches::read(&view, path)?
            && let Some(voters) = controls.into_iter().find_map(voters)
        {
            EntryPayload::Membership(voters)
        } else {
            EntryPayload::Blank
        };
        Ok(Entry { log_id, payload, batch: Some(batch) })
    }

    /// The first entry of a cluster: who votes.
    pub fn founding(voters: &Voters) -> Entry {
        let payload = EntryPayload::Membership(to_members(voters));
        Entry { log_id: log_id(0, 0), payload, batch: Some(Bytes::new()) }
    }

    /// What it says.
    pub fn payload(&self) -> &EntryPayload<Proposal, u64, Voter> {
        &self.payload
    }

    /// Its leader epoch.
    pub fn term(&self) -> u64 {
        self.log_id.committed_leader_id().term
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.log_id, self.payload)
    }
}

impl RaftEntry for Entry {
    type CommittedLeaderId = openraft::alias::CommittedLeaderIdOf<Types>;
    type Payload = Payload;

    fn new(log_id: LogId, payload: Payload) -> Entry {
        Entry { log_id, payload, batch: None }
    }

    fn log_id_parts(&self) -> (&Self::CommittedLeaderId, u64) {
        (self.log_id.committed_leader_id(), self.log_id.index())
    }

    fn set_log_id(&mut self, new: LogId) {
        self.log_id = new;
    }

    fn get_membership(&self) -> Option<Members> {
        self.payload.get_membership()
    }
}
