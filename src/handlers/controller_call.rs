//! What nodes of the cluster ask the active controller.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::{Request, Response};
use tokio::sync::oneshot::Receiver;

use super::{Answer, Ctx, Operation, Out, Resource, when};
use crate::controller::Controller;

/// Decodes, and asks the controller; `refused` makes the answer of a code.
pub fn call<Q: Request, R: Response>(
    ctx: &Ctx<'_>,
    body: &[u8],
    out: &mut Out,
    ask: impl FnOnce(&Controller, &Q) -> Receiver<R>,
    refused: impl FnOnce(i16) -> R,
) -> Answer {
    let request: Q = ctx.decode(body)?;
    if !ctx.authorize(Operation::ClusterAction, Resource::Cluster) {
        return ctx.respond(out, &refused(ErrorCode::ClusterAuthorizationFailed.code()));
    }
    match ctx.rooms.active_controller() {
        Some(controller) => when(ask(controller, &request), |response, ctx, out| ctx.respond(out, &response)),
        None => ctx.respond(out, &refused(ErrorCode::NotController.code())),
    }
}
