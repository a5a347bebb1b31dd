//! OffsetForLeaderEpoch, API key 23.

use crate::messages::dsl::message;

message! {
    /// The request of OffsetForLeaderEpoch, API key 23.
    request OffsetForLeaderEpochRequest => OffsetForLeaderEpochResponse, key OffsetForLeaderEpoch,
    versions 2-4, flexible 4 {
        replica_id: i32 [3..] = -2;
        topics: Vec<OffsetForLeaderTopic>;
    }

    struct OffsetForLeaderTopic {
        topic: String;
        partitions: Vec<OffsetForLeaderPartition>;
    }

    struct OffsetForLeaderPartition {
        partition: i32;
        current_leader_epoch: i32 = -1;
        leader_epoch: i32;
    }
}

message! {
    /// The response of OffsetForLeaderEpoch, API key 23.
    response OffsetForLeaderEpochResponse, key OffsetForLeaderEpoch, versions 2-4, flexible 4 {
        throttle_time_ms: i32;
        topics: Vec<OffsetForLeaderTopicResult>;
    }

    struct OffsetForLeaderTopicResult {
        topic: String;
        partitions: Vec<EpochEndOffset>;
    }

    struct EpochEndOffset {
        error_code: i16;
        partition: i32;
        leader_epoch: i32 = -1;
        end_offset: i64 = -1;
    }
}
