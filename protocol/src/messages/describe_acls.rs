//! DescribeAcls, API key 29.

use crate::messages::dsl::message;

message! {
    /// The request of DescribeAcls, API key 29.
    request DescribeAclsRequest => DescribeAclsResponse, key DescribeAcls, versions 1-3, flexible 2 {
        resource_type_filter: i8;
        resource_name_filter: Option<String> = Some(String::new());
        pattern_type_filter: i8 = 3;
        principal_filter: Option<String> = Some(String::new());
        host_filter: Option<String> = Some(String::new());
        operation: i8;
        permission_type: i8;
    }
}

message! {
    /// The response of DescribeAcls, API key 29.
    response DescribeAclsResponse, key DescribeAcls, versions 1-3, flexible 2 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        resources: Vec<DescribeAclsResource>;
    }

    struct DescribeAclsResource {
        resource_type: i8;
        resource_name: String;
        pattern_type: i8 = 3;
        acls: Vec<AclDescription>;
    }

    struct AclDescription {
        principal: String;
        host: String;
        operation: i8;
        permission_type: i8;
    }
}
