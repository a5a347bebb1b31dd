//! DescribeTransactions, API key 65.

use crate::messages::dsl::message;

message! {
    /// The request of DescribeTransactions, API key 65.
    request DescribeTransactionsRequest => DescribeTransactionsResponse, key DescribeTransactions,
    versions 0-0, flexible 0 {
        transactional_ids: Vec<String>;
    }
}

message! {
    /// The response of DescribeTransactions, API key 65.
    response DescribeTransactionsResponse, key DescribeTransactions, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        transaction_states: Vec<TransactionState>;
    }

    struct TransactionState {
        error_code: i16;
        transactional_id: String;
        transaction_state: String;
        transaction_timeout_ms: i32;
        transaction_start_time_ms: i64;
        producer_id: i64;
        producer_epoch: i16;
        topics: Vec<TopicData>;
    }

    struct TopicData {
        topic: String;
        partitions: Vec<i32>;
    }
}
