//! DeleteTopics, API key 20.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of DeleteTopics, API key 20.
    request DeleteTopicsRequest => DeleteTopicsResponse, key DeleteTopics, versions 1-6, flexible 4 {
        topics: Vec<DeleteTopicState> [6..];
        topic_names: Vec<String> [..=5];
        timeout_ms: i32;
    }

    struct DeleteTopicState {
        name: Option<String>;
        topic_id: Uuid;
    }
}

message! {
    /// The response of DeleteTopics, API key 20.
    response DeleteTopicsResponse, key DeleteTopics, versions 1-6, flexible 4 {
        throttle_time_ms: i32;
        responses: Vec<DeletableTopicResult>;
    }

    struct DeletableTopicResult {
        name: Option<String>, null [6..] = Some(String::new());
        topic_id: Uuid [6..];
        error_code: i16;
        error_message: Option<String> [5..];
    }
}
