//! From prepared to complete: markers are written until every partition has its own.

use tracing::debug;

use super::end::EPOCH_PER_TRANSACTION;
use super::record::{Record, State, Transaction};
use super::settings::MARKER_RETRY_MS;
use super::{Effect, NONE, Partitions, Soft, Step, TimerKey, TransactionalId};

/// A new coordinator needs more than a millisecond to load.
const ATTEMPTS_IN_A_MS_BITS: u32 = 16;

/// Has the markers of a prepared transaction written.
pub(super) fn write_markers(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &TransactionalId,
    prepared: &Transaction,
    partitions: Partitions,
) {
    // The time tells attempts of one coordinator from those of the next.
    let attempt = soft.attempt.saturating_add(1).max(cx.now.mono_ms << ATTEMPTS_IN_A_MS_BITS);
    soft.attempt = attempt;
    soft.live.entry(id.clone()).or_default().attempt = attempt;
    cx.out.effects.push(Effect::WriteMarkers {
        id: id.clone(),
        producer_id: prepared.producer_id,
        epoch: prepared.epoch,
        commit: prepared.state == State::PrepareCommit,
        transaction_version: i8::try_from(prepared.client_version).unwrap_or(i8::MAX),
        partitions,
        attempt,
    });
}

/// Markers are in the partitions' logs, apart from `left`.
pub(super) fn marked(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &TransactionalId,
    attempt: u64,
    left: Partitions,
) {
    let Some((_, prepared)) = cx.hard.get(id) else { return };
    let current = soft.live.get(id).is_some_and(|live| live.attempt == attempt);
    if !prepared.state.is_prepared() || !current {
        return;
    }
    if !left.is_empty() {
        debug!(transaction = %id, topics = left.len(), "markers could not be written yet");
        soft.live.entry(id.clone()).or_default().unmarked = Some(left);
        cx.out.arm(TimerKey::Markers(id.clone()), cx.now.mono_ms.saturating_add(MARKER_RETRY_MS));
        return;
    }
    let commit = prepared.state == State::PrepareCommit;
    let bumps = prepared.client_version >= EPOCH_PER_TRANSACTION;
    let (producer_id, epoch) = if bumps { prepared.after() } else { (prepared.producer_id, prepared.epoch) };
    let complete = Transaction {
        producer_id,
        epoch,
        previous_producer_id: prepared.producer_id,
        next_producer_id: NONE,
        state: if commit { State::CompleteCommit } else { State::CompleteAbort },
        partitions: Partitions::new(),
        updated_ms: cx.now.wall_ms,
        ..prepared.clone()
    };
    if let Some(live) = soft.live.get_mut(id) {
        live.unmarked = None;
    }
    cx.out.record(Record { id: id.clone(), value: Some(Box::new(complete)) });
}

/// Time to try again where it failed.
pub(super) fn again(cx: &mut Step<'_>, soft: &mut Soft, id: &TransactionalId) {
    let Some((_, prepared)) = cx.hard.get(id) else { return };
    let unmarked = soft.live.get_mut(id).and_then(|live| live.unmarked.take());
    if let Some(unmarked) = unmarked.filter(|_| prepared.state.is_prepared()) {
        write_markers(cx, soft, id, prepared, unmarked);
    }
}
