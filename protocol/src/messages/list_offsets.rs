//! ListOffsets, API key 2.

use crate::messages::dsl::message;

message! {
    /// The request of ListOffsets, API key 2.
    request ListOffsetsRequest => ListOffsetsResponse, key ListOffsets, versions 1-11, flexible 6 {
        replica_id: i32;
        isolation_level: i8 [2..];
        topics: Vec<ListOffsetsTopic>;
        timeout_ms: i32 [10..];
    }

    struct ListOffsetsTopic {
        name: String;
        partitions: Vec<ListOffsetsPartition>;
    }

    struct ListOffsetsPartition {
        partition_index: i32;
        current_leader_epoch: i32 [4..] = -1;
        timestamp: i64;
    }
}

message! {
    /// The response of ListOffsets, API key 2.
    response ListOffsetsResponse, key ListOffsets, versions 1-11, flexible 6 {
        throttle_time_ms: i32 [2..];
        topics: Vec<ListOffsetsTopicResponse>;
    }

    struct ListOffsetsTopicResponse {
        name: String;
        partitions: Vec<ListOffsetsPartitionResponse>;
    }

    struct ListOffsetsPartitionResponse {
        partition_index: i32;
        error_code: i16;
        timestamp: i64 = -1;
        offset: i64 = -1;
        leader_epoch: i32 [4..] = -1;
    }
}
