//! ListPartitionReassignments, API key 46.

use crate::messages::dsl::message;

message! {
    /// The request of ListPartitionReassignments, API key 46.
    request ListPartitionReassignmentsRequest => ListPartitionReassignmentsResponse,
    key ListPartitionReassignments, versions 0-0, flexible 0 {
        timeout_ms: i32 = 60000;
        topics: Option<Vec<ListPartitionReassignmentsTopics>>;
    }

    struct ListPartitionReassignmentsTopics {
        name: String;
        partition_indexes: Vec<i32>;
    }
}

message! {
    /// The response of ListPartitionReassignments, API key 46.
    response ListPartitionReassignmentsResponse, key ListPartitionReassignments, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        topics: Vec<OngoingTopicReassignment>;
    }

    struct OngoingTopicReassignment {
        name: String;
        partitions: Vec<OngoingPartitionReassignment>;
    }

    struct OngoingPartitionReassignment {
        partition_index: i32;
        replicas: Vec<i32>;
        adding_replicas: Vec<i32>;
        removing_replicas: Vec<i32>;
    }
}
