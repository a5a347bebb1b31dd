//! ElectLeaders, API key 43.

use crate::messages::dsl::message;

message! {
    /// The request of ElectLeaders, API key 43.
    request ElectLeadersRequest => ElectLeadersResponse, key ElectLeaders, versions 0-2, flexible 2 {
        election_type: i8 [1..];
        topic_partitions: Option<Vec<TopicPartitions>> = Some(Vec::new());
        timeout_ms: i32 = 60000;
    }

    struct TopicPartitions {
        topic: String;
        partitions: Vec<i32>;
    }
}

message! {
    /// The response of ElectLeaders, API key 43.
    response ElectLeadersResponse, key ElectLeaders, versions 0-2, flexible 2 {
        throttle_time_ms: i32;
        error_code: i16 [1..];
        replica_election_results: Vec<ReplicaElectionResult>;
    }

    struct ReplicaElectionResult {
        topic: String;
        partition_result: Vec<PartitionResult>;
    }

    struct PartitionResult {
        partition_id: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
    }
}
