//! DescribeShareGroupOffsets, API key 90.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of DescribeShareGroupOffsets, API key 90.
    request DescribeShareGroupOffsetsRequest => DescribeShareGroupOffsetsResponse,
    key DescribeShareGroupOffsets, versions 0-1, flexible 0 {
        groups: Vec<DescribeShareGroupOffsetsRequestGroup>;
    }

    struct DescribeShareGroupOffsetsRequestGroup {
        group_id: String;
        topics: Option<Vec<DescribeShareGroupOffsetsRequestTopic>> = Some(Vec::new());
    }

    struct DescribeShareGroupOffsetsRequestTopic {
        topic_name: String;
        partitions: Vec<i32>;
    }
}

message! {
    /// The response of DescribeShareGroupOffsets, API key 90.
    response DescribeShareGroupOffsetsResponse, key DescribeShareGroupOffsets, versions 0-1, flexible 0 {
        throttle_time_ms: i32;
        groups: Vec<DescribeShareGroupOffsetsResponseGroup>;
    }

    struct DescribeShareGroupOffsetsResponseGroup {
        group_id: String;
        topics: Vec<DescribeShareGroupOffsetsResponseTopic>;
        error_code: i16;
        error_message: Option<String>;
    }

    struct DescribeShareGroupOffsetsResponseTopic {
        topic_name: String;
        topic_id: Uuid;
        partitions: Vec<DescribeShareGroupOffsetsResponsePartition>;
    }

    struct DescribeShareGroupOffsetsResponsePartition {
        partition_index: i32;
        start_offset: i64;
        leader_epoch: i32;
        lag: i64 [1..] = -1;
        error_code: i16;
        error_message: Option<String>;
    }
}
