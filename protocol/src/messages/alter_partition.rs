//! AlterPartition, API key 56.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of AlterPartition, API key 56.
    request AlterPartitionRequest => AlterPartitionResponse, key AlterPartition, versions 2-3, flexible 0 {
        broker_id: i32;
        broker_epoch: i64 = -1;
        topics: Vec<RequestTopicData>;
    }

    struct RequestTopicData {
        topic_id: Uuid;
        partitions: Vec<RequestPartitionData>;
    }

    struct RequestPartitionData {
        partition_index: i32;
        leader_epoch: i32;
        new_isr: Vec<i32> [..=2];
        new_isr_with_epochs: Vec<BrokerState> [3..];
        leader_recovery_state: i8;
        partition_epoch: i32;
    }

    struct BrokerState {
        broker_id: i32;
        broker_epoch: i64 = -1;
    }
}

message! {
    /// The response of AlterPartition, API key 56.
    response AlterPartitionResponse, key AlterPartition, versions 2-3, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        topics: Vec<ResponseTopicData>;
    }

    struct ResponseTopicData {
        topic_id: Uuid;
        partitions: Vec<ResponsePartitionData>;
    }

    struct ResponsePartitionData {
        partition_index: i32;
        error_code: i16;
        leader_id: i32;
        leader_epoch: i32;
        isr: Vec<i32>;
        leader_recovery_state: i8;
        partition_epoch: i32;
    }
}
