//! What the active controller does by itself as time passes: fences brokers that fell silent, and gives partitions back
//! to their preferred leaders.

use tracing::info;

use super::driver::Controller;
use super::state::{Decision, partition_change, registration};
use crate::shutdown::Shutdown;

/// The most leaderships that move back at once.
const MOST_ELECTIONS: usize = 1000;

impl Controller {
    /// Runs until the broker stops.
    pub async fn keep_time(self, mut shutdown: Shutdown) {
        let clock = self.shared.doors.clock.clone();
        let interval_ms = self.shared.settings.rebalance_interval_ms;
        let next = |now_ms: u64| interval_ms.map_or(u64::MAX, |interval| now_ms.saturating_add(interval));
        let mut rebalance_ms = next(clock.now().mono_ms);
        loop {
            let due_ms = self.next_session_end().unwrap_or(u64::MAX).min(rebalance_ms);
            tokio::select! {
                biased;
                () = shutdown.requested() => return,
                () = self.shared.alarm.notified() => continue,
                () = clock.sleep_until(due_ms) => {}
            }
            let now_ms = clock.now().mono_ms;
            if now_ms >= rebalance_ms {
                rebalance_ms = next(now_ms);
                drop(self.submit(|image, view| {
                    let records = partition_change::rebalance(image, view, MOST_ELECTIONS);
                    Decision { records, reply: () }
                }));
            }
            // Nobody waits for the commit here.
            drop(self.submit_with_sessions(|image, view, sessions, moment| {
                let decision = registration::expire(image, view, sessions, moment.now_ms);
                for broker in &decision.reply {
                    info!(broker, "fenced: it was not heard of for too long, or its connection was closed");
                }
                decision
            }));
        }
    }
}
