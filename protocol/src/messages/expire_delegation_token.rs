//! ExpireDelegationToken, API key 40.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// The request of ExpireDelegationToken, API key 40.
    request ExpireDelegationTokenRequest => ExpireDelegationTokenResponse, key ExpireDelegationToken,
    versions 1-2, flexible 2 {
        hmac: Bytes;
        expiry_time_period_ms: i64;
    }
}

message! {
    /// The response of ExpireDelegationToken, API key 40.
    response ExpireDelegationTokenResponse, key ExpireDelegationToken, versions 1-2, flexible 2 {
        error_code: i16;
        expiry_timestamp_ms: i64;
        throttle_time_ms: i32;
    }
}
