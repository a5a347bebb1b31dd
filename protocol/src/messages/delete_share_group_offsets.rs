//! DeleteShareGroupOffsets, API key 92.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of DeleteShareGroupOffsets, API key 92.
    request DeleteShareGroupOffsetsRequest => DeleteShareGroupOffsetsResponse, key DeleteShareGroupOffsets,
    versions 0-0, flexible 0 {
        group_id: String;
        topics: Vec<DeleteShareGroupOffsetsRequestTopic>;
    }

    struct DeleteShareGroupOffsetsRequestTopic {
        topic_name: String;
    }
}

message! {
    /// The response of DeleteShareGroupOffsets, API key 92.
    response DeleteShareGroupOffsetsResponse, key DeleteShareGroupOffsets, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String>;
        responses: Vec<DeleteShareGroupOffsetsResponseTopic>;
    }

    struct DeleteShareGroupOffsetsResponseTopic {
        topic_name: String;
        topic_id: Uuid;
        error_code: i16;
        error_message: Option<String>;
    }
}
