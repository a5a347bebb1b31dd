//! AssignReplicasToDirs, API key 73.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of AssignReplicasToDirs, API key 73.
    request AssignReplicasToDirsRequest => AssignReplicasToDirsResponse, key AssignReplicasToDirs,
    versions 0-0, flexible 0 {
        broker_id: i32;
        broker_epoch: i64 = -1;
        directories: Vec<RequestDirectoryData>;
    }

    struct RequestDirectoryData {
        id: Uuid;
        topics: Vec<RequestTopicData>;
    }

    struct RequestTopicData {
        topic_id: Uuid;
        partitions: Vec<RequestPartitionData>;
    }

    struct RequestPartitionData {
        partition_index: i32;
    }
}

message! {
    /// The response of AssignReplicasToDirs, API key 73.
    response AssignReplicasToDirsResponse, key AssignReplicasToDirs, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        directories: Vec<ResponseDirectoryData>;
    }

    struct ResponseDirectoryData {
        id: Uuid;
        topics: Vec<ResponseTopicData>;
    }

    struct ResponseTopicData {
        topic_id: Uuid;
        partitions: Vec<ResponsePartitionData>;
    }

    struct ResponsePartitionData {
        partition_index: i32;
        error_code: i16;
    }
}
