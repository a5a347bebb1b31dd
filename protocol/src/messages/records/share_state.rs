//! The state of share partitions in `__share_group_state`.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The key of record type 0 in `__share_group_state`.
    record ShareSnapshotKey, key 0, versions 0-0 {
        group_id: String;
        topic_id: Uuid;
        partition: i32;
    }
}

message! {
    /// The value of record type 0 in `__share_group_state`.
    record ShareSnapshotValue, key 0, versions 0-0, flexible 0 {
        snapshot_epoch: i32;
        state_epoch: i32;
        leader_epoch: i32;
        start_offset: i64;
        create_timestamp: i64;
        write_timestamp: i64;
        state_batches: Vec<StateBatch>;
        delivery_complete_count: i32, tag 0 = -1;
    }

    struct StateBatch {
        first_offset: i64;
        last_offset: i64;
        delivery_state: i8;
        delivery_count: i16;
    }
}

message! {
    /// The key of record type 1 in `__share_group_state`.
    record ShareUpdateKey, key 1, versions 0-0 {
        group_id: String;
        topic_id: Uuid;
        partition: i32;
    }
}

message! {
    /// The value of record type 1 in `__share_group_state`.
    record ShareUpdateValue, key 1, versions 0-0, flexible 0 {
        snapshot_epoch: i32;
        leader_epoch: i32;
        start_offset: i64;
        state_batches: Vec<StateBatch>;
        delivery_complete_count: i32, tag 0 = -1;
    }
}
