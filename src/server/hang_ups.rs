//! Warnings about what peers sent, few enough to be read.

use std::net::IpAddr;

use parking_lot::Mutex;
use tracing::warn;

use crate::handlers::CloseReason;

/// One warning in this many ms; those left out are counted in the next.
const EVERY_MS: u64 = 1_000;

/// See the module.
#[derive(Default)]
pub struct HangUps(Mutex<State>);

#[derive(Default)]
struct State {
    /// Monotonic ms before which nothing more is said.
    quiet_until: u64,
    unsaid: u64,
}

impl HangUps {
    /// Warns that a connection was hung up, unless one was warned of just now.
    pub fn warn(&self, peer: IpAddr, reason: &CloseReason, now_ms: u64) {
        let mut state = self.0.lock();
        if now_ms < state.quiet_until {
            state.unsaid = state.unsaid.saturating_add(1);
            return;
        }
        state.quiet_until = now_ms.saturating_add(EVERY_MS);
        let unsaid = std::mem::take(&mut state.unsaid);
        drop(state);
        if unsaid == 0 {
            warn!(%peer, "hung up on a client: {reason}");
        } else {
            warn!(%peer, "hung up on a client: {reason} ({unsaid} more since the last warning)");
        }
    }
}
