//! What the transaction coordinator writes.

use super::{NO_EPOCH, NONE, Partitions, TransactionalId};

/// A record of `__transaction_state`; without a value the transactional id is forgotten.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Whose.
    pub id: TransactionalId,
    /// None forgets it.
    pub value: Option<Box<Transaction>>,
}

/// How far a transaction is. The numbers are those on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "Kafka's names")]
pub enum State {
    Empty = 0,
    Ongoing = 1,
    PrepareCommit = 2,
    PrepareAbort = 3,
    CompleteCommit = 4,
    CompleteAbort = 5,
    Dead = 6,
    PrepareEpochFence = 7,
}

impl State {
    const ALL: [State; 8] = [
        State::Empty,
        State::Ongoing,
        State::PrepareCommit,
        State::PrepareAbort,
        State::CompleteCommit,
        State::CompleteAbort,
        State::Dead,
        State::PrepareEpochFence,
    ];

    /// By its number on disk.
    pub fn from_id(id: i8) -> Option<State> {
        State::ALL.into_iter().find(|state| state.id() == id)
    }

    /// Its number on disk.
    pub fn id(self) -> i8 {
        self as i8
    }

    /// By Kafka's name, as filters give it.
    pub fn from_name(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Kafka's name.
    pub fn name(self) -> &'static str {
        match self {
            State::Empty => "Empty",
            State::Ongoing => "Ongoing",
            State::PrepareCommit => "PrepareCommit",
            State::PrepareAbort => "PrepareAbort",
            State::CompleteCommit => "CompleteCommit",
            State::CompleteAbort => "CompleteAbort",
            State::Dead => "Dead",
            State::PrepareEpochFence => "PrepareEpochFence",
        }
    }

    /// The outcome is decided and markers are on their way.
    pub fn is_prepared(self) -> bool {
        matches!(self, State::PrepareCommit | State::PrepareAbort)
    }

    /// Nothing is open.
    pub fn is_at_rest(self) -> bool {
        matches!(self, State::Empty | State::CompleteCommit | State::CompleteAbort)
    }
}

/// What is known of a transactional id, `TransactionLogValue`.
#[derive(Clone, Debug, PartialEq)]
pub struct Transaction {
    /// Its producer.
    pub producer_id: i64,
    /// The producer id before this one, for requests that are repeated.
    pub previous_producer_id: i64,
    /// The producer id after this transaction, where the epochs of this one are used up.
    pub next_producer_id: i64,
    /// Its producer's epoch.
    pub epoch: i16,
    /// Not used by anyone yet (KIP-939), kept as it is.
    pub next_epoch: i16,
    /// Milliseconds after which an open transaction is aborted.
    pub timeout_ms: i32,
    /// How far it is.
    pub state: State,
    /// What it has written to.
    pub partitions: Partitions,
    /// Wall ms of the last change.
    pub updated_ms: i64,
    /// Wall ms of its beginning, -1 before the first one.
    pub begun_ms: i64,
    /// The protocol its client speaks: 0, or 2 with an epoch for each transaction (KIP-890).
    pub client_version: i16,
}

impl Transaction {
    /// A new producer.
    pub fn new(producer_id: i64, epoch: i16, timeout_ms: i32, now_ms: i64) -> Transaction {
        Transaction {
            producer_id,
            previous_producer_id: producer_id,
            next_producer_id: NONE,
            epoch,
            next_epoch: NO_EPOCH,
            timeout_ms,
            state: State::Empty,
            partitions: Partitions::new(),
            updated_ms: now_ms,
            begun_ms: -1,
            client_version: 0,
        }
    }

    /// The producer as it will be once the transaction is complete.
    pub fn after(&self) -> (i64, i16) {
        if self.next_producer_id == NONE {
            (self.producer_id, self.epoch)
        } else {
            (self.next_producer_id, 0)
        }
    }

    /// About how many bytes its record takes, never less.
    pub fn size(&self, id: &str) -> usize {
        /// Numbers, lengths and the record's own frame.
        const FRAME: usize = 120;
        let partitions: usize =
            self.partitions.iter().map(|(topic, partitions)| topic.len() + 8 + 4 * partitions.len()).sum();
        FRAME + id.len() + partitions
    }
}
