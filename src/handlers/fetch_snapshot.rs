//! FetchSnapshot (59), versions 0-1: a copy of the metadata log that is too far behind asks for a snapshot, part by part
//! (KIP-630).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::fetch_snapshot::{
    LeaderIdAndEpoch, NodeEndpoint, RequestPartitionSnapshot, ResponsePartitionSnapshot,
    ResponseTopicSnapshot,
};
use barnabas_protocol::messages::{FetchSnapshotRequest, FetchSnapshotResponse};

use super::metadata_fetch::{is_our_cluster, leader_endpoint, leads};
use super::{Answer, CloseReason, Ctx, Operation, Out, Resource};
use crate::controller::{MetadataLog, SnapshotId, TOPIC_NAME};

/// The most bytes of one answer, whatever is asked for.
const MOST_BYTES: i32 = 8 * 1024 * 1024;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: FetchSnapshotRequest = ctx.decode(body)?;
    let refuse = |out: &mut Out, code: ErrorCode| {
        ctx.respond(out, &FetchSnapshotResponse { error_code: code.code(), ..Default::default() })
    };
    if !ctx.authorize(Operation::ClusterAction, Resource::Cluster) {
        return refuse(out, ErrorCode::ClusterAuthorizationFailed);
    }
    let Some(log) = ctx.rooms.metadata_log() else { return refuse(out, ErrorCode::NotLeaderOrFollower) };
    if !is_our_cluster(ctx, request.cluster_id.as_deref(), request.replica_id) {
        return refuse(out, ErrorCode::InconsistentClusterId);
    }
    let [topic] = request.topics.as_slice() else { return refuse(out, ErrorCode::InvalidRequest) };
    let [partition] = topic.partitions.as_slice() else { return refuse(out, ErrorCode::InvalidRequest) };
    let quorum = log.quorum();
    let mut data = ResponsePartitionSnapshot {
        index: partition.partition,
        current_leader: LeaderIdAndEpoch { leader_id: quorum.leader, leader_epoch: quorum.epoch },
        snapshot_id: partition.snapshot_id.clone(),
        ..Default::default()
    };
    if topic.name != TOPIC_NAME || partition.partition != 0 {
        data.error_code = ErrorCode::UnknownTopicOrPartition.code();
    } else if let Err(code) = leads(&**log, ctx, partition.current_leader_epoch) {
        data.error_code = code.code();
    } else {
        let max_bytes = request.max_bytes.clamp(1, MOST_BYTES);
        ctx.rooms.spawner.in_place(|| read(&**log, partition, max_bytes, &mut data))?;
    }
    let endpoint = leader_endpoint(ctx, quorum.leader);
    let node_endpoints = endpoint.map(|(host, port)| NodeEndpoint { node_id: quorum.leader, host, port });
    let topic = ResponseTopicSnapshot { name: topic.name.clone(), partitions: vec![data] };
    let node_endpoints = node_endpoints.into_iter().collect();
    ctx.respond(out, &FetchSnapshotResponse { topics: vec![topic], node_endpoints, ..Default::default() })
}

fn read(
    log: &dyn MetadataLog,
    asked: &RequestPartitionSnapshot,
    max_bytes: i32,
    data: &mut ResponsePartitionSnapshot,
) -> Result<(), CloseReason> {
    let id = SnapshotId { offset: asked.snapshot_id.end_offset, epoch: asked.snapshot_id.epoch };
    let position = u64::try_from(asked.position);
    let most = usize::try_from(max_bytes).unwrap_or_default();
    let found = log
        .snapshots()
        .bytes(id, position.unwrap_or(u64::MAX), most)
        .map_err(|error| CloseReason::Read(std::io::Error::other(error)))?;
    // What a cluster begins with is not a snapshot of its log.
    match found.filter(|_| id != SnapshotId::FRESH) {
        None => data.error_code = ErrorCode::SnapshotNotFound.code(),
        Some((_, size)) if position.is_err() || position.is_ok_and(|position| position >= size) => {
            data.error_code = ErrorCode::PositionOutOfRange.code();
        }
        Some((bytes, size)) => {
            data.size = i64::try_from(size).unwrap_or(i64::MAX);
            data.position = asked.position;
            data.unaligned_records = bytes.into();
        }
    }
    Ok(())
}
