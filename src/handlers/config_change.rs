//! What AlterConfigs and IncrementalAlterConfigs share: checks of a resource before the controller is asked, and the
//! answer per resource.

use std::collections::HashMap;

use barnabas_protocol::ErrorCode;

use super::{Ctx, Operation, Resource};
use crate::config::definition::{self, Kind};
use crate::controller::image::{ConfigResource, ResourceKind};
use crate::controller::{ConfigChange, ConfigOp, Refusal};
use crate::logging;

/// One resource of a request, in both APIs' common form.
pub(super) struct Asked {
    pub(super) kind: i8,
    pub(super) name: String,
    pub(super) ops: Vec<(String, ConfigOp)>,
    /// Keys that got no value where one is needed.
    pub(super) without_value: Vec<String>,
    pub(super) replace: bool,
}

/// What is to be done for each resource: refused, done at once, or for the controller to decide.
pub(super) enum Plan {
    Refused(Refusal),
    Done,
    Change(ConfigChange),
}

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::InvalidRequest, message)
}

/// Looks at every resource.
pub(super) fn plan(ctx: &Ctx<'_>, asked: &[Asked], validate_only: bool) -> Vec<Plan> {
    let mut times: HashMap<(i8, &str), usize> = HashMap::new();
    for one in asked {
        *times.entry((one.kind, &one.name)).or_default() += 1;
    }
    let plan_one = |one: &Asked| {
        if times.get(&(one.kind, one.name.as_str())).is_some_and(|times| *times > 1) {
            return Plan::Refused(invalid("Each resource must appear at most once."));
        }
        resource(ctx, one, validate_only).unwrap_or_else(Plan::Refused)
    };
    asked.iter().map(plan_one).collect()
}

fn resource(ctx: &Ctx<'_>, asked: &Asked, validate_only: bool) -> Result<Plan, Refusal> {
    let mut keys: Vec<&str> = asked.ops.iter().map(|(key, _)| key.as_str()).collect();
    keys.extend(asked.without_value.iter().map(String::as_str));
    keys.sort_unstable();
    if keys.windows(2).any(|pair| matches!(pair, [one, other] if one == other)) {
        return Err(invalid("Error due to duplicate config keys"));
    }
    if !asked.without_value.is_empty() {
        return Err(invalid(format!("Null value not supported for : {}", asked.without_value.join(", "))));
    }
    let kind = match ResourceKind::from_code(asked.kind) {
        Some(ResourceKind::BrokerLogger) if asked.replace => None,
        kind => kind,
    };
    let Some(kind) = kind else {
        return Err(invalid(format!("Unknown resource type {}", asked.kind)));
    };
    authorize(ctx, kind, &asked.name)?;
    check_name(ctx, kind, &asked.name)?;
    match kind {
        ResourceKind::BrokerLogger => return set_levels(&asked.ops, validate_only).map(|()| Plan::Done),
        ResourceKind::Broker => lists_only(&asked.ops)?,
        ResourceKind::Topic | ResourceKind::Group | ResourceKind::ClientMetrics => {}
    }
    Ok(Plan::Change(ConfigChange {
        resource: ConfigResource::new(kind, &asked.name),
        ops: asked.ops.clone(),
        replace: asked.replace,
    }))
}

fn authorize(ctx: &Ctx<'_>, kind: ResourceKind, name: &str) -> Result<(), Refusal> {
    let (what, code) = match kind {
        ResourceKind::Topic => (Resource::Topic(name), ErrorCode::TopicAuthorizationFailed),
        ResourceKind::Group => (Resource::Group(name), ErrorCode::GroupAuthorizationFailed),
        _ => (Resource::Cluster, ErrorCode::ClusterAuthorizationFailed),
    };
    if ctx.authorize(Operation::AlterConfigs, what) { Ok(()) } else { Err(Refusal::bare(code)) }
}

fn check_name(ctx: &Ctx<'_>, kind: ResourceKind, name: &str) -> Result<(), Refusal> {
    let own = ctx.rooms.config.node_id;
    match kind {
        // The empty name stands for all brokers.
        ResourceKind::Broker if name.is_empty() => Ok(()),
        ResourceKind::Broker | ResourceKind::BrokerLogger => match name.parse::<i32>() {
            Ok(id) if id == own => Ok(()),
            Ok(id) if kind == ResourceKind::Broker => {
                Err(invalid(format!("Unexpected broker id, expected {own}, but received {id}")))
            }
            Ok(id) => Err(invalid(format!("Unexpected node id. Expected {own}, but received {id}"))),
            Err(_) => Err(invalid(format!("Node id must be an integer, but it is: {name}"))),
        },
        // The controller looks at these, once it has looked at what is to be done.
        ResourceKind::Topic | ResourceKind::Group | ResourceKind::ClientMetrics => Ok(()),
    }
}

/// A broker's lists can be appended to; nothing else can.
fn lists_only(ops: &[(String, ConfigOp)]) -> Result<(), Refusal> {
    if let Some(code) = ops.iter().find_map(|(_, op)| op.unknown()) {
        return Err(invalid(format!("Unknown operations type {code}")));
    }
    for (key, op) in ops {
        let verb = match op {
            ConfigOp::Append(_) => "append",
            ConfigOp::Subtract(_) => "subtract",
            ConfigOp::Set(_) | ConfigOp::Delete | ConfigOp::Unknown(_) => continue,
        };
        let refusal = |message| Err(Refusal::new(ErrorCode::InvalidConfig, message));
        match definition::broker_key(key) {
            None => return refusal(format!("Unknown config name: {key}")),
            Some(row) if row.kind != Kind::List => {
                return refusal(format!("Config value {verb} is not allowed for config key: {key}"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Log levels. There is one logger, the root.
fn set_levels(ops: &[(String, ConfigOp)], validate_only: bool) -> Result<(), Refusal> {
    let refuse = |message| Err(Refusal::new(ErrorCode::InvalidConfig, message));
    let mut levels = Vec::new();
    for (logger, op) in ops {
        let verb = match op {
            ConfigOp::Append(_) => Some("APPEND operation".to_owned()),
            ConfigOp::Subtract(_) => Some("SUBTRACT operation".to_owned()),
            ConfigOp::Unknown(code) => Some(format!("Unknown operation type {code}")),
            ConfigOp::Set(_) | ConfigOp::Delete => None,
        };
        if let Some(verb) = verb {
            return Err(invalid(format!("{verb} is not allowed for the BROKER_LOGGER resource")));
        }
        if logger != ROOT_LOGGER {
            return refuse(format!("Logger {logger} does not exist!"));
        }
        let ConfigOp::Set(name) = op else {
            return Err(invalid("Removing the log level of the root logger is not allowed"));
        };
        match logging::Level::from_name(name) {
            Some(level) => levels.push(level),
            None => {
                return refuse(format!(
                    "Cannot set the log level of {logger} to {name} as it is not a supported log level. Valid log \
                     levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN"
                ));
            }
        }
    }
    if !validate_only {
        levels.into_iter().for_each(logging::set_root_level);
    }
    Ok(())
}

/// The name of the one logger.
pub(super) const ROOT_LOGGER: &str = "root";

/// Code and message per resource, from the plans and what the controller said of its part.
pub(super) fn results(
    plans: Vec<Plan>,
    decided: Vec<Result<(), Refusal>>,
) -> impl Iterator<Item = (i16, Option<String>)> {
    let mut decided = decided.into_iter();
    plans.into_iter().map(move |plan| {
        let result = match plan {
            Plan::Refused(refusal) => Err(refusal),
            Plan::Done => Ok(()),
            Plan::Change(_) => {
                decided.next().unwrap_or_else(|| Err(Refusal::bare(ErrorCode::UnknownServerError)))
            }
        };
        match result {
            Ok(()) => (ErrorCode::None.code(), None),
            Err(refusal) => (refusal.code.code(), refusal.message),
        }
    })
}

/// The changes among the plans.
pub(super) fn changes(plans: &[Plan]) -> Vec<ConfigChange> {
    let change = |plan: &Plan| match plan {
        Plan::Change(change) => Some(change.clone()),
        Plan::Refused(_) | Plan::Done => None,
    };
    plans.iter().filter_map(change).collect()
}
