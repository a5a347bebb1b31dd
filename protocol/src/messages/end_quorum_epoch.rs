//! EndQuorumEpoch, API key 54.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of EndQuorumEpoch, API key 54.
    request EndQuorumEpochRequest => EndQuorumEpochResponse, key EndQuorumEpoch, versions 0-1, flexible 1 {
        cluster_id: Option<String>;
        topics: Vec<RequestTopicData>;
        leader_endpoints: Vec<LeaderEndpoint> [1..];
    }

    struct RequestTopicData {
        topic_name: String;
        partitions: Vec<RequestPartitionData>;
    }

    struct RequestPartitionData {
        partition_index: i32;
        leader_id: i32;
        leader_epoch: i32;
        preferred_successors: Vec<i32> [..=0];
        preferred_candidates: Vec<ReplicaInfo> [1..];
    }

    struct ReplicaInfo {
        candidate_id: i32;
        candidate_directory_id: Uuid;
    }

    struct LeaderEndpoint {
        name: String;
        host: String;
        port: u16;
    }
}

message! {
    /// The response of EndQuorumEpoch, API key 54.
    response EndQuorumEpochResponse, key EndQuorumEpoch, versions 0-1, flexible 1 {
        error_code: i16;
        topics: Vec<ResponseTopicData>;
        node_endpoints: Vec<NodeEndpoint>, tag 0;
    }

    struct ResponseTopicData {
        topic_name: String;
        partitions: Vec<ResponsePartitionData>;
    }

    struct ResponsePartitionData {
        partition_index: i32;
        error_code: i16;
        leader_id: i32;
        leader_epoch: i32;
    }

    struct NodeEndpoint {
        node_id: i32;
        host: String;
        port: u16;
    }
}
