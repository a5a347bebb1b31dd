//! FetchSnapshot, API key 59.

use bytes::Bytes;

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of FetchSnapshot, API key 59.
    request FetchSnapshotRequest => FetchSnapshotResponse, key FetchSnapshot, versions 0-1, flexible 0 {
        replica_id: i32 = -1;
        max_bytes: i32 = i32::MAX;
        topics: Vec<RequestTopicSnapshot>;
        cluster_id: Option<String>, tag 0;
    }

    struct RequestTopicSnapshot {
        name: String;
        partitions: Vec<RequestPartitionSnapshot>;
    }

    struct RequestPartitionSnapshot {
        partition: i32;
        current_leader_epoch: i32;
        snapshot_id: SnapshotId;
        position: i64;
        replica_directory_id: Uuid [1..], tag 0;
    }

    struct SnapshotId {
        end_offset: i64;
        epoch: i32;
    }
}

message! {
    /// The response of FetchSnapshot, API key 59.
    response FetchSnapshotResponse, key FetchSnapshot, versions 0-1, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        topics: Vec<ResponseTopicSnapshot>;
        node_endpoints: Vec<NodeEndpoint> [1..], tag 0;
    }

    struct ResponseTopicSnapshot {
        name: String;
        partitions: Vec<ResponsePartitionSnapshot>;
    }

    struct ResponsePartitionSnapshot {
        index: i32;
        error_code: i16;
        snapshot_id: SnapshotId;
        size: i64;
        position: i64;
        unaligned_records: Bytes;
        current_leader: LeaderIdAndEpoch, tag 0;
    }

    struct LeaderIdAndEpoch {
        leader_id: i32;
        leader_epoch: i32;
    }

    struct NodeEndpoint {
        node_id: i32;
        host: String;
        port: u16;
    }
}
