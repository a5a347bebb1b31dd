//! FindCoordinator, API key 10.

use crate::messages::dsl::message;

message! {
    /// The request of FindCoordinator, API key 10.
    request FindCoordinatorRequest => FindCoordinatorResponse, key FindCoordinator, versions 0-6, flexible 3 {
        key: String [..=3];
        key_type: i8 [1..];
        coordinator_keys: Vec<String> [4..];
    }
}

message! {
    /// The response of FindCoordinator, API key 10.
    response FindCoordinatorResponse, key FindCoordinator, versions 0-6, flexible 3 {
        throttle_time_ms: i32 [1..];
        error_code: i16 [..=3];
        error_message: Option<String> [1..=3] = Some(String::new());
        node_id: i32 [..=3];
        host: String [..=3];
        port: i32 [..=3];
        coordinators: Vec<Coordinator> [4..];
    }

    struct Coordinator {
        key: String;
        node_id: i32;
        host: String;
        port: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
    }
}
