//! DescribeGroups, API key 15.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// The request of DescribeGroups, API key 15.
    request DescribeGroupsRequest => DescribeGroupsResponse, key DescribeGroups, versions 0-6, flexible 5 {
        groups: Vec<String>;
        include_authorized_operations: bool [3..];
    }
}

message! {
    /// The response of DescribeGroups, API key 15.
    response DescribeGroupsResponse, key DescribeGroups, versions 0-6, flexible 5 {
        throttle_time_ms: i32 [1..];
        groups: Vec<DescribedGroup>;
    }

    struct DescribedGroup {
        error_code: i16;
        error_message: Option<String> [6..];
        group_id: String;
        group_state: String;
        protocol_type: String;
        protocol_data: String;
        members: Vec<DescribedGroupMember>;
        authorized_operations: i32 [3..] = i32::MIN;
    }

    struct DescribedGroupMember {
        member_id: String;
        group_instance_id: Option<String> [4..];
        client_id: String;
        client_host: String;
        member_metadata: Bytes;
        member_assignment: Bytes;
    }
}
