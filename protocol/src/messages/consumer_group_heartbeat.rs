//! ConsumerGroupHeartbeat, API key 68.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of ConsumerGroupHeartbeat, API key 68.
    request ConsumerGroupHeartbeatRequest => ConsumerGroupHeartbeatResponse, key ConsumerGroupHeartbeat,
    versions 0-1, flexible 0 {
        group_id: String;
        member_id: String;
        member_epoch: i32;
        instance_id: Option<String>;
        rack_id: Option<String>;
        rebalance_timeout_ms: i32 = -1;
        subscribed_topic_names: Option<Vec<String>>;
        subscribed_topic_regex: Option<String> [1..];
        server_assignor: Option<String>;
        topic_partitions: Option<Vec<TopicPartitions>>;
    }

    struct TopicPartitions {
        topic_id: Uuid;
        partitions: Vec<i32>;
    }
}

message! {
    /// The response of ConsumerGroupHeartbeat, API key 68.
    response ConsumerGroupHeartbeatResponse, key ConsumerGroupHeartbeat, versions 0-1, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String>;
        member_id: Option<String>;
        member_epoch: i32;
        heartbeat_interval_ms: i32;
        assignment: Option<Assignment>;
    }

    struct Assignment {
        topic_partitions: Vec<TopicPartitions>;
    }
}
