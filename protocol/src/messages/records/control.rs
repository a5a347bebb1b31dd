//! The keys and values of control records.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The key of a control record, prefixed with its version.
    data ControlRecordTypeSchema, versions 0-0 {
        r#type: i16;
    }
}

message! {
    /// The value of a COMMIT or ABORT control record, prefixed with its version.
    data EndTxnMarker, versions 0-0 {
        coordinator_epoch: i32;
    }
}

message! {
    /// The value of a LEADER_CHANGE control record; its first field is its own version.
    data LeaderChangeMessage, versions 0-1, flexible 0 {
        version: i16;
        leader_id: i32;
        voters: Vec<LeaderChangeVoter>;
        granting_voters: Vec<LeaderChangeVoter>;
    }

    struct LeaderChangeVoter {
        voter_id: i32;
        voter_directory_id: Uuid [1..];
    }
}

message! {
    /// The value of a SNAPSHOT_HEADER control record; its first field is its own version. The tagged fields are
    /// Barnabas's own, which Kafka skips: where the snapshot's last record and its voters stand among the entries of
    /// the quorum.
    data SnapshotHeaderRecord, versions 0-0, flexible 0 {
        version: i16;
        last_contained_log_timestamp: i64;
        last_entry: i64, tag 9000 = -1;
        voters_entry: i64, tag 9001 = -1;
        voters_epoch: i32, tag 9002 = -1;
    }
}

message! {
    /// The value of a SNAPSHOT_FOOTER control record; its first field is its own version.
    data SnapshotFooterRecord, versions 0-0, flexible 0 {
        version: i16;
    }
}

message! {
    /// The value of a KRAFT_VERSION control record; its first field is its own version.
    data KRaftVersionRecord, versions 0-0, flexible 0 {
        version: i16;
        kraft_version: i16;
    }
}

message! {
    /// The value of a KRAFT_VOTERS control record; its first field is its own version. The tagged field is Barnabas's
    /// own, which Kafka skips: the majorities that are needed, if not one of all voters.
    data VotersRecord, versions 0-0, flexible 0 {
        version: i16;
        voters: Vec<VotersVoter>;
        majorities: Vec<Majority>, tag 9000;
    }

    struct Majority {
        voter_ids: Vec<i32>;
    }

    struct VotersVoter {
        voter_id: i32;
        voter_directory_id: Uuid;
        endpoints: Vec<Endpoint>;
        kraft_version_feature: KRaftVersionFeature;
    }

    struct Endpoint {
        name: String;
        host: String;
        port: u16;
    }

    struct KRaftVersionFeature {
        min_supported_version: i16;
        max_supported_version: i16;
    }
}
