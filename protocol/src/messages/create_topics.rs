//! CreateTopics, API key 19.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of CreateTopics, API key 19.
    request CreateTopicsRequest => CreateTopicsResponse, key CreateTopics, versions 2-7, flexible 5 {
        topics: Vec<CreatableTopic>;
        timeout_ms: i32 = 60000;
        validate_only: bool;
    }

    struct CreatableTopic {
        name: String;
        num_partitions: i32;
        replication_factor: i16;
        assignments: Vec<CreatableReplicaAssignment>;
        configs: Vec<CreatableTopicConfig>;
    }

    struct CreatableReplicaAssignment {
        partition_index: i32;
        broker_ids: Vec<i32>;
    }

    struct CreatableTopicConfig {
        name: String;
        value: Option<String> = Some(String::new());
    }
}

message! {
    /// The response of CreateTopics, API key 19.
    response CreateTopicsResponse, key CreateTopics, versions 2-7, flexible 5 {
        throttle_time_ms: i32;
        topics: Vec<CreatableTopicResult>;
    }

    struct CreatableTopicResult {
        name: String;
        topic_id: Uuid [7..];
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        num_partitions: i32 [5..] = -1;
        replication_factor: i16 [5..] = -1;
        configs: Option<Vec<CreatableTopicConfigs>> [5..] = Some(Vec::new());
        topic_config_error_code: i16, tag 0;
    }

    struct CreatableTopicConfigs {
        name: String;
        value: Option<String> = Some(String::new());
        read_only: bool;
        config_source: i8 = -1;
        is_sensitive: bool;
    }
}
