//! Share groups (KIP-932) in `__consumer_offsets`.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The key of record type 10 in `__consumer_offsets`.
    record ShareGroupMemberMetadataKey, key 10, versions 0-0 {
        group_id: String;
        member_id: String;
    }
}

message! {
    /// The value of record type 10 in `__consumer_offsets`.
    record ShareGroupMemberMetadataValue, key 10, versions 0-0, flexible 0 {
        rack_id: Option<String> = Some(String::new());
        client_id: String;
        client_host: String;
        subscribed_topic_names: Vec<String>;
    }
}

message! {
    /// The key of record type 11 in `__consumer_offsets`.
    record ShareGroupMetadataKey, key 11, versions 0-0 {
        group_id: String;
    }
}

message! {
    /// The value of record type 11 in `__consumer_offsets`.
    record ShareGroupMetadataValue, key 11, versions 0-0, flexible 0 {
        epoch: i32;
        metadata_hash: i64;
    }
}

message! {
    /// The key of record type 12 in `__consumer_offsets`.
    record ShareGroupTargetAssignmentMetadataKey, key 12, versions 0-0 {
        group_id: String;
    }
}

message! {
    /// The value of record type 12 in `__consumer_offsets`.
    record ShareGroupTargetAssignmentMetadataValue, key 12, versions 0-0, flexible 0 {
        assignment_epoch: i32;
        assignment_timestamp: i64, tag 0;
    }
}

message! {
    /// The key of record type 13 in `__consumer_offsets`.
    record ShareGroupTargetAssignmentMemberKey, key 13, versions 0-0 {
        group_id: String;
        member_id: String;
    }
}

message! {
    /// The value of record type 13 in `__consumer_offsets`.
    record ShareGroupTargetAssignmentMemberValue, key 13, versions 0-0, flexible 0 {
        topic_partitions: Vec<TopicPartition>;
    }

    struct TopicPartition {
        topic_id: Uuid;
        partitions: Vec<i32>;
    }
}

message! {
    /// The key of record type 14 in `__consumer_offsets`.
    record ShareGroupCurrentMemberAssignmentKey, key 14, versions 0-0 {
        group_id: String;
        member_id: String;
    }
}

message! {
    /// The value of record type 14 in `__consumer_offsets`.
    record ShareGroupCurrentMemberAssignmentValue, key 14, versions 0-0, flexible 0 {
        member_epoch: i32;
        previous_member_epoch: i32;
        state: i8;
        assigned_partitions: Vec<TopicPartitions>;
    }

    struct TopicPartitions {
        topic_id: Uuid;
        partitions: Vec<i32>;
    }
}

message! {
    /// The key of record type 15 in `__consumer_offsets`.
    record ShareGroupStatePartitionMetadataKey, key 15, versions 0-0 {
        group_id: String;
    }
}

message! {
    /// The value of record type 15 in `__consumer_offsets`.
    record ShareGroupStatePartitionMetadataValue, key 15, versions 0-0, flexible 0 {
        initializing_topics: Vec<TopicPartitionsInfo>;
        initialized_topics: Vec<TopicPartitionsInfo>;
        deleting_topics: Vec<TopicInfo>;
    }

    struct TopicPartitionsInfo {
        topic_id: Uuid;
        topic_name: String;
        partitions: Vec<i32>;
    }

    struct TopicInfo {
        topic_id: Uuid;
        topic_name: String;
    }
}
