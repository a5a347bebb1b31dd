//! ReadShareGroupState, API key 84.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of ReadShareGroupState, API key 84.
    request ReadShareGroupStateRequest => ReadShareGroupStateResponse, key ReadShareGroupState,
    versions 0-0, flexible 0 {
        group_id: String;
        topics: Vec<ReadStateData>;
    }

    struct ReadStateData {
        topic_id: Uuid;
        partitions: Vec<PartitionData>;
    }

    struct PartitionData {
        partition: i32;
        leader_epoch: i32;
    }
}

message! {
    /// The response of ReadShareGroupState, API key 84.
    response ReadShareGroupStateResponse, key ReadShareGroupState, versions 0-0, flexible 0 {
        results: Vec<ReadStateResult>;
    }

    struct ReadStateResult {
        topic_id: Uuid;
        partitions: Vec<PartitionResult>;
    }

    struct PartitionResult {
        partition: i32;
        error_code: i16;
        error_message: Option<String>;
        state_epoch: i32;
        start_offset: i64;
        state_batches: Vec<StateBatch>;
    }

    struct StateBatch {
        first_offset: i64;
        last_offset: i64;
        delivery_state: i8;
        delivery_count: i16;
    }
}
