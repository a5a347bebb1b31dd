//! What handlers can ask: every room of the broker, behind its handle.

use std::sync::Arc;

use super::{CloseReason, FetchSessions};
use crate::clock::Clock;
use crate::config::Config;
use crate::controller::{Channel, Controller, Image, Metadata, MetadataLog};
use crate::coordinator::{Groups, Markers, Transactions};
use crate::partition::Partitions;
use crate::rng::Rng;
use crate::spawn::{Lane, Spawner};

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
    /// Where batches are unpacked that unpack to much.
    pub unpacking: Lane,
    /// The cluster's metadata.
    pub metadata: Metadata,
    /// How it changes, where this node is a controller.
    pub controller: Option<Controller>,
    /// The way to whoever decides on it now.
    pub channel: Channel,
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
    /// The metadata log, if this node keeps it as a controller.
    pub fn metadata_log(&self) -> Option<&Arc<dyn MetadataLog>> {
        self.controller.as_ref().map(Controller::log)
    }

    /// The cluster's metadata now.
    pub fn image(&self) -> Arc<Image> {
        self.metadata.image()
    }

    /// Waits until this broker knows of itself that it is registered and no longer fenced. Before, the metadata may call
    /// it the leader of partitions whose last records a power cut took from it, and may name no broker at all: librdkafka
    /// (2.12) forgets every broker it knew when it is told so, and never finds one again.
    pub async fn entered(&self) {
        let epoch = self.channel.registered().await;
        let mut offsets = self.metadata.watch();
        let known = |_: &i64| {
            let image = self.image();
            image.broker(self.config.node_id).is_some_and(|own| own.epoch >= epoch && own.is_active())
        };
        // An error means that nobody follows the metadata any more: the process is about to end.
        let _ended = offsets.wait_for(known).await.is_err();
    }

    /// The node whose controller is active, as far as this node knows; -1 if nobody is known.
    pub fn quorum_leader(&self) -> i32 {
        self.controller.as_ref().and_then(Controller::quorum).map_or(-1, |quorum| quorum.leader)
    }

    /// The controller of this node, if it decides now.
    pub fn active_controller(&self) -> Option<&Controller> {
        self.controller.as_ref().filter(|controller| controller.is_active())
    }

    /// The controller of this node.
    ///
    /// # Errors
    /// It has none: what needs it cannot be answered here.
    pub fn controller(&self) -> Result<&Controller, CloseReason> {
        self.controller.as_ref().ok_or(CloseReason::Dropped)
    }
}
