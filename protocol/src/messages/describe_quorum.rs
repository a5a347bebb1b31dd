//! DescribeQuorum, API key 55.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of DescribeQuorum, API key 55.
    request DescribeQuorumRequest => DescribeQuorumResponse, key DescribeQuorum, versions 0-2, flexible 0 {
        topics: Vec<RequestTopicData>;
    }

    struct RequestTopicData {
        topic_name: String;
        partitions: Vec<RequestPartitionData>;
    }

    struct RequestPartitionData {
        partition_index: i32;
    }
}

message! {
    /// The response of DescribeQuorum, API key 55.
    response DescribeQuorumResponse, key DescribeQuorum, versions 0-2, flexible 0 {
        error_code: i16;
        error_message: Option<String> [2..] = Some(String::new());
        topics: Vec<ResponseTopicData>;
        nodes: Vec<Node> [2..];
    }

    struct ResponseTopicData {
        topic_name: String;
        partitions: Vec<ResponsePartitionData>;
    }

    struct ResponsePartitionData {
        partition_index: i32;
        error_code: i16;
        error_message: Option<String> [2..] = Some(String::new());
        leader_id: i32;
        leader_epoch: i32;
        high_watermark: i64;
        current_voters: Vec<ReplicaState>;
        observers: Vec<ReplicaState>;
    }

    struct ReplicaState {
        replica_id: i32;
        replica_directory_id: Uuid [2..];
        log_end_offset: i64;
        last_fetch_timestamp: i64 [1..] = -1;
        last_caught_up_timestamp: i64 [1..] = -1;
    }

    struct Node {
        node_id: i32;
        listeners: Vec<Listener>;
    }

    struct Listener {
        name: String;
        host: String;
        port: u16;
    }
}
