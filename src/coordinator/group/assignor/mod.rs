//! Assignors: who is to have which partitions. Pure functions from subscriptions and what was.

mod range;
mod uniform;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::Uuid;

use super::consumer::state::Partitions;

/// A member as an assignor sees it.
#[derive(Clone, Debug)]
pub struct Subscriber<'a> {
    /// Member id.
    pub id: &'a str,
    /// `group.instance.id`.
    pub instance: Option<&'a str>,
    /// Topics it reads, of those that exist.
    pub topics: Arc<BTreeSet<Uuid>>,
    /// What it was to have until now.
    pub has: &'a Arc<Partitions>,
}

/// Distributes the partitions of all topics (`sizes` knows how many each has) over those who read them; the shares
/// are in the order of the subscribers.
pub fn assign(name: &str, subscribers: &[Subscriber<'_>], sizes: &BTreeMap<Uuid, i32>) -> Vec<Partitions> {
    match name {
        "range" => range::assign(subscribers, sizes),
        _ => uniform::assign(subscribers, sizes),
    }
}

#[cfg(test)]
mod assignor_test;
