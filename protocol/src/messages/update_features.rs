//! UpdateFeatures, API key 57.

use crate::messages::dsl::message;

message! {
    /// The request of UpdateFeatures, API key 57.
    request UpdateFeaturesRequest => UpdateFeaturesResponse, key UpdateFeatures, versions 0-2, flexible 0 {
        timeout_ms: i32 = 60000;
        feature_updates: Vec<FeatureUpdateKey>;
        validate_only: bool [1..];
    }

    struct FeatureUpdateKey {
        feature: String;
        max_version_level: i16;
        allow_downgrade: bool [..=0];
        upgrade_type: i8 [1..] = 1;
    }
}

message! {
    /// The response of UpdateFeatures, API key 57.
    response UpdateFeaturesResponse, key UpdateFeatures, versions 0-2, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        results: Vec<UpdatableFeatureResult> [..=1];
    }

    struct UpdatableFeatureResult {
        feature: String;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
    }
}
