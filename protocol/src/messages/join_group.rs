//! JoinGroup, API key 11.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// The request of JoinGroup, API key 11.
    request JoinGroupRequest => JoinGroupResponse, key JoinGroup, versions 0-9, flexible 6 {
        group_id: String;
        session_timeout_ms: i32;
        rebalance_timeout_ms: i32 [1..] = -1;
        member_id: String;
        group_instance_id: Option<String> [5..];
        protocol_type: String;
        protocols: Vec<JoinGroupRequestProtocol>;
        reason: Option<String> [8..];
    }

    struct JoinGroupRequestProtocol {
        name: String;
        metadata: Bytes;
    }
}

message! {
    /// The response of JoinGroup, API key 11.
    response JoinGroupResponse, key JoinGroup, versions 0-9, flexible 6 {
        throttle_time_ms: i32 [2..];
        error_code: i16;
        generation_id: i32 = -1;
        protocol_type: Option<String> [7..];
        protocol_name: Option<String>, null [7..] = Some(String::new());
        leader: String;
        skip_assignment: bool [9..];
        member_id: String;
        members: Vec<JoinGroupResponseMember>;
    }

    struct JoinGroupResponseMember {
        member_id: String;
        group_instance_id: Option<String> [5..];
        metadata: Bytes;
    }
}
