//! ListConfigResources, API key 74.

use crate::messages::dsl::message;

message! {
    /// The request of ListConfigResources, API key 74.
    request ListConfigResourcesRequest => ListConfigResourcesResponse, key ListConfigResources,
    versions 0-1, flexible 0 {
        resource_types: Vec<i8> [1..];
    }
}

message! {
    /// The response of ListConfigResources, API key 74.
    response ListConfigResourcesResponse, key ListConfigResources, versions 0-1, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        config_resources: Vec<ConfigResource>;
    }

    struct ConfigResource {
        resource_name: String;
        resource_type: i8 [1..] = 16;
    }
}
