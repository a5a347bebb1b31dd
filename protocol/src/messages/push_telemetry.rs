//! PushTelemetry, API key 72.

use bytes::Bytes;

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of PushTelemetry, API key 72.
    request PushTelemetryRequest => PushTelemetryResponse, key PushTelemetry, versions 0-0, flexible 0 {
        client_instance_id: Uuid;
        subscription_id: i32;
        terminating: bool;
        compression_type: i8;
        metrics: Bytes;
    }
}

message! {
    /// The response of PushTelemetry, API key 72.
    response PushTelemetryResponse, key PushTelemetry, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
    }
}
