//! ReadShareGroupStateSummary, API key 87.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of ReadShareGroupStateSummary, API key 87.
    request ReadShareGroupStateSummaryRequest => ReadShareGroupStateSummaryResponse,
    key ReadShareGroupStateSummary, versions 0-1, flexible 0 {
        group_id: String;
        topics: Vec<ReadStateSummaryData>;
    }

    struct ReadStateSummaryData {
        topic_id: Uuid;
        partitions: Vec<PartitionData>;
    }

    struct PartitionData {
        partition: i32;
        leader_epoch: i32;
    }
}

message! {
    /// The response of ReadShareGroupStateSummary, API key 87.
    response ReadShareGroupStateSummaryResponse, key ReadShareGroupStateSummary, versions 0-1, flexible 0 {
        results: Vec<ReadStateSummaryResult>;
    }

    struct ReadStateSummaryResult {
        topic_id: Uuid;
        partitions: Vec<PartitionResult>;
    }

    struct PartitionResult {
        partition: i32;
        error_code: i16;
        error_message: Option<String>;
        state_epoch: i32;
        leader_epoch: i32;
        start_offset: i64;
        delivery_complete_count: i32 [1..] = -1;
    }
}
