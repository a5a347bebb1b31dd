//! DescribeLogDirs, API key 35.

use crate::messages::dsl::message;

message! {
    /// The request of DescribeLogDirs, API key 35.
    request DescribeLogDirsRequest => DescribeLogDirsResponse, key DescribeLogDirs, versions 1-5, flexible 2 {
        topics: Option<Vec<DescribableLogDirTopic>> = Some(Vec::new());
    }

    struct DescribableLogDirTopic {
        topic: String;
        partitions: Vec<i32>;
    }
}

message! {
    /// The response of DescribeLogDirs, API key 35.
    response DescribeLogDirsResponse, key DescribeLogDirs, versions 1-5, flexible 2 {
        throttle_time_ms: i32;
        error_code: i16 [3..];
        results: Vec<DescribeLogDirsResult>;
    }

    struct DescribeLogDirsResult {
        error_code: i16;
        log_dir: String;
        topics: Vec<DescribeLogDirsTopic>;
        total_bytes: i64 [4..] = -1;
        usable_bytes: i64 [4..] = -1;
        is_cordoned: bool [5..];
    }

    struct DescribeLogDirsTopic {
        name: String;
        partitions: Vec<DescribeLogDirsPartition>;
    }

    struct DescribeLogDirsPartition {
        partition_index: i32;
        partition_size: i64;
        offset_lag: i64;
        is_future_key: bool;
    }
}
