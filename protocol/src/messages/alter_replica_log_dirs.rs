//! AlterReplicaLogDirs, API key 34.

use crate::messages::dsl::message;

message! {
    /// The request of AlterReplicaLogDirs, API key 34.
    request AlterReplicaLogDirsRequest => AlterReplicaLogDirsResponse, key AlterReplicaLogDirs,
    versions 1-2, flexible 2 {
        dirs: Vec<AlterReplicaLogDir>;
    }

    struct AlterReplicaLogDir {
        path: String;
        topics: Vec<AlterReplicaLogDirTopic>;
    }

    struct AlterReplicaLogDirTopic {
        name: String;
        partitions: Vec<i32>;
    }
}

message! {
    /// The response of AlterReplicaLogDirs, API key 34.
    response AlterReplicaLogDirsResponse, key AlterReplicaLogDirs, versions 1-2, flexible 2 {
        throttle_time_ms: i32;
        results: Vec<AlterReplicaLogDirTopicResult>;
    }

    struct AlterReplicaLogDirTopicResult {
        topic_name: String;
        partitions: Vec<AlterReplicaLogDirPartitionResult>;
    }

    struct AlterReplicaLogDirPartitionResult {
        partition_index: i32;
        error_code: i16;
    }
}
