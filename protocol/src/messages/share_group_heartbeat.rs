//! ShareGroupHeartbeat, API key 76.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of ShareGroupHeartbeat, API key 76.
    request ShareGroupHeartbeatRequest => ShareGroupHeartbeatResponse, key ShareGroupHeartbeat,
    versions 1-1, flexible 0 {
        group_id: String;
        member_id: String;
        member_epoch: i32;
        rack_id: Option<String>;
        subscribed_topic_names: Option<Vec<String>>;
    }
}

message! {
    /// The response of ShareGroupHeartbeat, API key 76.
    response ShareGroupHeartbeatResponse, key ShareGroupHeartbeat, versions 1-1, flexible 0 {
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

    struct TopicPartitions {
        topic_id: Uuid;
        partitions: Vec<i32>;
    }
}
