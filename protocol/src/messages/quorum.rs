//! Quorum, API key 20595: Barnabas's own.

use bytes::Bytes;

use crate::messages::dsl::message;

message! {
    /// What voters of Barnabas's metadata quorum ask each other. Controllers of Kafka have no part in it.
    request QuorumRequest => QuorumResponse, key Quorum, versions 0-0, flexible 0 {
        cluster_id: String;
        from: i32;
        to: i32;
        kind: i8;
        vote: QuorumVote;
        before: EntryId;
        committed: EntryId;
        entries: Vec<QuorumEntry>;
        snapshot: SnapshotPart;
        heir: i32 = -1;
        inherits: bool;
    }

    struct QuorumVote {
        epoch: i32;
        node: i32;
        leads: bool;
    }

    struct EntryId {
        index: i64 = -1;
        epoch: i32 = -1;
    }

    struct QuorumEntry {
        id: EntryId;
        batch: Bytes;
    }

    struct SnapshotPart {
        end_offset: i64 = -1;
        epoch: i32 = -1;
        size: i64;
        position: i64;
        bytes: Bytes;
    }
}

message! {
    /// The answer to [`QuorumRequest`].
    response QuorumResponse, key Quorum, versions 0-0, flexible 0 {
        error_code: i16;
        outcome: i8;
        vote: QuorumVote;
        last: EntryId;
    }
}
