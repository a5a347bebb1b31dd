//! BrokerHeartbeat (63), versions 0-2: a broker says that it is there, and what it wants to be.

use barnabas_protocol::messages::{BrokerHeartbeatRequest, BrokerHeartbeatResponse};

use super::controller_call::call;
use super::{Answer, Ctx, Out};
use crate::controller::Controller;

/// Tells the controller when the connection that a broker's heartbeats come by is no more.
struct Bond {
    controller: Controller,
    broker: i32,
    epoch: i64,
}

impl Drop for Bond {
    fn drop(&mut self) {
        self.controller.hung_up(self.broker, self.epoch);
    }
}

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let ask = |controller: &Controller, request: &BrokerHeartbeatRequest| {
        let (broker, epoch) = (request.broker_id, request.broker_epoch);
        let mut kept = ctx.session.kept.lock();
        let known = kept.as_ref().and_then(|kept| kept.downcast_ref::<Bond>());
        if known.is_none_or(|bond| (bond.broker, bond.epoch) != (broker, epoch)) {
            *kept = Some(Box::new(Bond { controller: controller.clone(), broker, epoch }));
        }
        controller.broker_heartbeat(request)
    };
    call(ctx, body, out, ask, |error_code| BrokerHeartbeatResponse { error_code, ..Default::default() })
}
