//! AlterConfigs (33), versions 0-2: the settings of a topic, broker, group or client metrics subscription become
//! exactly these (KIP-133); what is not named goes back to its default.

use barnabas_protocol::messages::alter_configs::{AlterConfigsResource, AlterConfigsResourceResponse};
use barnabas_protocol::messages::{AlterConfigsRequest, AlterConfigsResponse};

use super::config_change::{self, Asked};
use super::{Answer, Ctx, Out, when};
use crate::controller::ConfigOp;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: AlterConfigsRequest = ctx.decode(body)?;
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
        ctx.respond(out, &AlterConfigsResponse { responses: responses.collect(), ..Default::default() })
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
        replace: true,
    };
    for config in &resource.configs {
        match &config.value {
            Some(value) => asked.ops.push((config.name.clone(), ConfigOp::Set(value.clone()))),
            None => asked.without_value.push(config.name.clone()),
        }
    }
    asked
}
