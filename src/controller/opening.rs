//! From a formatted directory to a controller that leads.

use std::sync::Arc;

use tokio::sync::watch;

use super::driver::{Controller, Doors, Settings, Start};
use super::error::ControllerError;
use super::leadership::Leadership;
use super::metadata::Metadata;
use super::metadata_log::{self, Opening};
use super::raft::{self, QuorumLog, Reach, Seats};
use super::state::activation::Node;
use super::state::{ConfigRules, Hard};
use crate::peer::Peers;

impl Controller {
    /// Opens the metadata log, replays it, begins an epoch, and registers this node as controller and broker. All of
    /// it is on the disk when this returns. Blocks.
    ///
    /// # Errors
    /// The log is damaged in a way that a crash cannot explain, or the disk failed.
    pub fn open(
        opening: &Opening,
        node: &Node,
        settings: Settings,
        rules: Arc<dyn ConfigRules>,
        doors: Doors,
    ) -> Result<Controller, ControllerError> {
        let replayed = metadata_log::open(opening, doors.clock.now(), doors.spawner)?;
        let start = Start { node: node.clone(), fresh: replayed.fresh };
        let metadata = Metadata::new(replayed.hard.image.clone());
        Controller::start((replayed.hard, metadata), Arc::new(replayed.log), start, settings, rules, doors)
    }

    /// Opens the metadata log as one of several voters, and begins to vote. The watch turns true when everything that
    /// was committed at the start is in the image. Blocks.
    ///
    /// # Errors
    /// The log is damaged in a way that a crash cannot explain, or the disk failed.
    pub fn vote(
        opening: &Opening,
        seats: &Seats,
        way: Way,
        node: &Node,
        settings: Settings,
        rules: Arc<dyn ConfigRules>,
        doors: Doors,
    ) -> Result<(Controller, watch::Receiver<bool>), ControllerError> {
        let fixed = seats.fixed.then(|| seats.voters.clone());
        let metadata = |hard: &Hard| Metadata::new(hard.image.clone());
        let opened = raft::open(opening, fixed, metadata, &doors.clock, doors.spawner)?;
        let setup = raft::Setup {
            node: opening.node,
            cluster_id: opening.cluster_id.clone(),
            reach: Reach::Peers(way.peers),
            leadership: way.leadership,
            fetch_timeout_ms: way.fetch_timeout_ms,
            spawner: doors.spawner,
        };
        let log = QuorumLog::new(setup, &opened);
        let caught_up = log.caught_up();
        let start = Start { node: node.clone(), fresh: opened.fresh };
        let truth = (opened.hard, opened.metadata);
        let controller = Controller::start(truth, Arc::new(log), start, settings, rules, doors)?;
        Ok((controller, caught_up))
    }
}

/// How a voter reaches the others.
pub struct Way {
    /// Calls to other nodes.
    pub peers: Peers,
    /// Where it says who leads.
    pub leadership: Leadership,
    /// `controller.quorum.fetch.timeout.ms`.
    pub fetch_timeout_ms: u64,
}
