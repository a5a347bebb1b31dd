//! UnregisterController, API key 94.

use crate::messages::dsl::message;

message! {
    /// The request of UnregisterController, API key 94.
    request UnregisterControllerRequest => UnregisterControllerResponse, key UnregisterController,
    versions 0-0, flexible 0 {
        controller_id: i32;
    }
}

message! {
    /// The response of UnregisterController, API key 94.
    response UnregisterControllerResponse, key UnregisterController, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
    }
}
