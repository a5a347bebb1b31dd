//! DescribeCluster (60), versions 0-2. Version 1 says which kind of endpoint is meant (KIP-919), version 2 can ask
//! for fenced brokers.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::describe_cluster::DescribeClusterBroker;
use barnabas_protocol::messages::{DescribeClusterRequest, DescribeClusterResponse};

use super::{Answer, Ctx, Out};
use crate::controller::reach::Reach;

const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DescribeClusterRequest = ctx.decode(body)?;
    if request.endpoint_type != BROKERS {
        return ctx.respond(out, &wrong_endpoint(request.endpoint_type));
    }
    let image = ctx.rooms.image();
    let reach = Reach::new(&image, &ctx.session.listener);
    let brokers = reach.all_brokers().filter(|(broker, _)| !broker.fenced || request.include_fenced_brokers);
    let response = DescribeClusterResponse {
        cluster_id: image.cluster_id().to_owned(),
        controller_id: ctx.rooms.config.node_id,
        brokers: brokers
            .map(|(broker, endpoint)| DescribeClusterBroker {
                broker_id: broker.id,
                host: endpoint.host.to_string(),
                port: i32::from(endpoint.port),
                rack: broker.rack.as_deref().map(str::to_owned),
                is_fenced: broker.fenced,
            })
            .collect(),
        cluster_authorized_operations: if request.include_cluster_authorized_operations {
            ctx.cluster_operations()
        } else {
            i32::MIN
        },
        ..Default::default()
    };
    ctx.respond(out, &response)
}

fn wrong_endpoint(kind: i8) -> DescribeClusterResponse {
    let (code, message) = if kind == CONTROLLERS {
        let message = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER";
        (ErrorCode::MismatchedEndpointType, message.to_owned())
    } else {
        (ErrorCode::UnsupportedEndpointType, format!("Unsupported endpoint type {kind}"))
    };
    DescribeClusterResponse { error_code: code.code(), error_message: Some(message), ..Default::default() }
}
