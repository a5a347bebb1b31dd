//! WriteShareGroupState, API key 85.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of WriteShareGroupState, API key 85.
    request WriteShareGroupStateRequest => WriteShareGroupStateResponse, key WriteShareGroupState,
    versions 0-1, flexible 0 {
        group_id: String;
        topics: Vec<WriteStateData>;
    }

    struct WriteStateData {
        topic_id: Uuid;
        partitions: Vec<PartitionData>;
    }

    struct PartitionData {
        partition: i32;
        state_epoch: i32;
        leader_epoch: i32;
        start_offset: i64;
        delivery_complete_count: i32 [1..] = -1;
        state_batches: Vec<StateBatch>;
    }

    struct StateBatch {
        first_offset: i64;
        last_offset: i64;
        delivery_state: i8;
        delivery_count: i16;
    }
}

message! {
    /// The response of WriteShareGroupState, API key 85.
    response WriteShareGroupStateResponse, key WriteShareGroupState, versions 0-1, flexible 0 {
        results: Vec<WriteStateResult>;
    }

    struct WriteStateResult {
        topic_id: Uuid;
        partitions: Vec<PartitionResult>;
    }

    struct PartitionResult {
        partition: i32;
        error_code: i16;
        error_message: Option<String>;
    }
}
