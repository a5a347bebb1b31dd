//! AlterPartition (56), versions 2-3: a leader says who is in sync with it.

use barnabas_protocol::messages::AlterPartitionResponse;

use super::controller_call::call;
use super::{Answer, Ctx, Out};
use crate::controller::Controller;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    call(ctx, body, out, Controller::alter_partition, |error_code| AlterPartitionResponse {
        error_code,
        ..Default::default()
    })
}
