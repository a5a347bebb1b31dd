//! ControllerRegistration (70), version 0: a controller says where it listens and what it supports.

use barnabas_protocol::messages::ControllerRegistrationResponse;

use super::controller_call::call;
use super::{Answer, Ctx, Out};
use crate::controller::Controller;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    call(ctx, body, out, Controller::register_controller, |error_code| ControllerRegistrationResponse {
        error_code,
        error_message: None,
        ..Default::default()
    })
}
