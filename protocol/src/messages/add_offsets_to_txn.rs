//! AddOffsetsToTxn, API key 25.

use crate::messages::dsl::message;

message! {
    /// The request of AddOffsetsToTxn, API key 25.
    request AddOffsetsToTxnRequest => AddOffsetsToTxnResponse, key AddOffsetsToTxn, versions 0-4, flexible 3 {
        transactional_id: String;
        producer_id: i64;
        producer_epoch: i16;
        group_id: String;
    }
}

message! {
    /// The response of AddOffsetsToTxn, API key 25.
    response AddOffsetsToTxnResponse, key AddOffsetsToTxn, versions 0-4, flexible 3 {
        throttle_time_ms: i32;
        error_code: i16;
    }
}
