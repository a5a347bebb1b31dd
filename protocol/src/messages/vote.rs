//! Vote, API key 52.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of Vote, API key 52.
    request VoteRequest => VoteResponse, key Vote, versions 0-2, flexible 0 {
        cluster_id: Option<String>;
        voter_id: i32 [1..] = -1;
        topics: Vec<RequestTopicData>;
    }

    struct RequestTopicData {
        topic_name: String;
        partitions: Vec<RequestPartitionData>;
    }

    struct RequestPartitionData {
        partition_index: i32;
        replica_epoch: i32;
        replica_id: i32;
        replica_directory_id: Uuid [1..];
        voter_directory_id: Uuid [1..];
        last_offset_epoch: i32;
        last_offset: i64;
        pre_vote: bool [2..];
    }
}

message! {
    /// The response of Vote, API key 52.
    response VoteResponse, key Vote, versions 0-2, flexible 0 {
        error_code: i16;
        topics: Vec<ResponseTopicData>;
        node_endpoints: Vec<NodeEndpoint> [1..], tag 0;
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
        vote_granted: bool;
    }

    struct NodeEndpoint {
        node_id: i32;
        host: String;
        port: u16;
    }
}
