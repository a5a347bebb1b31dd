//! Produce, API key 0.

use bytes::Bytes;

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of Produce, API key 0.
    request ProduceRequest => ProduceResponse, key Produce, versions 3-13, flexible 9 {
        transactional_id: Option<String>;
        acks: i16;
        timeout_ms: i32;
        topic_data: Vec<TopicProduceData>;
    }

    struct TopicProduceData {
        name: String [..=12];
        topic_id: Uuid [13..];
        partition_data: Vec<PartitionProduceData>;
    }

    struct PartitionProduceData {
        index: i32;
        records: Option<Bytes>;
    }
}

message! {
    /// The response of Produce, API key 0.
    response ProduceResponse, key Produce, versions 3-13, flexible 9 {
        responses: Vec<TopicProduceResponse>;
        throttle_time_ms: i32;
        node_endpoints: Vec<NodeEndpoint> [10..], tag 0;
    }

    struct TopicProduceResponse {
        name: String [..=12];
        topic_id: Uuid [13..];
        partition_responses: Vec<PartitionProduceResponse>;
    }

    struct PartitionProduceResponse {
        index: i32;
        error_code: i16;
        base_offset: i64;
        log_append_time_ms: i64 = -1;
        log_start_offset: i64 [5..] = -1;
        record_errors: Vec<BatchIndexAndErrorMessage> [8..];
        error_message: Option<String> [8..];
        current_leader: LeaderIdAndEpoch [10..], tag 0;
    }

    struct BatchIndexAndErrorMessage {
        batch_index: i32;
        batch_index_error_message: Option<String>;
    }

    struct LeaderIdAndEpoch {
        leader_id: i32 = -1;
        leader_epoch: i32 = -1;
    }

    struct NodeEndpoint {
        node_id: i32;
        host: String;
        port: i32;
        rack: Option<String>;
    }
}
