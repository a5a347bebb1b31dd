//! UpdateRaftVoter, API key 82.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of UpdateRaftVoter, API key 82.
    request UpdateRaftVoterRequest => UpdateRaftVoterResponse, key UpdateRaftVoter, versions 0-0, flexible 0 {
        cluster_id: Option<String> = Some(String::new());
        current_leader_epoch: i32;
        voter_id: i32;
        voter_directory_id: Uuid;
        listeners: Vec<Listener>;
        kraft_version_feature: KRaftVersionFeature;
    }

    struct Listener {
        name: String;
        host: String;
        port: u16;
    }

    struct KRaftVersionFeature {
        min_supported_version: i16;
        max_supported_version: i16;
    }
}

message! {
    /// The response of UpdateRaftVoter, API key 82.
    response UpdateRaftVoterResponse, key UpdateRaftVoter, versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        current_leader: CurrentLeader, tag 0;
    }

    struct CurrentLeader {
        leader_id: i32 = -1;
        leader_epoch: i32 = -1;
        host: String;
        port: i32;
    }
}
