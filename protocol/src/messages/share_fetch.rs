//! ShareFetch, API key 78.

use bytes::Bytes;

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of ShareFetch, API key 78.
    request ShareFetchRequest => ShareFetchResponse, key ShareFetch, versions 1-2, flexible 0 {
        group_id: Option<String>;
        member_id: Option<String> = Some(String::new());
        share_session_epoch: i32;
        max_wait_ms: i32;
        min_bytes: i32;
        max_bytes: i32 = i32::MAX;
        max_records: i32;
        batch_size: i32;
        share_acquire_mode: i8 [2..];
        is_renew_ack: bool [2..];
        topics: Vec<FetchTopic>;
        forgotten_topics_data: Vec<ForgottenTopic>;
    }

    struct FetchTopic {
        topic_id: Uuid;
        partitions: Vec<FetchPartition>;
    }

    struct FetchPartition {
        partition_index: i32;
        acknowledgement_batches: Vec<AcknowledgementBatch>;
    }

    struct AcknowledgementBatch {
        first_offset: i64;
        last_offset: i64;
        acknowledge_types: Vec<i8>;
    }

    struct ForgottenTopic {
        topic_id: Uuid;
        partitions: Vec<i32>;
    }
}

message! {
    /// The response of ShareFetch, API key 78.
    response ShareFetchResponse, key ShareFetch, versions 1-2, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String>;
        acquisition_lock_timeout_ms: i32;
        responses: Vec<ShareFetchableTopicResponse>;
        node_endpoints: Vec<NodeEndpoint>;
    }

    struct ShareFetchableTopicResponse {
        topic_id: Uuid;
        partitions: Vec<PartitionData>;
    }

    struct PartitionData {
        partition_index: i32;
        error_code: i16;
        error_message: Option<String>;
        acknowledge_error_code: i16;
        acknowledge_error_message: Option<String>;
        current_leader: LeaderIdAndEpoch;
        records: Bytes;
        acquired_records: Vec<AcquiredRecords>;
    }

    struct LeaderIdAndEpoch {
        leader_id: i32;
        leader_epoch: i32;
    }

    struct AcquiredRecords {
        first_offset: i64;
        last_offset: i64;
        delivery_count: i16;
    }

    struct NodeEndpoint {
        node_id: i32;
        host: String;
        port: i32;
        rack: Option<String>;
    }
}
