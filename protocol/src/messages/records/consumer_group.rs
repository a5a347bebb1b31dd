//! Consumer groups (KIP-848) in `__consumer_offsets`.

use bytes::Bytes;

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The key of record type 3 in `__consumer_offsets`.
    record ConsumerGroupMetadataKey, key 3, versions 0-0 {
        group_id: String;
    }
}

message! {
    /// The value of record type 3 in `__consumer_offsets`.
    record ConsumerGroupMetadataValue, key 3, versions 0-0, flexible 0 {
        epoch: i32;
        metadata_hash: i64, tag 0;
    }
}

message! {
    /// The key of record type 4 in `__consumer_offsets`.
    record ConsumerGroupPartitionMetadataKey, key 4, versions 0-0 {
        group_id: String;
    }
}

message! {
    /// The value of record type 4 in `__consumer_offsets`.
    record ConsumerGroupPartitionMetadataValue, key 4, versions 0-0, flexible 0 {
        topics: Vec<TopicMetadata>;
    }

    struct TopicMetadata {
        topic_id: Uuid;
        topic_name: String;
        num_partitions: i32;
        partition_metadata: Vec<PartitionMetadata>;
    }

    struct PartitionMetadata {
        partition: i32;
        racks: Vec<String>;
    }
}

message! {
    /// The key of record type 5 in `__consumer_offsets`.
    record ConsumerGroupMemberMetadataKey, key 5, versions 0-0 {
        group_id: String;
        member_id: String;
    }
}

message! {
    /// The value of record type 5 in `__consumer_offsets`.
    record ConsumerGroupMemberMetadataValue, key 5, versions 0-0, flexible 0 {
        instance_id: Option<String> = Some(String::new());
        rack_id: Option<String> = Some(String::new());
        client_id: String;
        client_host: String;
        subscribed_topic_names: Vec<String>;
        subscribed_topic_regex: Option<String> = Some(String::new());
        rebalance_timeout_ms: i32 = -1;
        server_assignor: Option<String> = Some(String::new());
        classic_member_metadata: Option<ClassicMemberMetadata>, tag 0 = Some(ClassicMemberMetadata::default());
    }

    struct ClassicMemberMetadata {
        session_timeout_ms: i32;
        supported_protocols: Vec<ClassicProtocol>;
    }

    struct ClassicProtocol {
        name: String;
        metadata: Bytes;
    }
}

message! {
    /// The key of record type 6 in `__consumer_offsets`.
    record ConsumerGroupTargetAssignmentMetadataKey, key 6, versions 0-0 {
        group_id: String;
    }
}

message! {
    /// The value of record type 6 in `__consumer_offsets`.
    record ConsumerGroupTargetAssignmentMetadataValue, key 6, versions 0-0, flexible 0 {
        assignment_epoch: i32;
        assignment_timestamp: i64, tag 0;
    }
}

message! {
    /// The key of record type 7 in `__consumer_offsets`.
    record ConsumerGroupTargetAssignmentMemberKey, key 7, versions 0-0 {
        group_id: String;
        member_id: String;
    }
}

message! {
    /// The value of record type 7 in `__consumer_offsets`.
    record ConsumerGroupTargetAssignmentMemberValue, key 7, versions 0-0, flexible 0 {
        topic_partitions: Vec<TopicPartition>;
    }

    struct TopicPartition {
        topic_id: Uuid;
        partitions: Vec<i32>;
    }
}

message! {
    /// The key of record type 8 in `__consumer_offsets`.
    record ConsumerGroupCurrentMemberAssignmentKey, key 8, versions 0-0 {
        group_id: String;
        member_id: String;
    }
}

message! {
    /// The value of record type 8 in `__consumer_offsets`.
    record ConsumerGroupCurrentMemberAssignmentValue, key 8, versions 0-0, flexible 0 {
        member_epoch: i32;
        previous_member_epoch: i32;
        state: i8;
        assigned_partitions: Vec<TopicPartitions>;
        partitions_pending_revocation: Vec<TopicPartitions>;
    }

    struct TopicPartitions {
        topic_id: Uuid;
        partitions: Vec<i32>;
        assignment_epochs: Option<Vec<i32>>, tag 0 = Some(Vec::new());
    }
}

message! {
    /// The key of record type 16 in `__consumer_offsets`.
    record ConsumerGroupRegularExpressionKey, key 16, versions 0-0 {
        group_id: String;
        regular_expression: String;
    }
}

message! {
    /// The value of record type 16 in `__consumer_offsets`.
    record ConsumerGroupRegularExpressionValue, key 16, versions 0-0, flexible 0 {
        topics: Vec<String>;
        version: i64;
        timestamp: i64;
    }
}
