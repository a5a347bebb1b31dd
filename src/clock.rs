//! The clock door: the only place that asks what time it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// One look at the clock: wall time for what clients see, monotonic time for what expires.
/// A wall clock that jumps must not expire every member of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds since 1970.
    pub wall_ms: i64,
    /// Milliseconds since the clock was made; never goes back.
    pub mono_ms: u64,
}

/// Where time comes from. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Clock {
    start: Instant,
    wall: Wall,
}

#[derive(Clone, Debug)]
enum Wall {
    System,
    /// Wall time at the start; tests and the simulator move it at will, monotonic time is tokio's.
    Simulated(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Clock {
        Clock { start: Instant::now(), wall: Wall::System }
    }

    /// A clock whose wall time starts at `wall_ms` and runs with tokio's (possibly paused) time.
    pub fn simulated(wall_ms: i64) -> Clock {
        Clock { start: Instant::now(), wall: Wall::Simulated(Arc::new(AtomicI64::new(wall_ms))) }
    }

    /// Lets the simulated wall clock jump, forwards or back. Nothing happens on the machine's clock.
    pub fn jump_wall(&self, by_ms: i64) {
        if let Wall::Simulated(base) = &self.wall {
            base.fetch_add(by_ms, Ordering::Relaxed);
        }
    }

    /// Both times at once.
    pub fn now(&self) -> Now {
        let elapsed = self.start.elapsed();
        let mono_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let wall_ms = match &self.wall {
            Wall::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .ok()
                .and_then(|since| i64::try_from(since.as_millis()).ok())
                .unwrap_or_default(),
            Wall::Simulated(base) => {
                base.load(Ordering::Relaxed).saturating_add(i64::try_from(mono_ms).unwrap_or(i64::MAX))
            }
        };
        Now { wall_ms, mono_ms }
    }

    /// The instant that is `mono_ms` on this clock, for tokio's timers.
    pub fn instant(&self, mono_ms: u64) -> Instant {
        let far = Duration::from_secs(100 * 365 * 24 * 3600);
        self.start + Duration::from_millis(mono_ms).min(far)
    }

    /// Waits until the monotonic clock shows `mono_ms`.
    pub async fn sleep_until(&self, mono_ms: u64) {
        tokio::time::sleep_until(self.instant(mono_ms)).await;
    }
}
