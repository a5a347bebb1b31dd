//! ListConfigResources (74), versions 0-1: what can have settings of its own. Version 0 lists client metrics
//! subscriptions only (KIP-714), version 1 any kind (KIP-1142).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::list_config_resources::ConfigResource;
use barnabas_protocol::messages::{ListConfigResourcesRequest, ListConfigResourcesResponse};

use super::{Answer, Ctx, Operation, Out, Resource};
use crate::controller::Image;
use crate::controller::image::ResourceKind;

const EVERY_KIND: &[ResourceKind] = &[
    ResourceKind::Group,
    ResourceKind::ClientMetrics,
    ResourceKind::BrokerLogger,
    ResourceKind::Broker,
    ResourceKind::Topic,
];

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: ListConfigResourcesRequest = ctx.decode(body)?;
    let mut response = ListConfigResourcesResponse::default();
    let kinds = match ctx.version {
        0 => Ok(vec![ResourceKind::ClientMetrics]),
        _ => wanted(&request.resource_types),
    };
    match kinds {
        Err(error) => response.error_code = error.code(),
        Ok(_) if !ctx.authorize(Operation::DescribeConfigs, Resource::Cluster) => {
            response.error_code = ErrorCode::ClusterAuthorizationFailed.code();
        }
        Ok(kinds) => {
            let image = ctx.rooms.image();
            for kind in kinds {
                let named = |resource_name| ConfigResource { resource_name, resource_type: kind.code() };
                response.config_resources.extend(names(&image, kind).into_iter().map(named));
            }
        }
    }
    ctx.respond(out, &response)
}

/// The kinds that a request names; all of them if it names none.
fn wanted(codes: &[i8]) -> Result<Vec<ResourceKind>, ErrorCode> {
    let mut kinds = Vec::new();
    for code in codes {
        kinds.push(ResourceKind::from_code(*code).ok_or(ErrorCode::UnsupportedVersion)?);
    }
    let asked_for = |kind: &&ResourceKind| codes.is_empty() || kinds.contains(kind);
    Ok(EVERY_KIND.iter().filter(asked_for).copied().collect())
}

fn names(image: &Image, kind: ResourceKind) -> Vec<String> {
    match kind {
        ResourceKind::Topic => image.topics().map(|topic| topic.name.to_string()).collect(),
        ResourceKind::Broker | ResourceKind::BrokerLogger => {
            image.brokers().map(|broker| broker.id.to_string()).collect()
        }
        ResourceKind::Group | ResourceKind::ClientMetrics => {
            image.configured(kind).map(|(name, _)| name.to_owned()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        assert_eq!(wanted(&[]).unwrap(), EVERY_KIND);
        assert_eq!(wanted(&[2, 2]).unwrap(), [ResourceKind::Topic]);
        assert_eq!(wanted(&[4, 99]), Err(ErrorCode::UnsupportedVersion));
        assert_eq!(wanted(&[0]), Err(ErrorCode::UnsupportedVersion));
    }
}
