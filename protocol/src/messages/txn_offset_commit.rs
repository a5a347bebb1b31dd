//! TxnOffsetCommit, API key 28.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of TxnOffsetCommit, API key 28.
    request TxnOffsetCommitRequest => TxnOffsetCommitResponse, key TxnOffsetCommit, versions 0-6, flexible 3 {
        transactional_id: String;
        group_id: String;
        producer_id: i64;
        producer_epoch: i16;
        generation_id_or_member_epoch: i32 [3..] = -1;
        member_id: String [3..];
        group_instance_id: Option<String> [3..];
        topics: Vec<TxnOffsetCommitRequestTopic>;
    }

    struct TxnOffsetCommitRequestTopic {
        name: String [..=5];
        topic_id: Uuid [6..];
        partitions: Vec<TxnOffsetCommitRequestPartition>;
    }

    struct TxnOffsetCommitRequestPartition {
        partition_index: i32;
        committed_offset: i64;
        committed_leader_epoch: i32 [2..] = -1;
        committed_metadata: Option<String> = Some(String::new());
    }
}

message! {
    /// The response of TxnOffsetCommit, API key 28.
    response TxnOffsetCommitResponse, key TxnOffsetCommit, versions 0-6, flexible 3 {
        throttle_time_ms: i32;
        topics: Vec<TxnOffsetCommitResponseTopic>;
    }

    struct TxnOffsetCommitResponseTopic {
        name: String [..=5];
        topic_id: Uuid [6..];
        partitions: Vec<TxnOffsetCommitResponsePartition>;
    }

    struct TxnOffsetCommitResponsePartition {
        partition_index: i32;
        error_code: i16;
    }
}
