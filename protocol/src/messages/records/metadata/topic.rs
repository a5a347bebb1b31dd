//! Metadata records about topics and their partitions.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// Metadata record 2.
    record TopicRecord, key 2, versions 0-0, flexible 0 {
        name: String;
        topic_id: Uuid;
    }
}

message! {
    /// Metadata record 9.
    record RemoveTopicRecord, key 9, versions 0-0, flexible 0 {
        topic_id: Uuid;
    }
}

message! {
    /// Metadata record 3.
    record PartitionRecord, key 3, versions 0-2, flexible 0 {
        partition_id: i32 = -1;
        topic_id: Uuid;
        replicas: Vec<i32>;
        isr: Vec<i32>;
        removing_replicas: Vec<i32>;
        adding_replicas: Vec<i32>;
        leader: i32 = -1;
        leader_epoch: i32 = -1;
        partition_epoch: i32 = -1;
        directories: Vec<Uuid> [1..];
        leader_recovery_state: i8, tag 0;
        eligible_leader_replicas: Option<Vec<i32>> [2..], tag 1;
        last_known_elr: Option<Vec<i32>> [2..], tag 2;
    }
}

message! {
    /// Metadata record 5.
    record PartitionChangeRecord, key 5, versions 0-2, flexible 0 {
        partition_id: i32 = -1;
        topic_id: Uuid;
        isr: Option<Vec<i32>>, tag 0;
        leader: i32, tag 1 = -2;
        replicas: Option<Vec<i32>>, tag 2;
        removing_replicas: Option<Vec<i32>>, tag 3;
        adding_replicas: Option<Vec<i32>>, tag 4;
        leader_recovery_state: i8, tag 5 = -1;
        eligible_leader_replicas: Option<Vec<i32>> [2..], tag 6;
        last_known_elr: Option<Vec<i32>> [2..], tag 7;
        directories: Option<Vec<Uuid>> [1..], tag 8;
    }
}

message! {
    /// Metadata record 28.
    record ClearElrRecord, key 28, versions 0-0, flexible 0 {
        topic_name: String;
    }
}
