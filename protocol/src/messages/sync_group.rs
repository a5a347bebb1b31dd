//! SyncGroup, API key 14.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// The request of SyncGroup, API key 14.
    request SyncGroupRequest => SyncGroupResponse, key SyncGroup, versions 0-5, flexible 4 {
        group_id: String;
        generation_id: i32;
        member_id: String;
        group_instance_id: Option<String> [3..];
        protocol_type: Option<String> [5..];
        protocol_name: Option<String> [5..];
        assignments: Vec<SyncGroupRequestAssignment>;
    }

    struct SyncGroupRequestAssignment {
        member_id: String;
        assignment: Bytes;
    }
}

message! {
    /// The response of SyncGroup, API key 14.
    response SyncGroupResponse, key SyncGroup, versions 0-5, flexible 4 {
        throttle_time_ms: i32 [1..];
        error_code: i16;
        protocol_type: Option<String> [5..];
        protocol_name: Option<String> [5..];
        assignment: Bytes;
    }
}
