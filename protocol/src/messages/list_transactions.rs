//! ListTransactions, API key 66.

use crate::messages::dsl::message;

message! {
    /// The request of ListTransactions, API key 66.
    request ListTransactionsRequest => ListTransactionsResponse, key ListTransactions,
    versions 0-2, flexible 0 {
        state_filters: Vec<String>;
        producer_id_filters: Vec<i64>;
        duration_filter: i64 [1..] = -1;
        transactional_id_pattern: Option<String> [2..];
    }
}

message! {
    /// The response of ListTransactions, API key 66.
    response ListTransactionsResponse, key ListTransactions, versions 0-2, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        unknown_state_filters: Vec<String>;
        transaction_states: Vec<TransactionState>;
    }

    struct TransactionState {
        transactional_id: String;
        producer_id: i64;
        transaction_state: String;
    }
}
