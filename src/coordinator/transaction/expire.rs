//! Transactions that nobody ends, and transactional ids that nobody uses.

use tracing::info;

use super::init_producer::fence;
use super::record::{Record, State};
use super::{Soft, Step, TimerKey, TransactionalId};

/// Half a batch at a time: what is left follows at once.
const SHARE_OF_BATCH: usize = 2;

/// A transaction has been open for its timeout: it is aborted and its producer fenced.
pub(super) fn deadline(cx: &mut Step<'_>, soft: &mut Soft, id: &TransactionalId) {
    let Some(live) = soft.live.get_mut(id) else { return };
    let open = cx.hard.get(id).map(|(_, known)| known).filter(|known| known.state == State::Ongoing);
    let Some(open) = open else {
        live.timed = false;
        return;
    };
    if cx.now.mono_ms < live.deadline_ms {
        // The timer was armed for an earlier transaction.
        cx.out.arm(TimerKey::Deadline(id.clone()), live.deadline_ms);
        return;
    }
    live.timed = false;
    info!(transaction = %id, timeout_ms = open.timeout_ms, "transaction timed out and is aborted");
    fence(cx, soft, id, open, open.client_version);
}

/// Forgets transactional ids that have been unused for `transactional.id.expiration.ms`.
pub(super) fn unused(cx: &mut Step<'_>, soft: &mut Soft) {
    let mut room = cx.settings.max_batch_bytes / SHARE_OF_BATCH;
    let oldest_ms = cx.now.wall_ms.saturating_sub(cx.settings.id_expiration_ms);
    let mut full = false;
    for (id, known) in cx.hard.iter() {
        if !known.state.is_at_rest() || known.updated_ms > oldest_ms {
            continue;
        }
        let size = known.size(id);
        full = size > room && !cx.out.records.is_empty();
        if full {
            break;
        }
        room = room.saturating_sub(size);
        soft.live.remove(id);
        cx.out.cancel(TimerKey::Deadline(id.clone()));
        cx.out.record(Record { id: id.clone(), value: None });
    }
    if !cx.out.records.is_empty() {
        info!(ids = cx.out.records.len(), "unused transactional ids removed");
    }
    let wait_ms = if full { 0 } else { cx.settings.expiry_check_ms };
    cx.out.arm(TimerKey::Expiry, cx.now.mono_ms.saturating_add(wait_ms));
}
