//! AlterPartitionReassignments, API key 45.

use crate::messages::dsl::message;

message! {
    /// The request of AlterPartitionReassignments, API key 45.
    request AlterPartitionReassignmentsRequest => AlterPartitionReassignmentsResponse,
    key AlterPartitionReassignments, versions 0-1, flexible 0 {
        timeout_ms: i32 = 60000;
        allow_replication_factor_change: bool [1..] = true;
        topics: Vec<ReassignableTopic>;
    }

    struct ReassignableTopic {
        name: String;
        partitions: Vec<ReassignablePartition>;
    }

    struct ReassignablePartition {
        partition_index: i32;
        replicas: Option<Vec<i32>>;
    }
}

message! {
    /// The response of AlterPartitionReassignments, API key 45.
    response AlterPartitionReassignmentsResponse, key AlterPartitionReassignments, versions 0-1, flexible 0 {
        throttle_time_ms: i32;
        allow_replication_factor_change: bool [1..] = true;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        responses: Vec<ReassignableTopicResponse>;
    }

    struct ReassignableTopicResponse {
        name: String;
        partitions: Vec<ReassignablePartitionResponse>;
    }

    struct ReassignablePartitionResponse {
        partition_index: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
    }
}
