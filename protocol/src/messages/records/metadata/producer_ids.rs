//! Metadata records about blocks of producer ids.

use crate::messages::dsl::message;

message! {
    /// Metadata record 15.
    record ProducerIdsRecord, key 15, versions 0-0, flexible 0 {
        broker_id: i32;
        broker_epoch: i64 = -1;
        next_producer_id: i64;
    }
}
