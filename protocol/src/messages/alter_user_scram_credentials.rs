//! AlterUserScramCredentials, API key 51.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// The request of AlterUserScramCredentials, API key 51.
    request AlterUserScramCredentialsRequest => AlterUserScramCredentialsResponse,
    key AlterUserScramCredentials, versions 0-0, flexible 0 {
        deletions: Vec<ScramCredentialDeletion>;
        upsertions: Vec<ScramCredentialUpsertion>;
    }

    struct ScramCredentialDeletion {
        name: String;
        mechanism: i8;
    }

    struct ScramCredentialUpsertion {
        name: String;
        mechanism: i8;
        iterations: i32;
        salt: Bytes;
        salted_password: Bytes;
    }
}

message! {
    /// The response of AlterUserScramCredentials, API key 51.
    response AlterUserScramCredentialsResponse, key AlterUserScramCredentials, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        results: Vec<AlterUserScramCredentialsResult>;
    }

    struct AlterUserScramCredentialsResult {
        user: String;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
    }
}
