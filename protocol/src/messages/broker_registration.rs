//! BrokerRegistration, API key 62.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of BrokerRegistration, API key 62.
    request BrokerRegistrationRequest => BrokerRegistrationResponse, key BrokerRegistration,
    versions 0-4, flexible 0 {
        broker_id: i32;
        cluster_id: String;
        incarnation_id: Uuid;
        listeners: Vec<Listener>;
        features: Vec<Feature>;
        rack: Option<String> = Some(String::new());
        is_migrating_zk_broker: bool [1..];
        log_dirs: Vec<Uuid> [2..];
        previous_broker_epoch: i64 [3..] = -1;
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
    /// The response of BrokerRegistration, API key 62.
    response BrokerRegistrationResponse, key BrokerRegistration, versions 0-4, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        broker_epoch: i64 = -1;
    }
}
