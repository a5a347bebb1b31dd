//! DescribeProducers, API key 61.

use crate::messages::dsl::message;

message! {
    /// The request of DescribeProducers, API key 61.
    request DescribeProducersRequest => DescribeProducersResponse, key DescribeProducers,
    versions 0-0, flexible 0 {
        topics: Vec<TopicRequest>;
    }

    struct TopicRequest {
        name: String;
        partition_indexes: Vec<i32>;
    }
}

message! {
    /// The response of DescribeProducers, API key 61.
    response DescribeProducersResponse, key DescribeProducers, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        topics: Vec<TopicResponse>;
    }

    struct TopicResponse {
        name: String;
        partitions: Vec<PartitionResponse>;
    }

    struct PartitionResponse {
        partition_index: i32;
        error_code: i16;
        error_message: Option<String>;
        active_producers: Vec<ProducerState>;
    }

    struct ProducerState {
        producer_id: i64;
        producer_epoch: i32;
        last_sequence: i32 = -1;
        last_timestamp: i64 = -1;
        coordinator_epoch: i32;
        current_txn_start_offset: i64 = -1;
    }
}
