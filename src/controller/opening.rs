//! From a formatted directory to a controller that leads.

use std::sync::Arc;

use super::driver::{Controller, Doors, Settings, Start};
use super::error::ControllerError;
use super::metadata_log::{self, Opening};
use super::state::ConfigRules;
use super::state::activation::Node;

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
        Controller::start(replayed.hard, Arc::new(replayed.log), start, settings, rules, doors)
    }
}
