//! WriteTxnMarkers, API key 27.

use crate::messages::dsl::message;

message! {
    /// The request of WriteTxnMarkers, API key 27.
    request WriteTxnMarkersRequest => WriteTxnMarkersResponse, key WriteTxnMarkers, versions 1-2, flexible 1 {
        markers: Vec<WritableTxnMarker>;
    }

    struct WritableTxnMarker {
        producer_id: i64;
        producer_epoch: i16;
        transaction_result: bool;
        topics: Vec<WritableTxnMarkerTopic>;
        coordinator_epoch: i32;
        transaction_version: i8 [2..];
    }

    struct WritableTxnMarkerTopic {
        name: String;
        partition_indexes: Vec<i32>;
    }
}

message! {
    /// The response of WriteTxnMarkers, API key 27.
    response WriteTxnMarkersResponse, key WriteTxnMarkers, versions 1-2, flexible 1 {
        markers: Vec<WritableTxnMarkerResult>;
    }

    struct WritableTxnMarkerResult {
        producer_id: i64;
        topics: Vec<WritableTxnMarkerTopicResult>;
    }

    struct WritableTxnMarkerTopicResult {
        name: String;
        partitions: Vec<WritableTxnMarkerPartitionResult>;
    }

    struct WritableTxnMarkerPartitionResult {
        partition_index: i32;
        error_code: i16;
    }
}
