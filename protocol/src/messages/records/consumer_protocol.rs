//! What the members of a classic consumer group tell each other.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// What a member of a classic consumer group subscribes to, prefixed with its version.
    data ConsumerProtocolSubscription, versions 0-3 {
        topics: Vec<String>;
        user_data: Option<Bytes>;
        owned_partitions: Vec<TopicPartition> [1..];
        generation_id: i32 [2..] = -1;
        rack_id: Option<String> [3..];
    }

    struct TopicPartition {
        topic: String;
        partitions: Vec<i32>;
    }
}

message! {
    /// What a member of a classic consumer group is given, prefixed with its version.
    data ConsumerProtocolAssignment, versions 0-3 {
        assigned_partitions: Vec<TopicPartition>;
        user_data: Option<Bytes>;
    }
}
