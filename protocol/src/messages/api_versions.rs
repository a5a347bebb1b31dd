//! ApiVersions, API key 18.

use crate::messages::dsl::message;

message! {
    /// The request of ApiVersions, API key 18.
    request ApiVersionsRequest => ApiVersionsResponse, key ApiVersions, versions 0-5, flexible 3 {
        client_software_name: String [3..];
        client_software_version: String [3..];
        cluster_id: Option<String> [5..];
        node_id: i32 [5..] = -1;
    }
}

message! {
    /// The response of ApiVersions, API key 18.
    response ApiVersionsResponse, key ApiVersions, versions 0-5, flexible 3 {
        error_code: i16;
        api_keys: Vec<ApiVersion>;
        throttle_time_ms: i32 [1..];
        supported_features: Vec<SupportedFeatureKey>, tag 0;
        finalized_features_epoch: i64, tag 1 = -1;
        finalized_features: Vec<FinalizedFeatureKey>, tag 2;
        zk_migration_ready: bool, tag 3;
    }

    struct ApiVersion {
        api_key: i16;
        min_version: i16;
        max_version: i16;
    }

    struct SupportedFeatureKey {
        name: String;
        min_version: i16;
        max_version: i16;
    }

    struct FinalizedFeatureKey {
        name: String;
        max_version_level: i16;
        min_version_level: i16;
    }
}
