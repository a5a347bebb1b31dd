//! GetTelemetrySubscriptions, API key 71.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of GetTelemetrySubscriptions, API key 71.
    request GetTelemetrySubscriptionsRequest => GetTelemetrySubscriptionsResponse,
    key GetTelemetrySubscriptions, versions 0-0, flexible 0 {
        client_instance_id: Uuid;
    }
}

message! {
    /// The response of GetTelemetrySubscriptions, API key 71.
    response GetTelemetrySubscriptionsResponse, key GetTelemetrySubscriptions, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        client_instance_id: Uuid;
        subscription_id: i32;
        accepted_compression_types: Vec<i8>;
        push_interval_ms: i32;
        telemetry_max_bytes: i32;
        delta_temporality: bool;
        requested_metrics: Vec<String>;
    }
}
