//! DescribeClientQuotas, API key 48.

use crate::messages::dsl::message;

message! {
    /// The request of DescribeClientQuotas, API key 48.
    request DescribeClientQuotasRequest => DescribeClientQuotasResponse, key DescribeClientQuotas,
    versions 0-1, flexible 1 {
        components: Vec<ComponentData>;
        strict: bool;
    }

    struct ComponentData {
        entity_type: String;
        match_type: i8;
        r#match: Option<String> = Some(String::new());
    }
}

message! {
    /// The response of DescribeClientQuotas, API key 48.
    response DescribeClientQuotasResponse, key DescribeClientQuotas, versions 0-1, flexible 1 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
        entries: Option<Vec<EntryData>> = Some(Vec::new());
    }

    struct EntryData {
        entity: Vec<EntityData>;
        values: Vec<ValueData>;
    }

    struct EntityData {
        entity_type: String;
        entity_name: Option<String> = Some(String::new());
    }

    struct ValueData {
        key: String;
        value: f64;
    }
}
