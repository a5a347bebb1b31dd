//! What may happen to transactions.

use crate::coordinator::machine::ReplyId;

use super::{Partitions, Pattern, State, TransactionalId};

/// An event of the transaction machine.
#[derive(Clone, Debug)]
pub enum Event {
    /// Somebody asks and waits for the answer.
    Ask(ReplyId, Request),
    /// Markers have been written, apart from those to `left`.
    Marked {
        /// Whose transaction.
        id: TransactionalId,
        /// From the effect.
        attempt: u64,
        /// Partitions that must be tried again.
        left: Partitions,
    },
    /// A timer's deadline.
    Timer(TimerKey),
}

/// What can be asked.
#[derive(Clone, Debug)]
pub enum Request {
    /// InitProducerId with a transactional id.
    InitProducer(InitProducer),
    /// Partitions join the transaction, which begins with the first.
    Add(Add),
    /// Are these partitions in the transaction?
    Verify(Add),
    /// EndTxn.
    End(End),
    /// DescribeTransactions, one id of it.
    Describe(String),
    /// ListTransactions, this shard's part.
    List(List),
}

impl Request {
    /// The transactional id it speaks of; empty for List, which every shard is asked.
    pub fn id(&self) -> &str {
        match self {
            Request::InitProducer(request) => &request.id,
            Request::Add(request) | Request::Verify(request) => &request.id,
            Request::End(request) => &request.id,
            Request::Describe(id) => id,
            Request::List(_) => "",
        }
    }
}

/// InitProducerId.
#[derive(Clone, Debug, PartialEq)]
pub struct InitProducer {
    /// Transactional id.
    pub id: String,
    /// Milliseconds a transaction may stay open.
    pub timeout_ms: i32,
    /// The producer it takes itself for: only its epoch is to rise (KIP-360).
    pub expected: Option<(i64, i16)>,
    /// A new producer id, if one was asked for before.
    pub fresh: Option<i64>,
    /// The finalized `transaction.version`.
    pub cluster_version: i16,
}

/// Partitions of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Add {
    /// Transactional id.
    pub id: String,
    /// Producer id.
    pub producer_id: i64,
    /// Producer epoch.
    pub epoch: i16,
    /// Which.
    pub partitions: Partitions,
    /// The protocol the client speaks, 0 or 2.
    pub client_version: i16,
}

/// EndTxn.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Transactional id.
    pub id: String,
    /// Producer id.
    pub producer_id: i64,
    /// Producer epoch.
    pub epoch: i16,
    /// Or abort.
    pub commit: bool,
    /// The protocol the client speaks, 0 or 2.
    pub client_version: i16,
    /// A new producer id, if one was asked for before.
    pub fresh: Option<i64>,
}

/// ListTransactions.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// In one of these; `None` for all.
    pub states: Option<Vec<State>>,
    /// Of one of these; empty for all.
    pub producer_ids: Vec<i64>,
    /// Begun longer ago than so many ms; negative for all.
    pub longer_than_ms: i64,
    /// With such a name.
    pub pattern: Option<Pattern>,
}

/// Timers of the transaction machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimerKey {
    /// The open transaction has lasted long enough.
    Deadline(TransactionalId),
    /// Markers that could not be written are tried again.
    Markers(TransactionalId),
    /// Time to look for transactional ids that nobody uses.
    Expiry,
}
