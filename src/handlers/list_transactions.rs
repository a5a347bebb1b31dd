//! ListTransactions (66), versions 0-2: the transactional ids that this broker coordinates (KIP-664). Version 1 filters
//! by duration (KIP-994), 2 by a pattern in RE2 syntax (KIP-1152).

use std::collections::BTreeSet;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::list_transactions::TransactionState;
use barnabas_protocol::messages::{ListTransactionsRequest, ListTransactionsResponse};

use super::transaction::{code, may};
use super::{Answer, Ctx, Operation, Out, after_all};
use crate::coordinator::TransactionError;
use crate::coordinator::transaction::{List, Pattern, Request, Response, State};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: ListTransactionsRequest = ctx.decode(body)?;
    let pattern = request.transactional_id_pattern.filter(|pattern| !pattern.is_empty());
    let pattern = match pattern.as_deref().map(Pattern::parse) {
        Some(None) => {
            let error_code = ErrorCode::InvalidRegularExpression.code();
            return ctx.respond(out, &ListTransactionsResponse { error_code, ..Default::default() });
        }
        pattern => pattern.flatten(),
    };
    let named: Vec<_> = request.state_filters.iter().map(|name| (name, State::from_name(name))).collect();
    // Each once, however often it is named.
    let unknown: BTreeSet<String> =
        named.iter().filter(|(_, state)| state.is_none()).map(|(name, _)| (*name).clone()).collect();
    let states = (!named.is_empty()).then(|| named.iter().filter_map(|(_, state)| *state).collect());
    let list = List {
        states,
        producer_ids: request.producer_id_filters,
        longer_than_ms: request.duration_filter,
        pattern,
    };
    let asked = ctx.rooms.transactions.ask_all(&Request::List(list));
    after_all(asked, ctx, out, move |replies, ctx, out| {
        let mut response = ListTransactionsResponse {
            unknown_state_filters: unknown.into_iter().collect(),
            ..Default::default()
        };
        for reply in replies {
            match reply.map_err(TransactionError::from) {
                Ok(Response::List(listed)) => {
                    let seen = listed.into_iter().filter(|one| may(ctx, Operation::Describe, &one.id));
                    response.transaction_states.extend(seen.map(|one| TransactionState {
                        transactional_id: one.id.to_string(),
                        producer_id: one.producer_id,
                        transaction_state: one.state.name().to_owned(),
                    }));
                }
                // It has moved on; its ids are listed elsewhere.
                Err(TransactionError::NotCoordinator) => {}
                Err(error) => response.error_code = code(error, true).code(),
                Ok(_) => response.error_code = ErrorCode::CoordinatorNotAvailable.code(),
            }
        }
        if response.error_code != 0 {
            response.transaction_states.clear();
        }
        ctx.respond(out, &response)
    })
}
