//! InitProducerId, API key 22.

use crate::messages::dsl::message;

message! {
    /// The request of InitProducerId, API key 22.
    request InitProducerIdRequest => InitProducerIdResponse, key InitProducerId, versions 0-5, flexible 2 {
        transactional_id: Option<String> = Some(String::new());
        transaction_timeout_ms: i32;
        producer_id: i64 [3..] = -1;
        producer_epoch: i16 [3..] = -1;
    }
}

message! {
    /// The response of InitProducerId, API key 22.
    response InitProducerIdResponse, key InitProducerId, versions 0-5, flexible 2 {
        throttle_time_ms: i32;
        error_code: i16;
        producer_id: i64 = -1;
        producer_epoch: i16;
    }
}
