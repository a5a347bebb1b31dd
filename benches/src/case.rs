//! A scenario that all three sides go through under one load, as data.

use std::net::SocketAddr;

use crate::error::Result;
use crate::load::Outcome;
use crate::load::batch::Filling;
use crate::load::topic::Topic;
use crate::target::limit::Loop;

/// What the cost is counted by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// A gigabyte (10⁹ bytes) of requests or answers, whichever is more.
    Gigabyte,
    /// A request, or what the scenario counts as one.
    Request(&'static str),
}

/// One load.
pub struct Case {
    /// Its name in the table.
    pub name: &'static str,
    /// Partitions of its topic, which is fresh every time.
    pub partitions: i32,
    /// What each partition holds before the measurement: batches of this kind, so many.
    pub fill: Option<(Filling, u64)>,
    /// How many requests a measurement has.
    pub requests: u64,
    /// What the cost is counted by.
    pub per: Per,
    /// The loops it is held against; the one with the least CPU counts.
    pub limits: &'static [Loop],
    /// The load itself.
    pub drive: fn(&Stage) -> Result<Outcome>,
}

/// Where and how much a load drives.
pub struct Stage {
    /// The broker or loop.
    pub addr: SocketAddr,
    /// The topic.
    pub topic: Topic,
    /// Requests to be sent.
    pub requests: u64,
    /// Batches that each partition holds.
    pub filled: u64,
}
