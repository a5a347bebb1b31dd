//! Envelope, API key 58.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// The request of Envelope, API key 58.
    request EnvelopeRequest => EnvelopeResponse, key Envelope, versions 0-0, flexible 0 {
        request_data: Bytes;
        request_principal: Option<Bytes> = Some(Bytes::new());
        client_host_address: Bytes;
    }
}

message! {
    /// The response of Envelope, API key 58.
    response EnvelopeResponse, key Envelope, versions 0-0, flexible 0 {
        response_data: Option<Bytes>;
        error_code: i16;
    }
}
