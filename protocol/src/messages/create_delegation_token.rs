//! CreateDelegationToken, API key 38.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// The request of CreateDelegationToken, API key 38.
    request CreateDelegationTokenRequest => CreateDelegationTokenResponse, key CreateDelegationToken,
    versions 1-3, flexible 2 {
        owner_principal_type: Option<String> [3..] = Some(String::new());
        owner_principal_name: Option<String> [3..] = Some(String::new());
        renewers: Vec<CreatableRenewers>;
        max_lifetime_ms: i64;
    }

    struct CreatableRenewers {
        principal_type: String;
        principal_name: String;
    }
}

message! {
    /// The response of CreateDelegationToken, API key 38.
    response CreateDelegationTokenResponse, key CreateDelegationToken, versions 1-3, flexible 2 {
        error_code: i16;
        principal_type: String;
        principal_name: String;
        token_requester_principal_type: String [3..];
        token_requester_principal_name: String [3..];
        issue_timestamp_ms: i64;
        expiry_timestamp_ms: i64;
        max_timestamp_ms: i64;
        token_id: String;
        hmac: Bytes;
        throttle_time_ms: i32;
    }
}
