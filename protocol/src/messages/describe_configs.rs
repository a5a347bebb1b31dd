//! DescribeConfigs, API key 32.

use crate::messages::dsl::message;

message! {
    /// The request of DescribeConfigs, API key 32.
    request DescribeConfigsRequest => DescribeConfigsResponse, key DescribeConfigs, versions 1-4, flexible 4 {
        resources: Vec<DescribeConfigsResource>;
        include_synonyms: bool;
        include_documentation: bool [3..];
    }

    struct DescribeConfigsResource {
        resource_type: i8;
        resource_name: String;
        configuration_keys: Option<Vec<String>> = Some(Vec::new());
    }
}

message! {
    /// The response of DescribeConfigs, API key 32.
    response DescribeConfigsResponse, key DescribeConfigs, versions 1-4, flexible 4 {
        throttle_time_ms: i32;
        results: Vec<DescribeConfigsResult>;
    }

    struct DescribeConfigsResult {
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        resource_type: i8;
        resource_name: String;
        configs: Vec<DescribeConfigsResourceResult>;
    }

    struct DescribeConfigsResourceResult {
        name: String;
        value: Option<String> = Some(String::new());
        read_only: bool;
        config_source: i8 = -1;
        is_sensitive: bool;
        synonyms: Vec<DescribeConfigsSynonym>;
        config_type: i8 [3..];
        documentation: Option<String> [3..] = Some(String::new());
    }

    struct DescribeConfigsSynonym {
        name: String;
        value: Option<String> = Some(String::new());
        source: i8;
    }
}
