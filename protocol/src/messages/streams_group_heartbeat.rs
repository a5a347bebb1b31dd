//! StreamsGroupHeartbeat, API key 88.

use crate::messages::dsl::message;

message! {
    /// The request of StreamsGroupHeartbeat, API key 88.
    request StreamsGroupHeartbeatRequest => StreamsGroupHeartbeatResponse, key StreamsGroupHeartbeat,
    versions 0-1, flexible 0 {
        group_id: String;
        member_id: String;
        member_epoch: i32;
        endpoint_information_epoch: i32;
        instance_id: Option<String>;
        rack_id: Option<String>;
        rebalance_timeout_ms: i32 = -1;
        topology: Option<Topology>;
        active_tasks: Option<Vec<TaskIds>>;
        standby_tasks: Option<Vec<TaskIds>>;
        warmup_tasks: Option<Vec<TaskIds>>;
        process_id: Option<String>;
        user_endpoint: Option<Endpoint>;
        client_tags: Option<Vec<KeyValue>>;
        task_offsets: Option<Vec<TaskOffset>>;
        task_end_offsets: Option<Vec<TaskOffset>>;
        shutdown_application: bool;
    }

    struct Topology {
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
        topic_configs: Vec<KeyValue>;
    }

    struct KeyValue {
        key: String;
        value: String;
    }

    struct CopartitionGroup {
        source_topics: Vec<i16>;
        source_topic_regex: Vec<i16>;
        repartition_source_topics: Vec<i16>;
    }

    struct TaskIds {
        subtopology_id: String;
        partitions: Vec<i32>;
    }

    struct Endpoint {
        host: String;
        port: u16;
    }

    struct TaskOffset {
        subtopology_id: String;
        partition: i32;
        offset: i64;
    }
}

message! {
    /// The response of StreamsGroupHeartbeat, API key 88.
    response StreamsGroupHeartbeatResponse, key StreamsGroupHeartbeat, versions 0-1, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String>;
        member_id: String;
        member_epoch: i32;
        heartbeat_interval_ms: i32;
        acceptable_recovery_lag_legacy: i32 [..=0];
        task_offset_interval_ms: i32;
        acceptable_recovery_lag: i64 [1..] = -1;
        status: Option<Vec<Status>> = Some(Vec::new());
        active_tasks: Option<Vec<TaskIds>>;
        standby_tasks: Option<Vec<TaskIds>>;
        warmup_tasks: Option<Vec<TaskIds>>;
        topology_description_required: bool [1..];
        endpoint_information_epoch: i32;
        partitions_by_user_endpoint: Option<Vec<EndpointToPartitions>>;
    }

    struct Status {
        status_code: i8;
        status_detail: String;
    }

    struct EndpointToPartitions {
        user_endpoint: Endpoint;
        active_partitions: Vec<TopicPartition>;
        standby_partitions: Vec<TopicPartition>;
    }

    struct TopicPartition {
        topic: String;
        partitions: Vec<i32>;
    }
}
