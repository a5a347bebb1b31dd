//! StreamsGroupTopologyDescriptionUpdate, API key 93.

use crate::messages::dsl::message;

message! {
    /// The request of StreamsGroupTopologyDescriptionUpdate, API key 93.
    request StreamsGroupTopologyDescriptionUpdateRequest => StreamsGroupTopologyDescriptionUpdateResponse,
    key StreamsGroupTopologyDescriptionUpdate, versions 0-0, flexible 0 {
        group_id: String;
        member_id: String;
        topology_epoch: i32;
        topology_description: TopologyDescription;
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

message! {
    /// The response of StreamsGroupTopologyDescriptionUpdate, API key 93.
    response StreamsGroupTopologyDescriptionUpdateResponse, key StreamsGroupTopologyDescriptionUpdate,
    versions 0-0, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String>;
    }
}
