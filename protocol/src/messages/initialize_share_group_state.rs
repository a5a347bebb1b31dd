//! InitializeShareGroupState, API key 83.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of InitializeShareGroupState, API key 83.
    request InitializeShareGroupStateRequest => InitializeShareGroupStateResponse,
    key InitializeShareGroupState, versions 0-0, flexible 0 {
        group_id: String;
        topics: Vec<InitializeStateData>;
    }

    struct InitializeStateData {
        topic_id: Uuid;
        partitions: Vec<PartitionData>;
    }

    struct PartitionData {
        partition: i32;
        state_epoch: i32;
        start_offset: i64;
    }
}

message! {
    /// The response of InitializeShareGroupState, API key 83.
    response InitializeShareGroupStateResponse, key InitializeShareGroupState, versions 0-0, flexible 0 {
        results: Vec<InitializeStateResult>;
    }

    struct InitializeStateResult {
        topic_id: Uuid;
        partitions: Vec<PartitionResult>;
    }

    struct PartitionResult {
        partition: i32;
        error_code: i16;
        error_message: Option<String>;
    }
}
