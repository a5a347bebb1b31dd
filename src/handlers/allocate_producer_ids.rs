//! AllocateProducerIds (67), version 0: a broker gets a block of producer ids.

use barnabas_protocol::messages::AllocateProducerIdsResponse;

use super::controller_call::call;
use super::{Answer, Ctx, Out};
use crate::controller::Controller;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    call(ctx, body, out, Controller::allocate_producer_ids, |error_code| AllocateProducerIdsResponse {
        error_code,
        ..Default::default()
    })
}
