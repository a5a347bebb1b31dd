//! Quorum (20595), version 0: what the voters of a quorum of Barnabas's ask each other. Kafka has no such call.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::{QuorumRequest, QuorumResponse};
use tokio::sync::oneshot;

use super::metadata_fetch::is_our_cluster;
use super::{Answer, Ctx, Operation, Out, Resource, when};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: QuorumRequest = ctx.decode(body)?;
    let refuse = |out: &mut Out, code: ErrorCode| {
        ctx.respond(out, &QuorumResponse { error_code: code.code(), ..Default::default() })
    };
    if !ctx.authorize(Operation::ClusterAction, Resource::Cluster) {
        return refuse(out, ErrorCode::ClusterAuthorizationFailed);
    }
    if !is_our_cluster(ctx, Some(&request.cluster_id), request.from) {
        return refuse(out, ErrorCode::InconsistentClusterId);
    }
    let us = ctx.rooms.config.node_id;
    if request.to != us || request.from == us {
        tracing::warn!(
            peer = %ctx.session.peer, from = request.from, to = request.to, us,
            "refused a voter that takes this node for another one: see controller.quorum.voters and node.id of both"
        );
        return refuse(out, ErrorCode::InvalidRequest);
    }
    let from = request.from;
    let Some(answer) = ctx.rooms.metadata_log().and_then(|log| log.answer_voter(request)) else {
        tracing::warn!(peer = %ctx.session.peer, from, "refused a voter: this node has no part in its quorum");
        return refuse(out, ErrorCode::InconsistentVoterSet);
    };
    let (sender, receiver) = oneshot::channel();
    ctx.rooms.spawner.spawn(async move {
        // Nobody waits for it any more if the connection is gone.
        let _gone = sender.send(answer.await);
    });
    when(receiver, |answer, ctx, out| ctx.respond(out, &answer))
}
