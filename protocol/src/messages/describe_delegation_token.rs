//! DescribeDelegationToken, API key 41.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// The request of DescribeDelegationToken, API key 41.
    request DescribeDelegationTokenRequest => DescribeDelegationTokenResponse, key DescribeDelegationToken,
    versions 1-3, flexible 2 {
        owners: Option<Vec<DescribeDelegationTokenOwner>> = Some(Vec::new());
    }

    struct DescribeDelegationTokenOwner {
        principal_type: String;
        principal_name: String;
    }
}

message! {
    /// The response of DescribeDelegationToken, API key 41.
    response DescribeDelegationTokenResponse, key DescribeDelegationToken, versions 1-3, flexible 2 {
        error_code: i16;
        tokens: Vec<DescribedDelegationToken>;
        throttle_time_ms: i32;
    }

    struct DescribedDelegationToken {
        principal_type: String;
        principal_name: String;
        token_requester_principal_type: String [3..];
        token_requester_principal_name: String [3..];
        issue_timestamp: i64;
        expiry_timestamp: i64;
        max_timestamp: i64;
        token_id: String;
        hmac: Bytes;
        renewers: Vec<DescribedDelegationTokenRenewer>;
    }

    struct DescribedDelegationTokenRenewer {
        principal_type: String;
        principal_name: String;
    }
}
