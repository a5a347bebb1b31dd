//! BrokerHeartbeat, API key 63.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of BrokerHeartbeat, API key 63.
    request BrokerHeartbeatRequest => BrokerHeartbeatResponse, key BrokerHeartbeat, versions 0-2, flexible 0 {
        broker_id: i32;
        broker_epoch: i64 = -1;
        current_metadata_offset: i64;
        want_fence: bool;
        want_shut_down: bool;
        offline_log_dirs: Vec<Uuid> [1..], tag 0;
        cordoned_log_dirs: Option<Vec<Uuid>> [2..], tag 1;
    }
}

message! {
    /// The response of BrokerHeartbeat, API key 63.
    response BrokerHeartbeatResponse, key BrokerHeartbeat, versions 0-2, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        is_caught_up: bool;
        is_fenced: bool = true;
        should_shut_down: bool;
    }
}
