//! Durable truth of the transaction coordinator.

use std::collections::BTreeMap;

use super::TransactionalId;
use super::record::{Record, Transaction};

/// What the records of one `__transaction_state` partition say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hard {
    transactions: BTreeMap<TransactionalId, Transaction>,
}

impl Hard {
    /// Takes a record into the truth: the same live and at replay.
    pub(super) fn apply(&mut self, record: Record) {
        match record.value {
            Some(value) => self.transactions.insert(record.id, *value),
            None => self.transactions.remove(&record.id),
        };
    }

    /// What is known of a transactional id.
    pub fn get(&self, id: &str) -> Option<(&TransactionalId, &Transaction)> {
        self.transactions.get_key_value(id)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&TransactionalId, &Transaction)> {
        self.transactions.iter()
    }
}
