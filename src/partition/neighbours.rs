//! What all partitions of a broker know in common: which brokers live, and whom to ask for another in-sync set.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::mpsc;

use super::Partition;
use super::in_sync::{Change, Live};
use crate::clock::Clock;
use crate::controller::Image;

/// A partition asks the controller for another in-sync set.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Whose.
    pub partition: Arc<Partition>,
    /// What is asked for.
    pub change: Change,
    /// The same with the broker epoch of each replica (KIP-903); -1 where it is not known.
    pub isr: Vec<(i32, i64)>,
}

/// See the module.
#[derive(Debug)]
pub struct Neighbours {
    /// `node.id`.
    pub(super) node: i32,
    /// `replica.lag.time.max.ms`.
    pub(super) lag_ms: u64,
    live: ArcSwap<Live>,
    proposals: mpsc::UnboundedSender<Proposal>,
    clock: Clock,
}

impl Neighbours {
    /// Nobody is known to live yet. What partitions ask for goes to `proposals`.
    pub fn new(
        node: i32,
        lag_ms: u64,
        clock: Clock,
        proposals: mpsc::UnboundedSender<Proposal>,
    ) -> Arc<Neighbours> {
        Arc::new(Neighbours { node, lag_ms, live: ArcSwap::default(), proposals, clock })
    }

    /// Brokers that may be in sync: neither fenced nor about to stop.
    pub(super) fn follow(&self, image: &Image) {
        let live =
            image.brokers().filter(|broker| broker.is_active()).map(|broker| (broker.id, broker.epoch));
        self.live.store(Arc::new(live.collect()));
    }

    pub(super) fn live(&self) -> Arc<Live> {
        self.live.load_full()
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.clock.now().mono_ms
    }

    pub(super) fn propose(&self, proposal: Proposal) {
        // Nobody listens only while the broker stops.
        let _stopping = self.proposals.send(proposal);
    }
}
