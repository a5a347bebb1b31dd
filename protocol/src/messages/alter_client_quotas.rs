//! AlterClientQuotas, API key 49.

use crate::messages::dsl::message;

message! {
    /// The request of AlterClientQuotas, API key 49.
    request AlterClientQuotasRequest => AlterClientQuotasResponse, key AlterClientQuotas,
    versions 0-1, flexible 1 {
        entries: Vec<RequestEntryData>;
        validate_only: bool;
    }

    struct RequestEntryData {
        entity: Vec<EntityData>;
        ops: Vec<OpData>;
    }

    struct EntityData {
        entity_type: String;
        entity_name: Option<String> = Some(String::new());
    }

    struct OpData {
        key: String;
        value: f64;
        remove: bool;
    }
}

message! {
    /// The response of AlterClientQuotas, API key 49.
    response AlterClientQuotasResponse, key AlterClientQuotas, versions 0-1, flexible 1 {
        throttle_time_ms: i32;
        entries: Vec<ResponseEntryData>;
    }

    struct ResponseEntryData {
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        entity: Vec<EntityData>;
    }
}
