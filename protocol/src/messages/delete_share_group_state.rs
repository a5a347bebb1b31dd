//! DeleteShareGroupState, API key 86.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of DeleteShareGroupState, API key 86.
    request DeleteShareGroupStateRequest => DeleteShareGroupStateResponse, key DeleteShareGroupState,
    versions 0-0, flexible 0 {
        group_id: String;
        topics: Vec<DeleteStateData>;
    }

    struct DeleteStateData {
        topic_id: Uuid;
        partitions: Vec<PartitionData>;
    }

    struct PartitionData {
        partition: i32;
    }
}

message! {
    /// The response of DeleteShareGroupState, API key 86.
    response DeleteShareGroupStateResponse, key DeleteShareGroupState, versions 0-0, flexible 0 {
        results: Vec<DeleteStateResult>;
    }

    struct DeleteStateResult {
        topic_id: Uuid;
        partitions: Vec<PartitionResult>;
    }

    struct PartitionResult {
        partition: i32;
        error_code: i16;
        error_message: Option<String>;
    }
}
