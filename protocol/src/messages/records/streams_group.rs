//! Streams groups (KIP-1071) in `__consumer_offsets`.

use crate::messages::dsl::message;

message! {
    /// The key of record type 17 in `__consumer_offsets`.
    record StreamsGroupMetadataKey, key 17, versions 0-0 {
        group_id: String;
    }
}

message! {
    /// The value of record type 17 in `__consumer_offsets`.
    record StreamsGroupMetadataValue, key 17, versions 0-0, flexible 0 {
        epoch: i32;
        metadata_hash: i64;
        validated_topology_epoch: i32, tag 0 = -1;
        last_assignment_configs: Option<Vec<LastAssignmentConfig>>, tag 1 = Some(Vec::new());
        stored_description_topology_epoch: i32, tag 2 = -1;
        failed_description_topology_epoch: i32, tag 3 = -1;
    }

    struct LastAssignmentConfig {
        key: String;
        value: String;
    }
}

message! {
    /// The key of record type 19 in `__consumer_offsets`.
    record StreamsGroupMemberMetadataKey, key 19, versions 0-0 {
        group_id: String;
        member_id: String;
    }
}

message! {
    /// The value of record type 19 in `__consumer_offsets`.
    record StreamsGroupMemberMetadataValue, key 19, versions 0-0, flexible 0 {
        instance_id: Option<String> = Some(String::new());
        rack_id: Option<String> = Some(String::new());
        client_id: String;
        client_host: String;
        rebalance_timeout_ms: i32 = -1;
        topology_epoch: i32;
        process_id: String;
        user_endpoint: Option<Endpoint>;
        client_tags: Vec<KeyValue>;
    }

    struct Endpoint {
        host: String;
        port: u16;
    }

    struct KeyValue {
        key: String;
        value: String;
    }
}

message! {
    /// The key of record type 20 in `__consumer_offsets`.
    record StreamsGroupTargetAssignmentMetadataKey, key 20, versions 0-0 {
        group_id: String;
    }
}

message! {
    /// The value of record type 20 in `__consumer_offsets`.
    record StreamsGroupTargetAssignmentMetadataValue, key 20, versions 0-0, flexible 0 {
        assignment_epoch: i32;
        assignment_timestamp: i64, tag 0;
    }
}

message! {
    /// The key of record type 21 in `__consumer_offsets`.
    record StreamsGroupTargetAssignmentMemberKey, key 21, versions 0-0 {
        group_id: String;
        member_id: String;
    }
}

message! {
    /// The value of record type 21 in `__consumer_offsets`.
    record StreamsGroupTargetAssignmentMemberValue, key 21, versions 0-0, flexible 0 {
        active_tasks: Vec<StreamsGroupTargetAssignmentMemberTaskIds>;
        standby_tasks: Vec<StreamsGroupTargetAssignmentMemberTaskIds>;
        warmup_tasks: Vec<StreamsGroupTargetAssignmentMemberTaskIds>;
    }

    struct StreamsGroupTargetAssignmentMemberTaskIds {
        subtopology_id: String;
        partitions: Vec<i32>;
    }
}

message! {
    /// The key of record type 22 in `__consumer_offsets`.
    record StreamsGroupCurrentMemberAssignmentKey, key 22, versions 0-0 {
        group_id: String;
        member_id: String;
    }
}

message! {
    /// The value of record type 22 in `__consumer_offsets`.
    record StreamsGroupCurrentMemberAssignmentValue, key 22, versions 0-0, flexible 0 {
        member_epoch: i32;
        previous_member_epoch: i32;
        state: i8;
        active_tasks: Vec<StreamsGroupCurrentMemberAssignmentTaskIds>;
        standby_tasks: Vec<StreamsGroupCurrentMemberAssignmentTaskIds>;
        warmup_tasks: Vec<StreamsGroupCurrentMemberAssignmentTaskIds>;
        active_tasks_pending_revocation: Vec<StreamsGroupCurrentMemberAssignmentTaskIds>;
        standby_tasks_pending_revocation: Vec<StreamsGroupCurrentMemberAssignmentTaskIds>;
        warmup_tasks_pending_revocation: Vec<StreamsGroupCurrentMemberAssignmentTaskIds>;
    }

    struct StreamsGroupCurrentMemberAssignmentTaskIds {
        subtopology_id: String;
        partitions: Vec<i32>;
        assignment_epochs: Option<Vec<i32>>, tag 0 = Some(Vec::new());
    }
}

message! {
    /// The key of record type 23 in `__consumer_offsets`.
    record StreamsGroupTopologyKey, key 23, versions 0-0 {
        group_id: String;
    }
}

message! {
    /// The value of record type 23 in `__consumer_offsets`.
    record StreamsGroupTopologyValue, key 23, versions 0-0, flexible 0 {
        epoch: i32;
        subtopologies: Vec<Subtopology>;
    }

    struct Subtopology {
        subtopology_id: String;
        source_topics: Vec<String>;
        source_topic_regex: Vec<String>;
        state_changelog_topics: Vec<TopicInfo>;
        repartition_sink_topics: Vec<String>;
        repartition_source_topics: Vec<TopicInfo>;
        copartition_groups: Vec<CopartitionGroup>;
    }

    struct TopicInfo {
        name: String;
        partitions: i32;
        replication_factor: i16;
        topic_configs: Vec<TopicConfig>;
    }

    struct TopicConfig {
        key: String;
        value: String;
    }

    struct CopartitionGroup {
        source_topics: Vec<i16>;
        source_topic_regex: Vec<i16>;
        repartition_source_topics: Vec<i16>;
    }
}
