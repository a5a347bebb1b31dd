//! What handlers can ask: every room of the broker, behind its handle.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};

use super::FetchSessions;
use crate::clock::Clock;
use crate::config::Config;
use crate::controller::Image;
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
    /// The cluster's metadata as the controller last published it.
    pub image: Arc<ArcSwap<Image>>,
    /// Incremental fetch sessions (KIP-227).
    pub fetch_sessions: FetchSessions,
}

impl Rooms {
    /// The cluster's metadata now.
    pub fn image(&self) -> Guard<Arc<Image>> {
        self.image.load()
    }
}
