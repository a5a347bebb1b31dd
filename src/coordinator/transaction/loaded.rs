//! After the log has been replayed: prepared transactions are completed, open ones get their deadline.

use tracing::info;

use super::add::time;
use super::complete::write_markers;
use super::record::State;
use super::{Soft, Step, TimerKey};

/// What lives of the truth.
pub(super) fn loaded(cx: &mut Step<'_>) -> Soft {
    let mut soft = Soft::default();
    let mut prepared = 0_usize;
    let hard = cx.hard;
    for (id, known) in hard.iter() {
        match known.state {
            State::PrepareCommit | State::PrepareAbort => {
                prepared += 1;
                write_markers(cx, &mut soft, id, known, known.partitions.clone());
            }
            State::Ongoing => {
                // The wall clock may have jumped: never longer than the timeout itself.
                let open_ms = cx.now.wall_ms.saturating_sub(known.begun_ms).max(0);
                let left_ms = i64::from(known.timeout_ms).saturating_sub(open_ms);
                let left_ms = u64::try_from(left_ms).unwrap_or_default();
                time(cx, &mut soft, id, cx.now.mono_ms.saturating_add(left_ms));
            }
            _ => {}
        }
    }
    if prepared > 0 {
        info!(transactions = prepared, "prepared transactions are completed");
    }
    cx.out.arm(TimerKey::Expiry, cx.now.mono_ms.saturating_add(cx.settings.expiry_check_ms));
    soft
}
