//! UnregisterBroker, API key 64.

use crate::messages::dsl::message;

message! {
    /// The request of UnregisterBroker, API key 64.
    request UnregisterBrokerRequest => UnregisterBrokerResponse, key UnregisterBroker,
    versions 0-0, flexible 0 {
        broker_id: i32;
    }
}

message! {
    /// The response of UnregisterBroker, API key 64.
    response UnregisterBrokerResponse, key UnregisterBroker, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
    }
}
