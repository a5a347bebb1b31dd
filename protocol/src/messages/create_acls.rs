//! CreateAcls, API key 30.

use crate::messages::dsl::message;

message! {
    /// The request of CreateAcls, API key 30.
    request CreateAclsRequest => CreateAclsResponse, key CreateAcls, versions 1-3, flexible 2 {
        creations: Vec<AclCreation>;
    }

    struct AclCreation {
        resource_type: i8;
        resource_name: String;
        resource_pattern_type: i8 = 3;
        principal: String;
        host: String;
        operation: i8;
        permission_type: i8;
    }
}

message! {
    /// The response of CreateAcls, API key 30.
    response CreateAclsResponse, key CreateAcls, versions 1-3, flexible 2 {
        throttle_time_ms: i32;
        results: Vec<AclCreationResult>;
    }

    struct AclCreationResult {
        error_code: i16;
        error_message: Option<String> = Some(String::new());
    }
}
