//! EndTxn: a transaction's outcome is decided.

use super::complete::write_markers;
use super::event::End;
use super::record::{Record, State, Transaction};
use super::response::Producer;
use super::{LAST_EPOCH, NO_EPOCH, Soft, Step, TransactionError, TransactionalId};

/// Each transaction has an epoch of its own (KIP-890).
pub(super) const EPOCH_PER_TRANSACTION: i16 = 2;

/// Commits or aborts; the producer of the next transaction is the answer.
pub(super) fn end(cx: &mut Step<'_>, soft: &mut Soft, request: &End) -> Result<Producer, TransactionError> {
    if request.id.is_empty() {
        return Err(TransactionError::EmptyId);
    }
    let (id, known) = cx.hard.get(&request.id).ok_or(TransactionError::UnknownMapping)?;
    let bumps = request.client_version >= EPOCH_PER_TRANSACTION;
    // The transaction that this request ends has moved on already, to the next epoch or to a new producer id.
    let next_epoch = bumps && known.epoch.checked_sub(1) == Some(request.epoch);
    let next_id = bumps
        && known.previous_producer_id == request.producer_id
        && request.epoch == LAST_EPOCH
        && known.epoch == 0;
    if known.producer_id != request.producer_id && !next_id {
        return Err(TransactionError::UnknownMapping);
    }
    let same_epoch = known.epoch == request.epoch;
    let valid = match known.state {
        _ if !bumps => same_epoch,
        State::PrepareCommit | State::PrepareAbort => next_epoch,
        State::CompleteCommit | State::CompleteAbort => next_epoch || next_id || same_epoch,
        State::Empty | State::Ongoing | State::Dead | State::PrepareEpochFence => same_epoch,
    };
    if !valid {
        return Err(TransactionError::Fenced);
    }
    if known.state.is_prepared() {
        return Err(TransactionError::Concurrent);
    }
    let repeated = next_epoch || next_id;
    let same = match known.state {
        State::CompleteCommit => request.commit,
        State::CompleteAbort => !request.commit,
        _ => false,
    };
    if same && (repeated || !bumps) {
        return Ok((known.producer_id, known.epoch));
    }
    // Without a transaction there is nothing to commit; an abort makes sure of that for good.
    let open = known.state == State::Ongoing;
    if !open && (repeated || request.commit || !bumps) {
        return Err(TransactionError::InvalidState);
    }
    let mut ending = Transaction {
        previous_producer_id: known.producer_id,
        client_version: request.client_version,
        ..known.clone()
    };
    if bumps {
        if known.epoch >= LAST_EPOCH {
            ending.next_producer_id = request.fresh.ok_or(TransactionError::NeedsProducerId)?;
        }
        ending.epoch = known.epoch.saturating_add(1);
    }
    if !open {
        ending.partitions.clear();
        ending.begun_ms = cx.now.wall_ms;
    }
    let last = soft.live.get(id).map_or(NO_EPOCH, |live| live.last_epoch);
    let last = if bumps { known.epoch } else { last };
    let (id, after) = (id.clone(), ending.after());
    prepare(cx, soft, &id, ending, request.commit, last);
    Ok(after)
}

/// Puts the outcome on record; once that is committed the markers follow.
pub(super) fn prepare(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &TransactionalId,
    mut ending: Transaction,
    commit: bool,
    last_epoch: i16,
) {
    ending.state = if commit { State::PrepareCommit } else { State::PrepareAbort };
    ending.updated_ms = cx.now.wall_ms;
    soft.live.entry(id.clone()).or_default().last_epoch = last_epoch;
    write_markers(cx, soft, id, &ending, ending.partitions.clone());
    cx.out.record(Record { id: id.clone(), value: Some(Box::new(ending)) });
}
