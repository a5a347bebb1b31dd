//! OffsetDelete, API key 47.

use crate::messages::dsl::message;

message! {
    /// The request of OffsetDelete, API key 47.
    request OffsetDeleteRequest => OffsetDeleteResponse, key OffsetDelete, versions 0-0 {
        group_id: String;
        topics: Vec<OffsetDeleteRequestTopic>;
    }

    struct OffsetDeleteRequestTopic {
        name: String;
        partitions: Vec<OffsetDeleteRequestPartition>;
    }

    struct OffsetDeleteRequestPartition {
        partition_index: i32;
    }
}

message! {
    /// The response of OffsetDelete, API key 47.
    response OffsetDeleteResponse, key OffsetDelete, versions 0-0 {
        error_code: i16;
        throttle_time_ms: i32;
        topics: Vec<OffsetDeleteResponseTopic>;
    }

    struct OffsetDeleteResponseTopic {
        name: String;
        partitions: Vec<OffsetDeleteResponsePartition>;
    }

    struct OffsetDeleteResponsePartition {
        partition_index: i32;
        error_code: i16;
    }
}
