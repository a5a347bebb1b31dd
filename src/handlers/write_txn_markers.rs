//! WriteTxnMarkers (27), versions 1-2: a transaction coordinator ends transactions in partitions of this broker.
//! Version 2 says which protocol the producer speaks (KIP-1228).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::write_txn_markers::{
    WritableTxnMarker, WritableTxnMarkerPartitionResult, WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
};
use barnabas_protocol::messages::{WriteTxnMarkersRequest, WriteTxnMarkersResponse};
use tokio::sync::oneshot;

use super::{Answer, Ctx, Operation, Out, Resource, when};
use crate::coordinator::{Marker, MarkerFault, Unsettled};
use crate::ids::TopicName;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: WriteTxnMarkersRequest = ctx.decode(body)?;
    let may = ctx.authorize(Operation::ClusterAction, Resource::Cluster)
        || ctx.authorize(Operation::Alter, Resource::Cluster);
    let mut unsettled = Vec::new();
    // As in Kafka, one without any partition is not answered.
    let of_some =
        |result: &WritableTxnMarkerResult| result.topics.iter().any(|topic| !topic.partitions.is_empty());
    let markers =
        request.markers.iter().map(|marker| write(ctx, marker, may, &mut unsettled)).filter(of_some);
    let response = WriteTxnMarkersResponse { markers: markers.collect() };
    if unsettled.is_empty() {
        return ctx.respond(out, &response);
    }
    let (sender, receiver) = oneshot::channel();
    ctx.rooms.spawner.spawn(async move {
        let mut lost = Vec::new();
        for marker in unsettled {
            if !marker.settles().await {
                lost.push(marker.place());
            }
        }
        // Nobody waits for it any more if the connection is gone.
        let _gone = sender.send(lost);
    });
    when(receiver, move |lost: Vec<(TopicName, i32)>, ctx, out| {
        let mut response = response;
        refuse(&mut response, &lost);
        ctx.respond(out, &response)
    })
}

/// What was written and will perhaps never be committed is to be written again.
fn refuse(response: &mut WriteTxnMarkersResponse, lost: &[(TopicName, i32)]) {
    for topic in response.markers.iter_mut().flat_map(|marker| &mut marker.topics) {
        for partition in &mut topic.partitions {
            if lost.iter().any(|(name, index)| **name == *topic.name && *index == partition.partition_index) {
                partition.error_code = ErrorCode::NotLeaderOrFollower.code();
            }
        }
    }
}

fn write(
    ctx: &Ctx<'_>,
    request: &WritableTxnMarker,
    may: bool,
    unsettled: &mut Vec<Unsettled>,
) -> WritableTxnMarkerResult {
    let marker = Marker {
        producer_id: request.producer_id,
        producer_epoch: request.producer_epoch,
        commit: request.transaction_result,
        coordinator_epoch: request.coordinator_epoch,
        transaction_version: request.transaction_version,
    };
    let mut one = |topic: &str, index: i32| {
        if !may {
            ErrorCode::ClusterAuthorizationFailed
        } else {
            match ctx.rooms.markers.write(topic, index, marker) {
                Ok(waits) => {
                    unsettled.extend(waits);
                    ErrorCode::None
                }
                Err(fault) => code(&fault),
            }
        }
    };
    let topics = request.topics.iter().map(|topic| WritableTxnMarkerTopicResult {
        name: topic.name.clone(),
        partitions: topic
            .partition_indexes
            .iter()
            .map(|index| WritableTxnMarkerPartitionResult {
                partition_index: *index,
                error_code: one(&topic.name, *index).code(),
            })
            .collect(),
    });
    WritableTxnMarkerResult { producer_id: request.producer_id, topics: topics.collect() }
}

fn code(fault: &MarkerFault) -> ErrorCode {
    match fault {
        MarkerFault::OfNobody => ErrorCode::UnknownServerError,
        MarkerFault::Unknown => ErrorCode::UnknownTopicOrPartition,
        MarkerFault::NotLeader => ErrorCode::NotLeaderOrFollower,
        MarkerFault::ProducerFenced => ErrorCode::InvalidProducerEpoch,
        MarkerFault::CoordinatorFenced => ErrorCode::TransactionCoordinatorFenced,
        MarkerFault::Failed(_) => ErrorCode::KafkaStorageError,
    }
}
