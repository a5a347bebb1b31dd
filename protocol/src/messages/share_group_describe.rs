//! ShareGroupDescribe, API key 77.

use crate::Uuid;
use crate::messages::dsl::message;

message! {
    /// The request of ShareGroupDescribe, API key 77.
    request ShareGroupDescribeRequest => ShareGroupDescribeResponse, key ShareGroupDescribe,
    versions 1-1, flexible 0 {
        group_ids: Vec<String>;
        include_authorized_operations: bool;
    }
}

message! {
    /// The response of ShareGroupDescribe, API key 77.
    response ShareGroupDescribeResponse, key ShareGroupDescribe, versions 1-1, flexible 0 {
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
        assignor_name: String;
        members: Vec<Member>;
        authorized_operations: i32 = i32::MIN;
    }

    struct Member {
        member_id: String;
        rack_id: Option<String>;
        member_epoch: i32;
        client_id: String;
        client_host: String;
        subscribed_topic_names: Vec<String>;
        assignment: Assignment;
    }

    struct Assignment {
        topic_partitions: Vec<TopicPartitions>;
    }

    struct TopicPartitions {
        topic_id: Uuid;
        topic_name: String;
        partitions: Vec<i32>;
    }
}
