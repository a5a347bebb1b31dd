//! Fetch, API key 1.

use bytes::Bytes;

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of Fetch, API key 1.
    request FetchRequest => FetchResponse, key Fetch, versions 4-18, flexible 12 {
        replica_id: i32 [..=14] = -1;
        max_wait_ms: i32;
        min_bytes: i32;
        max_bytes: i32 = i32::MAX;
        isolation_level: i8;
        session_id: i32 [7..];
        session_epoch: i32 [7..] = -1;
        topics: Vec<FetchTopic>;
        forgotten_topics_data: Vec<ForgottenTopic> [7..];
        rack_id: String [11..];
        cluster_id: Option<String>, tag 0;
        replica_state: ReplicaState [15..], tag 1;
    }

    struct ReplicaState {
        replica_id: i32 = -1;
        replica_epoch: i64 = -1;
    }

    struct FetchTopic {
        topic: String [..=12];
        topic_id: Uuid [13..];
        partitions: Vec<FetchPartition>;
    }

    struct FetchPartition {
        partition: i32;
        current_leader_epoch: i32 [9..] = -1;
        fetch_offset: i64;
        last_fetched_epoch: i32 [12..] = -1;
        log_start_offset: i64 [5..] = -1;
        partition_max_bytes: i32;
        replica_directory_id: Uuid [17..], tag 0;
        high_watermark: i64 [18..], tag 1 = i64::MAX;
    }

    struct ForgottenTopic {
        topic: String [..=12];
        topic_id: Uuid [13..];
        partitions: Vec<i32>;
    }
}

message! {
    /// The response of Fetch, API key 1.
    response FetchResponse, key Fetch, versions 4-18, flexible 12 {
        throttle_time_ms: i32;
        error_code: i16 [7..];
        session_id: i32 [7..];
        responses: Vec<FetchableTopicResponse>;
        node_endpoints: Vec<NodeEndpoint> [16..], tag 0;
    }

    struct FetchableTopicResponse {
        topic: String [..=12];
        topic_id: Uuid [13..];
        partitions: Vec<PartitionData>;
    }

    struct PartitionData {
        partition_index: i32;
        error_code: i16;
        high_watermark: i64;
        last_stable_offset: i64 = -1;
        log_start_offset: i64 [5..] = -1;
        aborted_transactions: Option<Vec<AbortedTransaction>> = Some(Vec::new());
        preferred_read_replica: i32 [11..] = -1;
        records: Option<Bytes>;
        diverging_epoch: EpochEndOffset, tag 0;
        current_leader: LeaderIdAndEpoch, tag 1;
        snapshot_id: SnapshotId, tag 2;
    }

    struct EpochEndOffset {
        epoch: i32 = -1;
        end_offset: i64 = -1;
    }

    struct LeaderIdAndEpoch {
        leader_id: i32 = -1;
        leader_epoch: i32 = -1;
    }

    struct SnapshotId {
        end_offset: i64 = -1;
        epoch: i32 = -1;
    }

    struct AbortedTransaction {
        producer_id: i64;
        first_offset: i64;
    }

    struct NodeEndpoint {
        node_id: i32;
        host: String;
        port: i32;
        rack: Option<String>;
    }
}
