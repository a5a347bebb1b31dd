//! DescribeTopicPartitions, API key 75.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of DescribeTopicPartitions, API key 75.
    request DescribeTopicPartitionsRequest => DescribeTopicPartitionsResponse, key DescribeTopicPartitions,
    versions 0-0, flexible 0 {
        topics: Vec<TopicRequest>;
        response_partition_limit: i32 = 2000;
        cursor: Option<Cursor>;
    }

    struct TopicRequest {
        name: String;
    }

    struct Cursor {
        topic_name: String;
        partition_index: i32;
    }
}

message! {
    /// The response of DescribeTopicPartitions, API key 75.
    response DescribeTopicPartitionsResponse, key DescribeTopicPartitions, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        topics: Vec<DescribeTopicPartitionsResponseTopic>;
        next_cursor: Option<Cursor>;
    }

    struct DescribeTopicPartitionsResponseTopic {
        error_code: i16;
        name: Option<String> = Some(String::new());
        topic_id: Uuid;
        is_internal: bool;
        partitions: Vec<DescribeTopicPartitionsResponsePartition>;
        topic_authorized_operations: i32 = i32::MIN;
    }

    struct DescribeTopicPartitionsResponsePartition {
        error_code: i16;
        partition_index: i32;
        leader_id: i32;
        leader_epoch: i32 = -1;
        replica_nodes: Vec<i32>;
        isr_nodes: Vec<i32>;
        eligible_leader_replicas: Option<Vec<i32>>;
        last_known_elr: Option<Vec<i32>>;
        offline_replicas: Vec<i32>;
    }
}
