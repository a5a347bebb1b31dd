//! InitProducerId with a transactional id: a producer begins, or begins again; older incarnations are fenced.

use super::end::prepare;
use super::event::InitProducer;
use super::record::{Record, State, Transaction};
use super::response::Producer;
use super::{LAST_EPOCH, NO_EPOCH, Soft, Step, TransactionError, TransactionalId};

/// The producer id and the epoch to go on with.
pub(super) fn init(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    request: &InitProducer,
) -> Result<Producer, TransactionError> {
    if request.id.is_empty() {
        return Err(TransactionError::EmptyId);
    }
    if !(1..=cx.settings.max_timeout_ms).contains(&request.timeout_ms) {
        return Err(TransactionError::InvalidTimeout);
    }
    let Some((id, known)) = cx.hard.get(&request.id) else {
        let fresh = request.fresh.ok_or(TransactionError::NeedsProducerId)?;
        let first = Transaction::new(fresh, 0, request.timeout_ms, cx.now.wall_ms);
        let id = TransactionalId::from(request.id.as_str());
        return Ok(begin(cx, soft, id, first, NO_EPOCH));
    };
    if known.state.is_prepared() {
        return Err(TransactionError::Concurrent);
    }
    if !request.expected.is_none_or(|expected| may_be(known, expected)) {
        return Err(TransactionError::Fenced);
    }
    if !known.state.is_at_rest() {
        // The client asks again once that is over: this epoch is never seen by anybody.
        let id = id.clone();
        fence(cx, soft, &id, known, request.cluster_version);
        return Err(TransactionError::Concurrent);
    }
    let expected_epoch = request.expected.map(|(_, epoch)| epoch);
    let mut next = Transaction {
        client_version: known.client_version,
        ..Transaction::new(known.producer_id, known.epoch, request.timeout_ms, cx.now.wall_ms)
    };
    let last_epoch = soft.live.get(id).map_or(NO_EPOCH, |live| live.last_epoch);
    let exhausted = known.epoch >= LAST_EPOCH;
    let last = if exhausted && expected_epoch.is_none_or(|epoch| epoch == known.epoch) {
        next.producer_id = request.fresh.ok_or(TransactionError::NeedsProducerId)?;
        next.epoch = 0;
        expected_epoch.map_or(NO_EPOCH, |_| known.epoch)
    } else {
        match expected_epoch {
            None => {
                next.epoch = known.epoch.saturating_add(1);
                NO_EPOCH
            }
            Some(epoch) if epoch == known.epoch => {
                next.epoch = known.epoch.saturating_add(1);
                known.epoch
            }
            // The request is repeated: its answer was lost.
            Some(epoch) if epoch == last_epoch => last_epoch,
            Some(_) => return Err(TransactionError::Fenced),
        }
    };
    let id = id.clone();
    Ok(begin(cx, soft, id, next, last))
}

/// Can a producer that takes itself for `expected` be this one?
fn may_be(known: &Transaction, (id, epoch): Producer) -> bool {
    id == known.producer_id || (id == known.previous_producer_id && epoch >= LAST_EPOCH)
}

fn begin(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: TransactionalId,
    next: Transaction,
    last_epoch: i16,
) -> Producer {
    let producer = (next.producer_id, next.epoch);
    soft.live.entry(id.clone()).or_default().last_epoch = last_epoch;
    cx.out.record(Record { id, value: Some(Box::new(next)) });
    producer
}

/// Aborts an open transaction in the name of the coordinator: its producer's epoch is used up.
pub(super) fn fence(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &TransactionalId,
    open: &Transaction,
    client_version: i16,
) {
    debug_assert_eq!(open.state, State::Ongoing, "only an open transaction is fenced");
    let last = open.epoch;
    let fenced = Transaction {
        epoch: open.epoch.saturating_add(1),
        previous_producer_id: open.producer_id,
        client_version,
        ..open.clone()
    };
    prepare(cx, soft, id, fenced, false, last);
}
