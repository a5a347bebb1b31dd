//! RenewDelegationToken, API key 39.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// The request of RenewDelegationToken, API key 39.
    request RenewDelegationTokenRequest => RenewDelegationTokenResponse, key RenewDelegationToken,
    versions 1-2, flexible 2 {
        hmac: Bytes;
        renew_period_ms: i64;
    }
}

message! {
    /// The response of RenewDelegationToken, API key 39.
    response RenewDelegationTokenResponse, key RenewDelegationToken, versions 1-2, flexible 2 {
        error_code: i16;
        expiry_timestamp_ms: i64;
        throttle_time_ms: i32;
    }
}
