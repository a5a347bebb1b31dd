//! Heartbeat, API key 12.

use crate::messages::dsl::message;

message! {
    /// The request of Heartbeat, API key 12.
    request HeartbeatRequest => HeartbeatResponse, key Heartbeat, versions 0-4, flexible 4 {
        group_id: String;
        generation_id: i32;
        member_id: String;
        group_instance_id: Option<String> [3..];
    }
}

message! {
    /// The response of Heartbeat, API key 12.
    response HeartbeatResponse, key Heartbeat, versions 0-4, flexible 4 {
        throttle_time_ms: i32 [1..];
        error_code: i16;
    }
}
