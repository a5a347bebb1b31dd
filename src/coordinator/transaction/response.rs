//! What the transaction machine answers.

use super::{Partitions, State, TransactionError, TransactionalId};

/// Producer id and epoch.
pub type Producer = (i64, i16);

/// Answers to [`super::Request`], each to the one of its name.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    /// To InitProducer.
    InitProducer(Result<Producer, TransactionError>),
    /// To Add.
    Add(Result<(), TransactionError>),
    /// To Verify: the partitions that are not in the transaction.
    Verify(Result<Partitions, TransactionError>),
    /// To End: the producer of the next transaction.
    End(Result<Producer, TransactionError>),
    /// To Describe.
    Describe(Result<Described, TransactionError>),
    /// To List.
    List(Vec<Listed>),
}

/// A transactional id in full.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// How far its transaction is.
    pub state: State,
    /// Milliseconds.
    pub timeout_ms: i32,
    /// Wall ms, -1 before the first.
    pub begun_ms: i64,
    /// Its producer.
    pub producer: Producer,
    /// Of the open transaction.
    pub partitions: Partitions,
}

/// A transactional id in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its name.
    pub id: TransactionalId,
    /// Its producer.
    pub producer_id: i64,
    /// How far its transaction is.
    pub state: State,
}
