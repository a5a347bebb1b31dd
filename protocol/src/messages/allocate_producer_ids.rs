//! AllocateProducerIds, API key 67.

use crate::messages::dsl::message;

message! {
    /// The request of AllocateProducerIds, API key 67.
    request AllocateProducerIdsRequest => AllocateProducerIdsResponse, key AllocateProducerIds,
    versions 0-0, flexible 0 {
        broker_id: i32;
        broker_epoch: i64 = -1;
    }
}

message! {
    /// The response of AllocateProducerIds, API key 67.
    response AllocateProducerIdsResponse, key AllocateProducerIds, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        producer_id_start: i64;
        producer_id_len: i32;
    }
}
