//! DescribeTransactions and ListTransactions.

use super::event::List;
use super::record::{State, Transaction};
use super::response::{Described, Listed};
use super::{Step, TransactionError};

/// One transactional id in full.
pub(super) fn describe(cx: &Step<'_>, id: &str) -> Result<Described, TransactionError> {
    if id.is_empty() {
        return Err(TransactionError::EmptyId);
    }
    let (_, known) = cx.hard.get(id).ok_or(TransactionError::NotFound)?;
    Ok(Described {
        state: known.state,
        timeout_ms: known.timeout_ms,
        begun_ms: known.begun_ms,
        producer: (known.producer_id, known.epoch),
        partitions: known.partitions.clone(),
    })
}

/// The transactional ids that a filter lets through.
pub(super) fn list(cx: &Step<'_>, filter: &List) -> Vec<Listed> {
    let now_ms = cx.now.wall_ms;
    let passes = |id: &str, known: &Transaction| {
        known.state != State::Dead
            && (filter.producer_ids.is_empty() || filter.producer_ids.contains(&known.producer_id))
            && filter.states.as_ref().is_none_or(|states| states.contains(&known.state))
            && (filter.longer_than_ms < 0 || now_ms.saturating_sub(known.begun_ms) > filter.longer_than_ms)
            && filter.pattern.as_ref().is_none_or(|pattern| pattern.matches(id))
    };
    let listed = cx.hard.iter().filter(|(id, known)| passes(id, known));
    listed
        .map(|(id, known)| Listed { id: id.clone(), producer_id: known.producer_id, state: known.state })
        .collect()
}
