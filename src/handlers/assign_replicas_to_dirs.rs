//! AssignReplicasToDirs (73), version 0: a broker says in which directories its replicas are.

use barnabas_protocol::messages::AssignReplicasToDirsResponse;

use super::controller_call::call;
use super::{Answer, Ctx, Out};
use crate::controller::Controller;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    call(ctx, body, out, Controller::assign_directories, |error_code| AssignReplicasToDirsResponse {
        error_code,
        ..Default::default()
    })
}
