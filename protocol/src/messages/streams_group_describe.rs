//! StreamsGroupDescribe, API key 89.

use crate::messages::dsl::message;

message! {
    /// The request of StreamsGroupDescribe, API key 89.
    request StreamsGroupDescribeRequest => StreamsGroupDescribeResponse, key StreamsGroupDescribe,
    versions 0-1, flexible 0 {
        group_ids: Vec<String>;
        include_authorized_operations: bool;
        include_topology_description: bool [1..];
    }
}

message! {
    /// The response of StreamsGroupDescribe, API key 89.
    response StreamsGroupDescribeResponse, key StreamsGroupDescribe, versions 0-1, flexible 0 {
        throttle_time_ms: i32;
        groups: Vec<DescribedGroup>;
    }

    struct DescribedGroup {
        error_code: i16;
        error_message: Option<String>;
        group_id: String;
        group_state: String;
        group_epoch: i32;
        assignment_epoch: i32;
        topology: Option<Topology>;
        members: Vec<Member>;
        authorized_operations: i32 = i32::MIN;
        topology_description: Option<TopologyDescription> [1..];
        topology_description_status: i8 [1..];
        assignor_name: Option<String> [1..];
    }

    struct Topology {
        epoch: i32;
        subtopologies: Option<Vec<Subtopology>>;
    }

    struct Subtopology {
        subtopology_id: String;
        source_topics: Vec<String>;
        repartition_sink_topics: Vec<String>;
        state_changelog_topics: Vec<TopicInfo>;
        repartition_source_topics: Vec<TopicInfo>;
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

    struct Member {
        member_id: String;
        member_epoch: i32;
        instance_id: Option<String>;
        rack_id: Option<String>;
        client_id: String;
        client_host: String;
        topology_epoch: i32;
        process_id: String;
        user_endpoint: Option<Endpoint>;
        client_tags: Vec<KeyValue>;
        task_offsets: Vec<TaskOffset>;
        task_end_offsets: Vec<TaskOffset>;
        assignment: Assignment;
        target_assignment: Assignment;
        is_classic: bool;
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

    struct Assignment {
        active_tasks: Vec<TaskIds>;
        standby_tasks: Vec<TaskIds>;
        warmup_tasks: Vec<TaskIds>;
    }

    struct TaskIds {
        subtopology_id: String;
        partitions: Vec<i32>;
    }

    struct TopologyDescription {
        subtopologies: Vec<TopologyDescriptionSubtopology>;
        global_stores: Vec<TopologyDescriptionGlobalStore>;
    }

    struct TopologyDescriptionSubtopology {
        subtopology_id: String;
        nodes: Vec<TopologyDescriptionNode>;
    }

    struct TopologyDescriptionNode {
        name: String;
        node_type: i8;
        source_topics: Vec<String>;
        sink_topic: Option<String>;
        stores: Vec<String>;
        successors: Vec<String>;
    }

    struct TopologyDescriptionGlobalStore {
        source: TopologyDescriptionNode;
        processor: TopologyDescriptionNode;
    }
}
