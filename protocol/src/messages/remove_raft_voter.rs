//! RemoveRaftVoter, API key 81.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of RemoveRaftVoter, API key 81.
    request RemoveRaftVoterRequest => RemoveRaftVoterResponse, key RemoveRaftVoter, versions 0-0, flexible 0 {
        cluster_id: Option<String> = Some(String::new());
        voter_id: i32;
        voter_directory_id: Uuid;
    }
}

message! {
    /// The response of RemoveRaftVoter, API key 81.
    response RemoveRaftVoterResponse, key RemoveRaftVoter, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
    }
}
