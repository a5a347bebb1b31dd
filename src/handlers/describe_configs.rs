//! DescribeConfigs (32), versions 1-4: the settings of topics, brokers, groups, client metrics subscriptions, and
//! log levels. Version 3 brings types and documentation (KIP-569).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::describe_configs::{
    DescribeConfigsResource, DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use barnabas_protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse};

use super::config_change::ROOT_LOGGER;
use super::{Answer, Ctx, Operation, Out, Resource, error};
use crate::config::{Layers, Setting, Source, describe_all_brokers, describe_client_metrics};
use crate::controller::image::ResourceKind;
use crate::controller::state::names;
use crate::controller::{Image, Refusal};
use crate::logging;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DescribeConfigsRequest = ctx.decode(body)?;
    let image = ctx.rooms.image();
    if request.resources.iter().any(|resource| ResourceKind::from_code(resource.resource_type).is_none()) {
        // Kafka trips over it before it looks at any of them.
        let refused = request.resources.iter().map(|resource| DescribeConfigsResult {
            error_code: ErrorCode::InvalidRequest.code(),
            error_message: Some(error::sentence(ErrorCode::InvalidRequest).to_owned()),
            resource_type: resource.resource_type,
            resource_name: resource.resource_name.clone(),
            ..Default::default()
        });
        let results = ctx.gather(refused)?;
        return ctx.respond(out, &DescribeConfigsResponse { results, ..Default::default() });
    }
    let results = request.resources.iter().map(|resource| {
        let mut result = DescribeConfigsResult {
            resource_type: resource.resource_type,
            resource_name: resource.resource_name.clone(),
            ..Default::default()
        };
        match describe(ctx, &image, resource) {
            Ok(settings) => {
                let wanted = settings.into_iter().filter(|setting| is_wanted(resource, &setting.name));
                result.configs = wanted.map(|setting| shown(setting, &request)).collect();
            }
            Err(refusal) => {
                result.error_code = refusal.code.code();
                result.error_message = Some(refusal.message.unwrap_or_default());
            }
        }
        result
    });
    let results = ctx.gather(results)?;
    ctx.respond(out, &DescribeConfigsResponse { results, ..Default::default() })
}

/// No keys at all mean every key.
fn is_wanted(resource: &DescribeConfigsResource, name: &str) -> bool {
    let keys = resource.configuration_keys.as_deref().unwrap_or_default();
    keys.is_empty() || keys.iter().any(|key| key == name)
}

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::InvalidRequest, message)
}

fn describe(
    ctx: &Ctx<'_>,
    image: &Image,
    resource: &DescribeConfigsResource,
) -> Result<Vec<Setting>, Refusal> {
    let config = &ctx.rooms.config;
    let name = resource.resource_name.as_str();
    let layers =
        Layers { config, broker: image.broker_config(config.node_id), all_brokers: image.cluster_config() };
    let Some(kind) = ResourceKind::from_code(resource.resource_type) else {
        return Err(Refusal::bare(ErrorCode::InvalidRequest));
    };
    authorize(ctx, kind, name)?;
    match kind {
        ResourceKind::Topic => {
            if let Some(fault) = names::fault_of(name) {
                return Err(Refusal::new(ErrorCode::InvalidTopicException, fault));
            }
            if image.topic(name).is_none() {
                return Err(Refusal::bare(ErrorCode::UnknownTopicOrPartition));
            }
            layers
                .describe_topic(image.topic_config(name))
                .map_err(|problem| Refusal::new(ErrorCode::UnknownServerError, problem.to_string()))
        }
        ResourceKind::Broker if name.is_empty() => Ok(describe_all_brokers(layers.all_brokers)),
        ResourceKind::Broker => {
            own_id(name, config.node_id, " or empty string,")?;
            Ok(layers.describe_broker())
        }
        ResourceKind::BrokerLogger if name.is_empty() => Err(invalid("Broker id must not be empty")),
        ResourceKind::BrokerLogger => {
            own_id(name, config.node_id, "")?;
            Ok(vec![root_logger()])
        }
        ResourceKind::Group if name.is_empty() => Err(invalid("Group name must not be empty")),
        ResourceKind::Group => Ok(layers.describe_group(image.group_config(name))),
        ResourceKind::ClientMetrics if name.is_empty() => {
            Err(invalid("Client metrics subscription name must not be empty"))
        }
        ResourceKind::ClientMetrics => Ok(describe_client_metrics(image.overrides(kind, name))),
    }
}

fn authorize(ctx: &Ctx<'_>, kind: ResourceKind, name: &str) -> Result<(), Refusal> {
    let (what, code) = match kind {
        ResourceKind::Topic => (Resource::Topic(name), ErrorCode::TopicAuthorizationFailed),
        ResourceKind::Group => (Resource::Group(name), ErrorCode::GroupAuthorizationFailed),
        _ => (Resource::Cluster, ErrorCode::ClusterAuthorizationFailed),
    };
    if ctx.authorize(Operation::DescribeConfigs, what) { Ok(()) } else { Err(Refusal::bare(code)) }
}

/// Each broker tells of itself only.
fn own_id(name: &str, own: i32, or: &str) -> Result<(), Refusal> {
    match name.parse::<i32>() {
        Ok(id) if id == own => Ok(()),
        Ok(id) => Err(invalid(format!("Unexpected broker id, expected {own}{or} but received {id}"))),
        Err(_) => Err(invalid(format!("Broker id must be an integer, but it is: {name}"))),
    }
}

fn root_logger() -> Setting {
    Setting {
        name: ROOT_LOGGER.to_owned(),
        value: Some(logging::root_level().name().to_owned()),
        read_only: false,
        source: Source::Logger,
        sensitive: false,
        synonyms: Vec::new(),
        kind: 0,
        doc: "",
    }
}

fn shown(setting: Setting, request: &DescribeConfigsRequest) -> DescribeConfigsResourceResult {
    let synonym = |synonym: crate::config::Synonym| DescribeConfigsSynonym {
        name: synonym.name,
        value: synonym.value,
        source: synonym.source.code(),
    };
    let synonyms = if request.include_synonyms { setting.synonyms } else { Vec::new() };
    // A log level always has one, and it is empty.
    let documented = request.include_documentation || setting.source == Source::Logger;
    DescribeConfigsResourceResult {
        name: setting.name,
        value: setting.value,
        read_only: setting.read_only,
        config_source: setting.source.code(),
        is_sensitive: setting.sensitive,
        synonyms: synonyms.into_iter().map(synonym).collect(),
        config_type: setting.kind,
        documentation: documented.then(|| setting.doc.to_owned()),
    }
}
