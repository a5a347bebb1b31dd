//! Metadata records about who may do what.

use bytes::Bytes;

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// Metadata record 18.
    record AccessControlEntryRecord, key 18, versions 0-0, flexible 0 {
        id: Uuid;
        resource_type: i8;
        resource_name: String;
        pattern_type: i8;
        principal: String;
        host: String;
        operation: i8;
        permission_type: i8;
    }
}

message! {
    /// Metadata record 19.
    record RemoveAccessControlEntryRecord, key 19, versions 0-0, flexible 0 {
        id: Uuid;
    }
}

message! {
    /// Metadata record 11.
    record UserScramCredentialRecord, key 11, versions 0-0, flexible 0 {
        name: String;
        mechanism: i8;
        salt: Bytes;
        stored_key: Bytes;
        server_key: Bytes;
        iterations: i32;
    }
}

message! {
    /// Metadata record 22.
    record RemoveUserScramCredentialRecord, key 22, versions 0-0, flexible 0 {
        name: String;
        mechanism: i8;
    }
}

message! {
    /// Metadata record 10.
    record DelegationTokenRecord, key 10, versions 0-0, flexible 0 {
        owner: String;
        requester: String;
        renewers: Vec<String>;
        issue_timestamp: i64;
        max_timestamp: i64;
        expiration_timestamp: i64;
        token_id: String;
    }
}

message! {
    /// Metadata record 26.
    record RemoveDelegationTokenRecord, key 26, versions 0-0, flexible 0 {
        token_id: String;
    }
}
