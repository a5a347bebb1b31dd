//! SaslHandshake, API key 17.

use crate::messages::dsl::message;

message! {
    /// The request of SaslHandshake, API key 17.
    request SaslHandshakeRequest => SaslHandshakeResponse, key SaslHandshake, versions 0-1 {
        mechanism: String;
    }
}

message! {
    /// The response of SaslHandshake, API key 17.
    response SaslHandshakeResponse, key SaslHandshake, versions 0-1 {
        error_code: i16;
        mechanisms: Vec<String>;
    }
}
