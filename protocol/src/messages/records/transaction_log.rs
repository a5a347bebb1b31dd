//! Transactions in `__transaction_state`.

use crate::messages::dsl::message;

message! {
    /// The key of record type 0 in `__transaction_state`.
    record TransactionLogKey, key 0, versions 0-0 {
        transactional_id: String;
    }
}

message! {
    /// The value of record type 0 in `__transaction_state`.
    record TransactionLogValue, key 0, versions 0-1, flexible 1 {
        producer_id: i64;
        producer_epoch: i16;
        transaction_timeout_ms: i32;
        transaction_status: i8;
        transaction_partitions: Option<Vec<PartitionsSchema>> = Some(Vec::new());
        transaction_last_update_timestamp_ms: i64;
        transaction_start_timestamp_ms: i64;
        previous_producer_id: i64, tag 0 = -1;
        next_producer_id: i64, tag 1 = -1;
        client_transaction_version: i16, tag 2;
        next_producer_epoch: i16, tag 3 = -1;
    }

    struct PartitionsSchema {
        topic: String;
        partition_ids: Vec<i32>;
    }
}
