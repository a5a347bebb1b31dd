//! BeginQuorumEpoch, API key 53.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of BeginQuorumEpoch, API key 53.
    request BeginQuorumEpochRequest => BeginQuorumEpochResponse, key BeginQuorumEpoch,
    versions 0-1, flexible 1 {
        cluster_id: Option<String>;
        voter_id: i32 [1..] = -1;
        topics: Vec<RequestTopicData>;
        leader_endpoints: Vec<LeaderEndpoint> [1..];
    }

    struct RequestTopicData {
        topic_name: String;
        partitions: Vec<RequestPartitionData>;
    }

    struct RequestPartitionData {
        partition_index: i32;
        voter_directory_id: Uuid [1..];
        leader_id: i32;
        leader_epoch: i32;
    }

    struct LeaderEndpoint {
        name: String;
        host: String;
        port: u16;
    }
}

message! {
    /// The response of BeginQuorumEpoch, API key 53.
    response BeginQuorumEpochResponse, key BeginQuorumEpoch, versions 0-1, flexible 1 {
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
