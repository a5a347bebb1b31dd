//! DescribeCluster, API key 60.

use crate::messages::dsl::message;

message! {
    /// The request of DescribeCluster, API key 60.
    request DescribeClusterRequest => DescribeClusterResponse, key DescribeCluster, versions 0-2, flexible 0 {
        include_cluster_authorized_operations: bool;
        endpoint_type: i8 [1..] = 1;
        include_fenced_brokers: bool [2..];
    }
}

message! {
    /// The response of DescribeCluster, API key 60.
    response DescribeClusterResponse, key DescribeCluster, versions 0-2, flexible 0 {
        throttle_time_ms: i32;
        error_code: i16;
        error_message: Option<String>;
        endpoint_type: i8 [1..] = 1;
        cluster_id: String;
        controller_id: i32 = -1;
        brokers: Vec<DescribeClusterBroker>;
        cluster_authorized_operations: i32 = i32::MIN;
    }

    struct DescribeClusterBroker {
        broker_id: i32;
        host: String;
        port: i32;
        rack: Option<String>;
        is_fenced: bool [2..];
    }
}
