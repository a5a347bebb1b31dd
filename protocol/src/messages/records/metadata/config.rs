//! Metadata records about settings, features and quotas.

use crate::messages::dsl::message;

message! {
    /// Metadata record 4.
    record ConfigRecord, key 4, versions 0-0, flexible 0 {
        resource_type: i8;
        resource_name: String;
        name: String;
        value: Option<String> = Some(String::new());
    }
}

message! {
    /// Metadata record 12.
    record FeatureLevelRecord, key 12, versions 0-0, flexible 0 {
        name: String;
        feature_level: i16;
    }
}

message! {
    /// Metadata record 14.
    record ClientQuotaRecord, key 14, versions 0-0, flexible 0 {
        entity: Vec<EntityData>;
        key: String;
        value: f64;
        remove: bool;
    }

    struct EntityData {
        entity_type: String;
        entity_name: Option<String> = Some(String::new());
    }
}
