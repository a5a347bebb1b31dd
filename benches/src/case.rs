//! A scenario that all three sides go through under one load, as data.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::load::Outcome;
use crate::load::batch::Filling;
use crate::load::drive::{Pace, Plan, drive_at};
use crate::load::request::Frame;
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
    /// No more is sent after this time.
    pub within: Duration,
    /// For a steady pace: requests in a second.
    pub per_second: f64,
}

impl Stage {
    /// Drives with a window of requests in flight on each connection.
    pub fn drive(&self, connections: Vec<Vec<Frame>>, window: usize) -> Result<Outcome> {
        let plan = Plan { connections, window, requests: self.requests };
        drive_at(self.addr, plan, Pace::Quickly(self.within))
    }

    /// Drives at the pace of this measurement, by each connection in turn.
    pub fn drive_steadily(&self, connections: Vec<Vec<Frame>>) -> Result<Outcome> {
        let plan = Plan { connections, window: usize::MAX, requests: self.requests };
        drive_at(self.addr, plan, Pace::Steadily { per_second: self.per_second, within: self.within })
    }

    /// For loads that do one thing after the other: is there no time for another one?
    pub fn is_over(&self, since: Instant) -> bool {
        since.elapsed() >= self.within
    }
}

/// What some cases need besides.
#[derive(Clone, Copy)]
pub struct Extras {
    /// Settings of the topic.
    pub configs: &'static [(&'static str, &'static str)],
    /// The files of the topic, or of the loop, are not in memory when the load begins.
    pub cold: bool,
    /// When its requests are sent.
    pub timing: Timing,
}

/// When requests are sent.
#[derive(Clone, Copy)]
pub enum Timing {
    /// As quickly as they are answered.
    Quick,
    /// So many in a second.
    Rate(f64),
    /// At half of what this load makes Kafka reach (Barnabas, if Kafka takes no part).
    HalfOf(fn(&Stage) -> Result<Outcome>),
}

impl Extras {
    /// Nothing special.
    pub const NONE: Extras = Extras { configs: &[], cold: false, timing: Timing::Quick };
}
