//! DeleteGroups, API key 42.

use crate::messages::dsl::message;

message! {
    /// The request of DeleteGroups, API key 42.
    request DeleteGroupsRequest => DeleteGroupsResponse, key DeleteGroups, versions 0-3, flexible 2 {
        groups_names: Vec<String>;
    }
}

message! {
    /// The response of DeleteGroups, API key 42.
    response DeleteGroupsResponse, key DeleteGroups, versions 0-3, flexible 2 {
        throttle_time_ms: i32;
        results: Vec<DeletableGroupResult>;
    }

    struct DeletableGroupResult {
        group_id: String;
        error_code: i16;
        error_message: Option<String> [3..];
    }
}
