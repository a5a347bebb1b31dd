//! DeleteRecords, API key 21.

use crate::messages::dsl::message;

message! {
    /// The request of DeleteRecords, API key 21.
    request DeleteRecordsRequest => DeleteRecordsResponse, key DeleteRecords, versions 0-2, flexible 2 {
        topics: Vec<DeleteRecordsTopic>;
        timeout_ms: i32;
    }

    struct DeleteRecordsTopic {
        name: String;
        partitions: Vec<DeleteRecordsPartition>;
    }

    struct DeleteRecordsPartition {
        partition_index: i32;
        offset: i64;
    }
}

message! {
    /// The response of DeleteRecords, API key 21.
    response DeleteRecordsResponse, key DeleteRecords, versions 0-2, flexible 2 {
        throttle_time_ms: i32;
        topics: Vec<DeleteRecordsTopicResult>;
    }

    struct DeleteRecordsTopicResult {
        name: String;
        partitions: Vec<DeleteRecordsPartitionResult>;
    }

    struct DeleteRecordsPartitionResult {
        partition_index: i32;
        low_watermark: i64;
        error_code: i16;
    }
}
