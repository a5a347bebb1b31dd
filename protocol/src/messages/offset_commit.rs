//! OffsetCommit, API key 8.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of OffsetCommit, API key 8.
    request OffsetCommitRequest => OffsetCommitResponse, key OffsetCommit, versions 2-10, flexible 8 {
        group_id: String;
        generation_id_or_member_epoch: i32 = -1;
        member_id: String;
        group_instance_id: Option<String> [7..];
        retention_time_ms: i64 [..=4] = -1;
        topics: Vec<OffsetCommitRequestTopic>;
    }

    struct OffsetCommitRequestTopic {
        name: String [..=9];
        topic_id: Uuid [10..];
        partitions: Vec<OffsetCommitRequestPartition>;
    }

    struct OffsetCommitRequestPartition {
        partition_index: i32;
        committed_offset: i64;
        committed_leader_epoch: i32 [6..] = -1;
        committed_metadata: Option<String> = Some(String::new());
    }
}

message! {
    /// The response of OffsetCommit, API key 8.
    response OffsetCommitResponse, key OffsetCommit, versions 2-10, flexible 8 {
        throttle_time_ms: i32 [3..];
        topics: Vec<OffsetCommitResponseTopic>;
    }

    struct OffsetCommitResponseTopic {
        name: String [..=9];
        topic_id: Uuid [10..];
        partitions: Vec<OffsetCommitResponsePartition>;
    }

    struct OffsetCommitResponsePartition {
        partition_index: i32;
        error_code: i16;
    }
}
