//! OffsetFetch, API key 9.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of OffsetFetch, API key 9.
    request OffsetFetchRequest => OffsetFetchResponse, key OffsetFetch, versions 1-10, flexible 6 {
        group_id: String [..=7];
        topics: Option<Vec<OffsetFetchRequestTopic>> [..=7], null [2..] = Some(Vec::new());
        groups: Vec<OffsetFetchRequestGroup> [8..];
        require_stable: bool [7..];
    }

    struct OffsetFetchRequestTopic {
        name: String;
        partition_indexes: Vec<i32>;
    }

    struct OffsetFetchRequestGroup {
        group_id: String;
        member_id: Option<String> [9..];
        member_epoch: i32 [9..] = -1;
        topics: Option<Vec<OffsetFetchRequestTopics>> = Some(Vec::new());
    }

    struct OffsetFetchRequestTopics {
        name: String [..=9];
        topic_id: Uuid [10..];
        partition_indexes: Vec<i32>;
    }
}

message! {
    /// The response of OffsetFetch, API key 9.
    response OffsetFetchResponse, key OffsetFetch, versions 1-10, flexible 6 {
        throttle_time_ms: i32 [3..];
        topics: Vec<OffsetFetchResponseTopic> [..=7];
        error_code: i16 [2..=7];
        groups: Vec<OffsetFetchResponseGroup> [8..];
    }

    struct OffsetFetchResponseTopic {
        name: String;
        partitions: Vec<OffsetFetchResponsePartition>;
    }

    struct OffsetFetchResponsePartition {
        partition_index: i32;
        committed_offset: i64;
        committed_leader_epoch: i32 [5..] = -1;
        metadata: Option<String> = Some(String::new());
        error_code: i16;
    }

    struct OffsetFetchResponseGroup {
        group_id: String;
        topics: Vec<OffsetFetchResponseTopics>;
        error_code: i16;
    }

    struct OffsetFetchResponseTopics {
        name: String [..=9];
        topic_id: Uuid [10..];
        partitions: Vec<OffsetFetchResponsePartitions>;
    }

    struct OffsetFetchResponsePartitions {
        partition_index: i32;
        committed_offset: i64;
        committed_leader_epoch: i32 = -1;
        metadata: Option<String> = Some(String::new());
        error_code: i16;
    }
}
