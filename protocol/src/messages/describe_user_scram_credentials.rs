//! DescribeUserScramCredentials, API key 50.

use crate::messages::dsl::message;

message! {
    /// The request of DescribeUserScramCredentials, API key 50.
    request DescribeUserScramCredentialsRequest => DescribeUserScramCredentialsResponse,
    key DescribeUserScramCredentials, versions 0-0, flexible 0 {
        users: Option<Vec<UserName>> = Some(Vec::new());
    }

    struct UserName {
        name: String;
    }
}

message! {
    /// The response of DescribeUserScramCredentials, API key 50.
    response DescribeUserScramCredentialsResponse, key DescribeUserScramCredentials,
    versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        results: Vec<DescribeUserScramCredentialsResult>;
    }

    struct DescribeUserScramCredentialsResult {
        user: String;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        credential_infos: Vec<CredentialInfo>;
    }

    struct CredentialInfo {
        mechanism: i8;
        iterations: i32;
    }
}
