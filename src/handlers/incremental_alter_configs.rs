//! IncrementalAlterConfigs (44), versions 0-1: single settings of topics, brokers, groups and client metrics are
//! set, deleted, appended to or subtracted from (KIP-339). Log levels of this broker, too.

use barnabas_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterConfigsResourceResponse,
};
use barnabas_protocol::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse};

use super::config_change::{self, Asked};
use super::{Answer, Ctx, Out, when};
use crate::controller::ConfigOp;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: IncrementalAlterConfigsRequest = ctx.decode(body)?;
    let asked: Vec<Asked> = request.resources.iter().map(asked).collect();
    let plans = config_change::plan(ctx, &asked, request.validate_only);
    let changes = config_change::changes(&plans);
    let answer = move |decided, ctx: &Ctx<'_>, out: &mut Out| {
        let results = config_change::results(plans, decided).zip(request.resources);
        let responses = results.map(|((error_code, error_message), resource)| AlterConfigsResourceResponse {
            error_code,
            error_message,
            resource_type: resource.resource_type,
            resource_name: resource.resource_name,
        });
        let responses = responses.collect();
        ctx.respond(out, &IncrementalAlterConfigsResponse { responses, ..Default::default() })
    };
    if changes.is_empty() {
        return answer(Vec::new(), ctx, out);
    }
    when(ctx.rooms.controller()?.alter_configs(&changes, request.validate_only), answer)
}

fn asked(resource: &AlterConfigsResource) -> Asked {
    let mut asked = Asked {
        kind: resource.resource_type,
        name: resource.resource_name.clone(),
        ops: Vec::new(),
        without_value: Vec::new(),
        replace: false,
    };
    for config in &resource.configs {
        let op = match (config.config_operation, &config.value) {
            (1, _) => ConfigOp::Delete,
            (_, None) => {
                asked.without_value.push(config.name.clone());
                continue;
            }
            (0, Some(value)) => ConfigOp::Set(value.clone()),
            (2, Some(value)) => ConfigOp::Append(value.clone()),
            (3, Some(value)) => ConfigOp::Subtract(value.clone()),
            (other, Some(_)) => ConfigOp::Unknown(other),
        };
        asked.ops.push((config.name.clone(), op));
    }
    asked
}
