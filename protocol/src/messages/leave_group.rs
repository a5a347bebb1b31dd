//! LeaveGroup, API key 13.

use crate::messages::dsl::message;

message! {
    /// The request of LeaveGroup, API key 13.
    request LeaveGroupRequest => LeaveGroupResponse, key LeaveGroup, versions 0-5, flexible 4 {
        group_id: String;
        member_id: String [..=2];
        members: Vec<MemberIdentity> [3..];
    }

    struct MemberIdentity {
        member_id: String;
        group_instance_id: Option<String>;
        reason: Option<String> [5..];
    }
}

message! {
    /// The response of LeaveGroup, API key 13.
    response LeaveGroupResponse, key LeaveGroup, versions 0-5, flexible 4 {
        throttle_time_ms: i32 [1..];
        error_code: i16;
        members: Vec<MemberResponse> [3..];
    }

    struct MemberResponse {
        member_id: String;
        group_instance_id: Option<String> = Some(String::new());
        error_code: i16;
    }
}
