//! AlterShareGroupOffsets, API key 91.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of AlterShareGroupOffsets, API key 91.
    request AlterShareGroupOffsetsRequest => AlterShareGroupOffsetsResponse, key AlterShareGroupOffsets,
    versions 0-0, flexible 0 {
        group_id: String;
        topics: Vec<AlterShareGroupOffsetsRequestTopic>;
    }

    struct AlterShareGroupOffsetsRequestTopic {
        topic_name: String;
        partitions: Vec<AlterShareGroupOffsetsRequestPartition>;
    }

    struct AlterShareGroupOffsetsRequestPartition {
        partition_index: i32;
        start_offset: i64;
    }
}

message! {
    /// The response of AlterShareGroupOffsets, API key 91.
    response AlterShareGroupOffsetsResponse, key AlterShareGroupOffsets, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String>;
        responses: Vec<AlterShareGroupOffsetsResponseTopic>;
    }

    struct AlterShareGroupOffsetsResponseTopic {
        topic_name: String;
        topic_id: Uuid;
        partitions: Vec<AlterShareGroupOffsetsResponsePartition>;
    }

    struct AlterShareGroupOffsetsResponsePartition {
        partition_index: i32;
        error_code: i16;
        error_message: Option<String>;
    }
}
