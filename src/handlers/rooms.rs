//! What handlers can ask: every room of the broker, behind its handle.

use std::sync::Arc;

use super::FetchSessions;
use crate::clock::Clock;
use crate::config::Config;
use crate::controller::{Controller, Image};
use crate::coordinator::{Groups, Markers, Transactions};
use crate::partition::Partitions;
use crate::rng::Rng;
use crate::spawn::Spawner;

/// The rooms of one broker. Made once at the start, in `broker.rs`.
pub struct Rooms {
    /// What the broker was told at its start.
    pub config: Arc<Config>,
    /// The clock door.
    pub clock: Clock,
    /// The door of chance.
    pub rng: Rng,
    /// The door of concurrency.
    pub spawner: Spawner,
    /// The cluster's metadata, and how it changes.
    pub controller: Controller,
    /// The partitions of this broker.
    pub partitions: Arc<Partitions>,
    /// The group coordinator.
    pub groups: Groups,
    /// The transaction coordinator.
    pub transactions: Transactions,
    /// Where ends of transactions are written.
    pub markers: Markers,
    /// Incremental fetch sessions (KIP-227).
    pub fetch_sessions: FetchSessions,
}

impl Rooms {
    /// The cluster's metadata now.
    pub fn image(&self) -> Arc<Image> {
        self.controller.image()
    }
}
