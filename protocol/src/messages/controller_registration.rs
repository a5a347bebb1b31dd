//! ControllerRegistration, API key 70.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of ControllerRegistration, API key 70.
    request ControllerRegistrationRequest => ControllerRegistrationResponse, key ControllerRegistration,
    versions 0-0, flexible 0 {
        controller_id: i32;
        incarnation_id: Uuid;
        zk_migration_ready: bool;
        listeners: Vec<Listener>;
        features: Vec<Feature>;
    }

    struct Listener {
        name: String;
        host: String;
        port: u16;
        security_protocol: i16;
    }

    struct Feature {
        name: String;
        min_supported_version: i16;
        max_supported_version: i16;
    }
}

message! {
    /// The response of ControllerRegistration, API key 70.
    response ControllerRegistrationResponse, key ControllerRegistration, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
    }
}
