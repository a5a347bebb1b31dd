//! Classic groups and committed offsets in `__consumer_offsets`.

use bytes::Bytes;

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The key of record type 0 in `__consumer_offsets`.
    record LegacyOffsetCommitKey, key 0, versions 0-0 {
        group: String;
        topic: String;
        partition: i32;
    }
}

message! {
    /// The value of record type 0 in `__consumer_offsets`.
    record LegacyOffsetCommitValue, key 0, versions 0-0 {
        offset: i64;
        metadata: String;
        commit_timestamp: i64;
    }
}

message! {
    /// The key of record type 1 in `__consumer_offsets`.
    record OffsetCommitKey, key 1, versions 0-0 {
        group: String;
        topic: String;
        partition: i32;
    }
}

message! {
    /// The value of record type 1 in `__consumer_offsets`.
    record OffsetCommitValue, key 1, versions 0-4, flexible 4 {
        offset: i64;
        leader_epoch: i32 [3..] = -1;
        metadata: String;
        commit_timestamp: i64;
        expire_timestamp: i64 [1..=1] = -1;
        topic_id: Uuid, tag 0;
    }
}

message! {
    /// The key of record type 2 in `__consumer_offsets`.
    record GroupMetadataKey, key 2, versions 0-0 {
        group: String;
    }
}

message! {
    /// The value of record type 2 in `__consumer_offsets`.
    record GroupMetadataValue, key 2, versions 0-4, flexible 4 {
        protocol_type: String;
        generation: i32;
        protocol: Option<String> = Some(String::new());
        leader: Option<String> = Some(String::new());
        current_state_timestamp: i64 [2..] = -1;
        members: Vec<MemberMetadata>;
    }

    struct MemberMetadata {
        member_id: String;
        group_instance_id: Option<String> [3..];
        client_id: String;
        client_host: String;
        rebalance_timeout: i32 [1..] = -1;
        session_timeout: i32;
        subscription: Bytes;
        assignment: Bytes;
    }
}
