//! AlterConfigs, API key 33.

use crate::messages::dsl::message;

message! {
    /// The request of AlterConfigs, API key 33.
    request AlterConfigsRequest => AlterConfigsResponse, key AlterConfigs, versions 0-2, flexible 2 {
        resources: Vec<AlterConfigsResource>;
        validate_only: bool;
    }

    struct AlterConfigsResource {
        resource_type: i8;
        resource_name: String;
        configs: Vec<AlterableConfig>;
    }

    struct AlterableConfig {
        name: String;
        value: Option<String> = Some(String::new());
    }
}

message! {
    /// The response of AlterConfigs, API key 33.
    response AlterConfigsResponse, key AlterConfigs, versions 0-2, flexible 2 {
        throttle_time_ms: i32;
        responses: Vec<AlterConfigsResourceResponse>;
    }

    struct AlterConfigsResourceResponse {
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        resource_type: i8;
        resource_name: String;
    }
}
