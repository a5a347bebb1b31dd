//! DeleteAcls, API key 31.

use crate::messages::dsl::message;

message! {
    /// The request of DeleteAcls, API key 31.
    request DeleteAclsRequest => DeleteAclsResponse, key DeleteAcls, versions 1-3, flexible 2 {
        filters: Vec<DeleteAclsFilter>;
    }

    struct DeleteAclsFilter {
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
    /// The response of DeleteAcls, API key 31.
    response DeleteAclsResponse, key DeleteAcls, versions 1-3, flexible 2 {
        throttle_time_ms: i32;
        filter_results: Vec<DeleteAclsFilterResult>;
    }

    struct DeleteAclsFilterResult {
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        matching_acls: Vec<DeleteAclsMatchingAcl>;
    }

    struct DeleteAclsMatchingAcl {
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        resource_type: i8;
        resource_name: String;
        pattern_type: i8 = 3;
        principal: String;
        host: String;
        operation: i8;
        permission_type: i8;
    }
}
