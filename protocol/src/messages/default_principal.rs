//! The principal that a forwarded request was made by.

use crate::messages::dsl::message;

message! {
    /// A principal as it travels inside an Envelope.
    data DefaultPrincipalData, versions 0-0, flexible 0 {
        r#type: String;
        name: String;
        token_authenticated: bool;
    }
}
