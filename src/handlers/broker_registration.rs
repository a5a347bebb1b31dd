//! BrokerRegistration (62), versions 0-4: a broker says that it runs, and gets an epoch.

use barnabas_protocol::messages::BrokerRegistrationResponse;

use super::controller_call::call;
use super::{Answer, Ctx, Out};
use crate::controller::Controller;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    call(ctx, body, out, Controller::register_broker, |error_code| BrokerRegistrationResponse {
        error_code,
        ..Default::default()
    })
}
