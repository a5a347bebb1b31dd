//! CreatePartitions, API key 37.

use crate::messages::dsl::message;

message! {
    /// The request of CreatePartitions, API key 37.
    request CreatePartitionsRequest => CreatePartitionsResponse, key CreatePartitions,
    versions 0-3, flexible 2 {
        topics: Vec<CreatePartitionsTopic>;
        timeout_ms: i32;
        validate_only: bool;
    }

    struct CreatePartitionsTopic {
        name: String;
        count: i32;
        assignments: Option<Vec<CreatePartitionsAssignment>> = Some(Vec::new());
    }

    struct CreatePartitionsAssignment {
        broker_ids: Vec<i32>;
    }
}

message! {
    /// The response of CreatePartitions, API key 37.
    response CreatePartitionsResponse, key CreatePartitions, versions 0-3, flexible 2 {
        throttle_time_ms: i32;
        results: Vec<CreatePartitionsTopicResult>;
    }

    struct CreatePartitionsTopicResult {
        name: String;
        error_code: i16;
        error_message: Option<String>;
    }
}
