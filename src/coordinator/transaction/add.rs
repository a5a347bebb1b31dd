//! Partitions join a transaction, or are looked for in it.

use super::event::Add;
use super::record::{Record, State, Transaction};
use super::{Partitions, Soft, Step, TimerKey, TransactionError, TransactionalId};

/// Adds partitions; the first ones begin the transaction.
pub(super) fn add(cx: &mut Step<'_>, soft: &mut Soft, request: &Add) -> Result<(), TransactionError> {
    let (id, known) = find(cx, &request.id)?;
    // First, since the producer may already use the id that follows this transaction.
    if known.state.is_prepared() {
        return Err(TransactionError::Concurrent);
    }
    check(known, request)?;
    let open = known.state == State::Ongoing;
    if open && missing(known, &request.partitions).is_empty() {
        return Ok(());
    }
    let (id, mut next) = (id.clone(), known.clone());
    for (topic, partitions) in &request.partitions {
        next.partitions.entry(topic.clone()).or_default().extend(partitions);
    }
    next.state = State::Ongoing;
    next.previous_producer_id = known.producer_id;
    next.client_version = request.client_version;
    next.updated_ms = cx.now.wall_ms;
    if next.size(&id) > cx.settings.max_batch_bytes {
        return Err(TransactionError::TooLarge);
    }
    if !open {
        next.begun_ms = cx.now.wall_ms;
        let timeout_ms = u64::try_from(next.timeout_ms).unwrap_or_default();
        time(cx, soft, &id, cx.now.mono_ms.saturating_add(timeout_ms));
    }
    cx.out.record(Record { id, value: Some(Box::new(next)) });
    Ok(())
}

/// Which partitions are not in the transaction.
pub(super) fn verify(cx: &Step<'_>, request: &Add) -> Result<Partitions, TransactionError> {
    let (_, known) = find(cx, &request.id)?;
    check(known, request)?;
    if known.state.is_prepared() {
        return Err(TransactionError::Concurrent);
    }
    Ok(missing(known, &request.partitions))
}

/// The open transaction ends at a time of the monotonic clock, at the latest.
pub(super) fn time(cx: &mut Step<'_>, soft: &mut Soft, id: &TransactionalId, deadline_ms: u64) {
    let live = soft.live.entry(id.clone()).or_default();
    live.deadline_ms = deadline_ms;
    if !live.timed {
        live.timed = true;
        cx.out.arm(TimerKey::Deadline(id.clone()), deadline_ms);
    }
}

fn find<'a>(cx: &Step<'a>, id: &str) -> Result<(&'a TransactionalId, &'a Transaction), TransactionError> {
    if id.is_empty() {
        return Err(TransactionError::EmptyId);
    }
    cx.hard.get(id).ok_or(TransactionError::UnknownMapping)
}

fn check(known: &Transaction, request: &Add) -> Result<(), TransactionError> {
    if known.producer_id != request.producer_id {
        Err(TransactionError::UnknownMapping)
    } else if known.epoch != request.epoch {
        Err(TransactionError::Fenced)
    } else {
        Ok(())
    }
}

fn missing(known: &Transaction, wanted: &Partitions) -> Partitions {
    let mut missing = Partitions::new();
    for (topic, partitions) in wanted {
        let there = known.partitions.get(topic);
        let not = partitions.iter().filter(|p| there.is_none_or(|there| !there.contains(p)));
        let not: std::collections::BTreeSet<i32> = not.copied().collect();
        if !not.is_empty() {
            missing.insert(topic.clone(), not);
        }
    }
    missing
}
