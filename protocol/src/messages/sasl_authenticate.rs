//! SaslAuthenticate, API key 36.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// The request of SaslAuthenticate, API key 36.
    request SaslAuthenticateRequest => SaslAuthenticateResponse, key SaslAuthenticate,
    versions 0-2, flexible 2 {
        auth_bytes: Bytes;
    }
}

message! {
    /// The response of SaslAuthenticate, API key 36.
    response SaslAuthenticateResponse, key SaslAuthenticate, versions 0-2, flexible 2 {
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        auth_bytes: Bytes;
        session_lifetime_ms: i64 [1..];
    }
}
