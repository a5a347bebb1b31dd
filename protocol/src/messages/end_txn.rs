//! EndTxn, API key 26.

use crate::messages::dsl::message;

message! {
    /// The request of EndTxn, API key 26.
    request EndTxnRequest => EndTxnResponse, key EndTxn, versions 0-5, flexible 3 {
        transactional_id: String;
        producer_id: i64;
        producer_epoch: i16;
        committed: bool;
    }
}

message! {
    /// The response of EndTxn, API key 26.
    response EndTxnResponse, key EndTxn, versions 0-5, flexible 3 {
        throttle_time_ms: i32;
        error_code: i16;
        producer_id: i64 [5..] = -1;
        producer_epoch: i16 [5..] = -1;
    }
}
