//! ListGroups, API key 16.

use crate::messages::dsl::message;

message! {
    /// The request of ListGroups, API key 16.
    request ListGroupsRequest => ListGroupsResponse, key ListGroups, versions 0-5, flexible 3 {
        states_filter: Vec<String> [4..];
        types_filter: Vec<String> [5..];
    }
}

message! {
    /// The response of ListGroups, API key 16.
    response ListGroupsResponse, key ListGroups, versions 0-5, flexible 3 {
        throttle_time_ms: i32 [1..];
        error_code: i16;
        groups: Vec<ListedGroup>;
    }

    struct ListedGroup {
        group_id: String;
        protocol_type: String;
        group_state: String [4..];
        group_type: String [5..];
    }
}
