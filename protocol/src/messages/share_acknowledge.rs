//! ShareAcknowledge, API key 79.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of ShareAcknowledge, API key 79.
    request ShareAcknowledgeRequest => ShareAcknowledgeResponse, key ShareAcknowledge,
    versions 1-2, flexible 0 {
        group_id: Option<String>;
        member_id: Option<String> = Some(String::new());
        share_session_epoch: i32;
        is_renew_ack: bool [2..];
        topics: Vec<AcknowledgeTopic>;
    }

    struct AcknowledgeTopic {
        topic_id: Uuid;
        partitions: Vec<AcknowledgePartition>;
    }

    struct AcknowledgePartition {
        partition_index: i32;
        acknowledgement_batches: Vec<AcknowledgementBatch>;
    }

    struct AcknowledgementBatch {
        first_offset: i64;
        last_offset: i64;
        acknowledge_types: Vec<i8>;
    }
}

message! {
    /// The response of ShareAcknowledge, API key 79.
    response ShareAcknowledgeResponse, key ShareAcknowledge, versions 1-2, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String>;
        acquisition_lock_timeout_ms: i32 [2..];
        responses: Vec<ShareAcknowledgeTopicResponse>;
        node_endpoints: Vec<NodeEndpoint>;
    }

    struct ShareAcknowledgeTopicResponse {
        topic_id: Uuid;
        partitions: Vec<PartitionData>;
    }

    struct PartitionData {
        partition_index: i32;
        error_code: i16;
        error_message: Option<String>;
        current_leader: LeaderIdAndEpoch;
    }

    struct LeaderIdAndEpoch {
        leader_id: i32;
        leader_epoch: i32;
    }

    struct NodeEndpoint {
        node_id: i32;
        host: String;
        port: i32;
        rack: Option<String>;
    }
}
