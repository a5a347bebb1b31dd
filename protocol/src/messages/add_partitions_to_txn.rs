//! AddPartitionsToTxn, API key 24.

use crate::messages::dsl::message;

message! {
    /// The request of AddPartitionsToTxn, API key 24.
    request AddPartitionsToTxnRequest => AddPartitionsToTxnResponse, key AddPartitionsToTxn,
    versions 0-5, flexible 3 {
        transactions: Vec<AddPartitionsToTxnTransaction> [4..];
        v3_and_below_transactional_id: String [..=3];
        v3_and_below_producer_id: i64 [..=3];
        v3_and_below_producer_epoch: i16 [..=3];
        v3_and_below_topics: Vec<AddPartitionsToTxnTopic> [..=3];
    }

    struct AddPartitionsToTxnTransaction {
        transactional_id: String;
        producer_id: i64;
        producer_epoch: i16;
        verify_only: bool;
        topics: Vec<AddPartitionsToTxnTopic>;
    }

    struct AddPartitionsToTxnTopic {
        name: String;
        partitions: Vec<i32>;
    }
}

message! {
    /// The response of AddPartitionsToTxn, API key 24.
    response AddPartitionsToTxnResponse, key AddPartitionsToTxn, versions 0-5, flexible 3 {
        throttle_time_ms: i32;
        error_code: i16 [4..];
        results_by_transaction: Vec<AddPartitionsToTxnResult> [4..];
        results_by_topic_v3_and_below: Vec<AddPartitionsToTxnTopicResult> [..=3];
    }

    struct AddPartitionsToTxnResult {
        transactional_id: String;
        topic_results: Vec<AddPartitionsToTxnTopicResult>;
    }

    struct AddPartitionsToTxnTopicResult {
        name: String;
        results_by_partition: Vec<AddPartitionsToTxnPartitionResult>;
    }

    struct AddPartitionsToTxnPartitionResult {
        partition_index: i32;
        partition_error_code: i16;
    }
}
