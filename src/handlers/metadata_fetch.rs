//! Fetch (1) on a controller listener, versions 13-18: those who copy the metadata log ask for what they lack (KIP-595).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::fetch::{
    EpochEndOffset, FetchableTopicResponse, LeaderIdAndEpoch, NodeEndpoint, PartitionData, SnapshotId,
};
use barnabas_protocol::messages::{FetchRequest, FetchResponse};

use super::{Answer, CloseReason, Ctx, Operation, Out, Outcome, Resource, Ticket};
use crate::controller::{ControllerError, MetadataLog, Standing, TOPIC_ID, standing};
use crate::ids::Uuid;

/// The most bytes of one answer, whatever is asked for.
const MOST_BYTES: i32 = 8 * 1024 * 1024;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: FetchRequest = ctx.decode(body)?;
    let refuse = |out: &mut Out, code: ErrorCode| {
        ctx.respond(out, &FetchResponse { error_code: code.code(), ..Default::default() })
    };
    if !ctx.authorize(Operation::ClusterAction, Resource::Cluster) {
        return refuse(out, ErrorCode::ClusterAuthorizationFailed);
    }
    let Some(log) = ctx.rooms.metadata_log() else { return refuse(out, ErrorCode::NotLeaderOrFollower) };
    if !is_our_cluster(ctx, request.cluster_id.as_deref(), request.replica_state.replica_id) {
        return refuse(out, ErrorCode::InconsistentClusterId);
    }
    let [topic] = request.topics.as_slice() else { return refuse(out, ErrorCode::InvalidRequest) };
    let ([partition], true) = (topic.partitions.as_slice(), topic.topic_id == TOPIC_ID) else {
        return refuse(out, ErrorCode::InvalidRequest);
    };
    let wait_ms = u64::try_from(request.max_wait_ms);
    let valid = partition.partition == 0
        && partition.fetch_offset >= 0
        && partition.last_fetched_epoch >= 0
        && partition.current_leader_epoch >= 0;
    let asked = Asked {
        node: request.replica_state.replica_id,
        directory: partition.replica_directory_id,
        epoch: partition.current_leader_epoch,
        offset: partition.fetch_offset,
        last_epoch: partition.last_fetched_epoch,
        high_watermark: partition.high_watermark,
        max_bytes: request.max_bytes.clamp(1, MOST_BYTES),
        deadline: ctx.now.mono_ms.saturating_add(wait_ms.unwrap_or(0)),
        log: log.clone(),
    };
    match wait_ms {
        Ok(_) if valid => asked.answer_or_wait(ctx, out),
        _ => asked.respond(ctx, out, ErrorCode::InvalidRequest, PartitionData::default()),
    }
}

/// Nodes of another cluster get nothing, and the log says how they came here.
pub(super) fn is_our_cluster(ctx: &Ctx<'_>, theirs: Option<&str>, node: i32) -> bool {
    let image = ctx.rooms.image();
    let ours = image.cluster_id();
    let same = theirs.is_none_or(|theirs| theirs == ours);
    if !same {
        tracing::warn!(
            peer = %ctx.session.peer, node, cluster = theirs.unwrap_or_default(), ours,
            "refused a node of another cluster: see its controller.quorum.bootstrap.servers and the cluster.id in its meta.properties"
        );
    }
    same
}

/// What a copy asks for.
struct Asked {
    node: i32,
    directory: Uuid,
    epoch: i32,
    offset: i64,
    last_epoch: i32,
    /// The copy knows that everything below is committed.
    high_watermark: i64,
    max_bytes: i32,
    deadline: u64,
    log: Arc<dyn MetadataLog>,
}

impl Asked {
    fn answer_or_wait(self, ctx: &Ctx<'_>, out: &mut Out) -> Answer {
        // Watched from before the look, so that nothing is missed.
        let mut committed = self.log.committed();
        let high_watermark = *committed.borrow_and_update();
        if let Err(code) = leads(&*self.log, ctx, self.epoch) {
            return self.respond(ctx, out, code, PartitionData::default());
        }
        let log = self.log.log();
        let followers = self.log.followers();
        followers.fetched(self.node, self.directory, self.offset, log.end_offset(), ctx.now.wall_ms);
        let stands = standing(log, self.log.snapshots(), self.offset, self.last_epoch).map_err(failed)?;
        let mut data =
            PartitionData { high_watermark, log_start_offset: log.start_offset(), ..Default::default() };
        match stands {
            Standing::Diverges(end) => {
                data.diverging_epoch = EpochEndOffset { epoch: end.epoch, end_offset: end.end_offset };
            }
            Standing::NeedsSnapshot(id) => {
                data.snapshot_id = SnapshotId { end_offset: id.offset, epoch: id.epoch };
            }
            Standing::Follows if self.offset < high_watermark => {
                let bytes = u64::try_from(self.max_bytes).unwrap_or_default();
                let read = || -> Result<_, ControllerError> {
                    let slice = log.read(self.offset, bytes, true, high_watermark)?;
                    slice.chunk.load().map_err(|source| ControllerError::Io {
                        doing: "read",
                        path: log.dir().to_path_buf(),
                        source,
                    })
                };
                data.records = Some(ctx.rooms.spawner.in_place(read).map_err(failed)?);
            }
            Standing::Follows => {
                let has_news = self.high_watermark < high_watermark;
                if !has_news && ctx.now.mono_ms < self.deadline && !ctx.stopping {
                    let changed = Box::pin(async move { drop(committed.changed().await) });
                    return Ok(Outcome::Parked(Box::new(Waiting { asked: self, changed })));
                }
            }
        }
        self.respond(ctx, out, ErrorCode::None, data)
    }

    fn respond(&self, ctx: &Ctx<'_>, out: &mut Out, code: ErrorCode, mut data: PartitionData) -> Answer {
        data.error_code = code.code();
        if code != ErrorCode::None {
            data.high_watermark = -1;
        }
        let quorum = self.log.quorum();
        data.current_leader = LeaderIdAndEpoch { leader_id: quorum.leader, leader_epoch: quorum.epoch };
        let node_endpoints = leader_endpoint(ctx, quorum.leader)
            .map(|(host, port)| NodeEndpoint {
                node_id: quorum.leader,
                host,
                port: i32::from(port),
                rack: None,
            })
            .into_iter()
            .collect();
        let topic =
            FetchableTopicResponse { topic: String::new(), topic_id: TOPIC_ID, partitions: vec![data] };
        ctx.respond(out, &FetchResponse { responses: vec![topic], node_endpoints, ..Default::default() })
    }
}

fn failed(error: ControllerError) -> CloseReason {
    CloseReason::Read(std::io::Error::other(error))
}

/// Where the leader is, for one who came in by this listener.
pub(super) fn leader_endpoint(ctx: &Ctx<'_>, leader: i32) -> Option<(String, u16)> {
    let image = ctx.rooms.image();
    let controller = image.controllers().find(|controller| controller.id == leader)?;
    let endpoint = controller
        .endpoints
        .iter()
        .find(|endpoint| *endpoint.listener == *ctx.session.listener)
        .or(controller.endpoints.first())?;
    Some((endpoint.host.to_string(), endpoint.port))
}

/// Only the leader of the epoch that the asker knows may answer.
pub(super) fn leads(log: &dyn MetadataLog, ctx: &Ctx<'_>, epoch: i32) -> Result<(), ErrorCode> {
    let quorum = log.quorum();
    if epoch < quorum.epoch {
        Err(ErrorCode::FencedLeaderEpoch)
    } else if epoch > quorum.epoch {
        Err(ErrorCode::UnknownLeaderEpoch)
    } else if quorum.leader != ctx.rooms.config.node_id {
        Err(ErrorCode::NotLeaderOrFollower)
    } else {
        Ok(())
    }
}

/// A copy that has everything waits for more.
struct Waiting {
    asked: Asked,
    changed: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Ticket for Waiting {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.changed.as_mut().poll(cx)
    }

    fn deadline(&self) -> Option<u64> {
        Some(self.asked.deadline)
    }

    fn finish(self: Box<Self>, ctx: &Ctx<'_>, out: &mut Out) -> Answer {
        self.asked.answer_or_wait(ctx, out)
    }
}
