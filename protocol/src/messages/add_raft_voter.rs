//! AddRaftVoter, API key 80.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of AddRaftVoter, API key 80.
    request AddRaftVoterRequest => AddRaftVoterResponse, key AddRaftVoter, versions 0-1, flexible 0 {
        cluster_id: Option<String> = Some(String::new());
        timeout_ms: i32;
        voter_id: i32;
        voter_directory_id: Uuid;
        listeners: Vec<Listener>;
        ack_when_committed: bool [1..] = true;
    }

    struct Listener {
        name: String;
        host: String;
        port: u16;
    }
}

message! {
    /// The response of AddRaftVoter, API key 80.
    response AddRaftVoterResponse, key AddRaftVoter, versions 0-1, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String> = Some(String::new());
    }
}
