//! DescribeCluster (60), versions 0-2. Version 1 says which kind of endpoint is meant (KIP-919), version 2 can ask
//! for fenced brokers.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::describe_cluster::DescribeClusterBroker;
use barnabas_protocol::messages::{DescribeClusterRequest, DescribeClusterResponse};

use super::{Answer, Ctx, Out, Side};
use crate::controller::Image;
use crate::controller::reach::Reach;

const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DescribeClusterRequest = ctx.decode(body)?;
    if let Some(refused) = wrong_endpoint(ctx.session.side, request.endpoint_type) {
        return ctx.respond(out, &refused);
    }
    let image = ctx.rooms.image();
    if ctx.session.side == Side::Controller {
        return ctx.respond(out, &controllers(&image, ctx, &request));
    }
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

/// The controllers that can be reached where the request came in.
fn controllers(image: &Image, ctx: &Ctx<'_>, request: &DescribeClusterRequest) -> DescribeClusterResponse {
    let brokers = image.controllers().filter_map(|controller| {
        let endpoint = controller.endpoints.iter().find(|at| *at.listener == *ctx.session.listener)?;
        Some(DescribeClusterBroker {
            broker_id: controller.id,
            host: endpoint.host.to_string(),
            port: i32::from(endpoint.port),
            ..Default::default()
        })
    });
    DescribeClusterResponse {
        endpoint_type: CONTROLLERS,
        cluster_id: image.cluster_id().to_owned(),
        controller_id: ctx.rooms.quorum_leader(),
        brokers: brokers.collect(),
        cluster_authorized_operations: if request.include_cluster_authorized_operations {
            ctx.cluster_operations()
        } else {
            i32::MIN
        },
        ..Default::default()
    }
}

fn wrong_endpoint(here: Side, wanted: i8) -> Option<DescribeClusterResponse> {
    let (code, message) = match (here, wanted) {
        (Side::Broker, BROKERS) | (Side::Controller, CONTROLLERS) => return None,
        (Side::Broker, CONTROLLERS) => (
            ErrorCode::MismatchedEndpointType,
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
                .to_owned(),
        ),
        (Side::Controller, BROKERS) => (
            ErrorCode::MismatchedEndpointType,
            "The request was sent to an endpoint of type CONTROLLER, but we wanted an endpoint of type BROKER"
                .to_owned(),
        ),
        (_, other) => (ErrorCode::UnsupportedEndpointType, format!("Unsupported endpoint type {other}")),
    };
    let error_message = Some(message);
    Some(DescribeClusterResponse { error_code: code.code(), error_message, ..Default::default() })
}
