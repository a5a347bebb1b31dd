//! Metadata records about controllers.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// Metadata record 27.
    record RegisterControllerRecord, key 27, versions 0-0, flexible 0 {
        controller_id: i32;
        incarnation_id: Uuid;
        zk_migration_ready: bool;
        end_points: Vec<ControllerEndpoint>;
        features: Vec<ControllerFeature>;
    }

    struct ControllerEndpoint {
        name: String;
        host: String;
        port: u16;
        security_protocol: i16;
    }

    struct ControllerFeature {
        name: String;
        min_supported_version: i16;
        max_supported_version: i16;
    }
}

message! {
    /// Metadata record 29.
    record UnregisterControllerRecord, key 29, versions 0-0, flexible 0 {
        controller_id: i32;
    }
}
