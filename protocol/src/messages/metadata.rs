//! Metadata, API key 3.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of Metadata, API key 3.
    request MetadataRequest => MetadataResponse, key Metadata, versions 0-13, flexible 9 {
        topics: Option<Vec<MetadataRequestTopic>>, null [1..] = Some(Vec::new());
        allow_auto_topic_creation: bool [4..] = true;
        include_cluster_authorized_operations: bool [8..=10];
        include_topic_authorized_operations: bool [8..];
    }

    struct MetadataRequestTopic {
        topic_id: Uuid [10..];
        name: Option<String>, null [10..] = Some(String::new());
    }
}

message! {
    /// The response of Metadata, API key 3.
    response MetadataResponse, key Metadata, versions 0-13, flexible 9 {
        throttle_time_ms: i32 [3..];
        brokers: Vec<MetadataResponseBroker>;
        cluster_id: Option<String> [2..];
        controller_id: i32 [1..] = -1;
        topics: Vec<MetadataResponseTopic>;
        cluster_authorized_operations: i32 [8..=10] = i32::MIN;
        error_code: i16 [13..];
    }

    struct MetadataResponseBroker {
        node_id: i32;
        host: String;
        port: i32;
        rack: Option<String> [1..];
    }

    struct MetadataResponseTopic {
        error_code: i16;
        name: Option<String>, null [12..] = Some(String::new());
        topic_id: Uuid [10..];
        is_internal: bool [1..];
        partitions: Vec<MetadataResponsePartition>;
        topic_authorized_operations: i32 [8..] = i32::MIN;
    }

    struct MetadataResponsePartition {
        error_code: i16;
        partition_index: i32;
        leader_id: i32;
        leader_epoch: i32 [7..] = -1;
        replica_nodes: Vec<i32>;
        isr_nodes: Vec<i32>;
        offline_replicas: Vec<i32> [5..];
    }
}
