//! IncrementalAlterConfigs, API key 44.

use crate::messages::dsl::message;

message! {
    /// The request of IncrementalAlterConfigs, API key 44.
    request IncrementalAlterConfigsRequest => IncrementalAlterConfigsResponse, key IncrementalAlterConfigs,
    versions 0-1, flexible 1 {
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
        config_operation: i8;
        value: Option<String> = Some(String::new());
    }
}

message! {
    /// The response of IncrementalAlterConfigs, API key 44.
    response IncrementalAlterConfigsResponse, key IncrementalAlterConfigs, versions 0-1, flexible 1 {
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
