//! Metadata records about brokers.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// Metadata record 0.
    record RegisterBrokerRecord, key 0, versions 0-4, flexible 0 {
        broker_id: i32;
        is_migrating_zk_broker: bool [2..];
        incarnation_id: Uuid;
        broker_epoch: i64;
        end_points: Vec<BrokerEndpoint>;
        features: Vec<BrokerFeature>;
        rack: Option<String> = Some(String::new());
        fenced: bool = true;
        in_controlled_shutdown: bool [1..];
        log_dirs: Vec<Uuid> [3..], tag 0;
        cordoned_log_dirs: Option<Vec<Uuid>> [4..], tag 1;
    }

    struct BrokerEndpoint {
        name: String;
        host: String;
        port: u16;
        security_protocol: i16;
    }

    struct BrokerFeature {
        name: String;
        min_supported_version: i16;
        max_supported_version: i16;
    }
}

message! {
    /// Metadata record 1.
    record UnregisterBrokerRecord, key 1, versions 0-0, flexible 0 {
        broker_id: i32;
        broker_epoch: i64;
    }
}

message! {
    /// Metadata record 7.
    record FenceBrokerRecord, key 7, versions 0-0, flexible 0 {
        id: i32;
        epoch: i64;
    }
}

message! {
    /// Metadata record 8.
    record UnfenceBrokerRecord, key 8, versions 0-0, flexible 0 {
        id: i32;
        epoch: i64;
    }
}

message! {
    /// Metadata record 17.
    record BrokerRegistrationChangeRecord, key 17, versions 0-3, flexible 0 {
        broker_id: i32;
        broker_epoch: i64;
        fenced: i8, tag 0;
        in_controlled_shutdown: i8 [1..], tag 1;
        log_dirs: Vec<Uuid> [2..], tag 2;
        cordoned_log_dirs: Option<Vec<Uuid>> [3..], tag 3;
    }
}
