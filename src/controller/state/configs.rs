//! Configuration of topics, brokers, groups and client metrics.

use std::sync::Arc;

use barnabas_protocol::error::ErrorCode;
use barnabas_protocol::messages::records::metadata::ConfigRecord;

use super::super::image::{Changes, ConfigResource, Image, Overrides, ResourceKind};
use super::super::record::Record;
use super::features::ELR_VERSION;
use super::{ConfigRules, Decision, Refusal, ReplayError, names};

const MIN_ISR: &str = "min.insync.replicas";

/// What is to happen with one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigOp {
    /// It gets a value.
    Set(String),
    /// It goes back to its default.
    Delete,
    /// Elements are added to a list, unless they are in it.
    Append(String),
    /// Elements are taken out of a list.
    Subtract(String),
    /// Kafka has no such operation, and trips over it when its turn comes.
    Unknown(i8),
}

impl ConfigOp {
    /// The operation's number if there is none of that number.
    pub fn unknown(&self) -> Option<i8> {
        if let ConfigOp::Unknown(code) = self { Some(*code) } else { None }
    }
}

/// A change of one resource's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigChange {
    /// Whose.
    pub resource: ConfigResource,
    /// Settings and what happens with them.
    pub ops: Vec<(String, ConfigOp)>,
    /// Settings that are not named go back to their defaults (AlterConfigs).
    pub replace: bool,
}

/// Changes configurations; each resource succeeds or fails as a whole. The reply has one entry per change.
pub fn alter(
    image: &Image,
    rules: &dyn ConfigRules,
    changes: &[ConfigChange],
    validate_only: bool,
) -> Decision<Vec<Result<(), Refusal>>> {
    let mut records = Vec::new();
    let mut reply = Vec::new();
    for change in changes {
        reply.push(alter_one(image, rules, change).map(|changed| {
            if !validate_only {
                records.extend(changed);
            }
        }));
    }
    Decision { records, reply }
}

fn alter_one(image: &Image, rules: &dyn ConfigRules, change: &ConfigChange) -> Result<Vec<Record>, Refusal> {
    let resource = &change.resource;
    let before = image.overrides(resource.kind, &resource.name);
    let mut after = if change.replace { Overrides::new() } else { before.clone() };
    for (name, op) in &change.ops {
        match op {
            ConfigOp::Set(value) => drop(after.insert(name.clone(), value.clone())),
            ConfigOp::Delete => drop(after.remove(name)),
            ConfigOp::Unknown(_) => return Err(Refusal::bare(ErrorCode::UnknownServerError)),
            ConfigOp::Append(value) | ConfigOp::Subtract(value) => {
                let adds = matches!(op, ConfigOp::Append(_));
                let list = edited_list(rules, resource.kind, name, after.get(name), value, adds)?;
                after.insert(name.clone(), list);
            }
        }
    }
    check_name(resource)?;
    rules.check(resource, before, &after)?;
    check_min_isr(image, resource, before, &after)?;
    // Kafka looks at the values first.
    check_exists(image, resource)?;
    let gone =
        before.keys().filter(|name| !after.contains_key(*name)).map(|name| record(resource, name, None));
    let set = after.iter().filter(|(name, value)| before.get(*name) != Some(*value));
    let set = set.map(|(name, value)| record(resource, name, Some(value)));
    Ok(gone.chain(set).map(Record::from).collect())
}

/// Can there be a resource of this name?
fn check_name(resource: &ConfigResource) -> Result<(), Refusal> {
    let invalid = |message| Err(Refusal::new(ErrorCode::InvalidRequest, message));
    match resource.kind {
        ResourceKind::Topic if resource.name.is_empty() => {
            invalid("Default topic resources are not allowed.")
        }
        ResourceKind::Topic => match names::fault_of(&resource.name) {
            Some(fault) => Err(Refusal::new(ErrorCode::InvalidTopicException, fault)),
            None => Ok(()),
        },
        ResourceKind::Group if resource.name.is_empty() => {
            invalid("Default group resources are not allowed.")
        }
        ResourceKind::ClientMetrics if resource.name.is_empty() => {
            invalid("Subscription name can't be empty")
        }
        ResourceKind::Group
        | ResourceKind::ClientMetrics
        | ResourceKind::Broker
        | ResourceKind::BrokerLogger => Ok(()),
    }
}

fn check_exists(image: &Image, resource: &ConfigResource) -> Result<(), Refusal> {
    match resource.kind {
        ResourceKind::Topic if image.topic(&resource.name).is_none() => {
            let message = format!("The topic '{}' does not exist.", resource.name);
            Err(Refusal::new(ErrorCode::UnknownTopicOrPartition, message))
        }
        ResourceKind::Broker if !resource.name.is_empty() => {
            let id = resource.name.parse().ok();
            if id.and_then(|id| image.broker(id)).is_some() {
                return Ok(());
            }
            let message = format!("No broker with id {} found.", resource.name);
            Err(Refusal::new(ErrorCode::BrokerIdNotRegistered, message))
        }
        _ => Ok(()),
    }
}

fn edited_list(
    rules: &dyn ConfigRules,
    kind: ResourceKind,
    name: &str,
    current: Option<&String>,
    value: &str,
    adds: bool,
) -> Result<String, Refusal> {
    if !rules.is_list(kind, name) {
        let verb = if adds { "APPEND" } else { "SUBTRACT" };
        let message = format!("Can't {verb} to key {name} because its type is not LIST.");
        return Err(Refusal::new(ErrorCode::InvalidConfig, message));
    }
    let current = current.cloned().or_else(|| rules.default_value(kind, name)).unwrap_or_default();
    let elements = |text: &str| -> Vec<String> {
        text.split(',').map(str::trim).filter(|element| !element.is_empty()).map(str::to_owned).collect()
    };
    let mut list = elements(&current);
    for element in elements(value) {
        let known = list.contains(&element);
        if adds && !known {
            list.push(element);
        } else if !adds {
            list.retain(|other| *other != element);
        }
    }
    Ok(list.join(","))
}

/// With eligible leader replicas the min ISR must be known without asking the brokers (KIP-966).
fn check_min_isr(
    image: &Image,
    resource: &ConfigResource,
    before: &Overrides,
    after: &Overrides,
) -> Result<(), Refusal> {
    let (old, new) = (before.get(MIN_ISR), after.get(MIN_ISR));
    if resource.kind != ResourceKind::Broker || old == new || image.feature(ELR_VERSION) == 0 {
        return Ok(());
    }
    let message = match (resource.name.is_empty(), new) {
        (true, Some(_)) => return Ok(()),
        (true, None) => "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.",
        (false, _) => "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
    };
    Err(Refusal::new(ErrorCode::InvalidConfig, message))
}

/// The record that sets a value, or takes it away.
pub fn record(resource: &ConfigResource, name: &str, value: Option<&String>) -> ConfigRecord {
    ConfigRecord {
        resource_type: resource.kind.code(),
        resource_name: resource.name.to_string(),
        name: name.to_owned(),
        value: value.cloned(),
    }
}

pub(super) fn to_records(image: &Image) -> impl Iterator<Item = Record> {
    image.configs.iter().flat_map(|(kind, by_name)| {
        by_name.iter().flat_map(move |(resource, overrides)| {
            let resource = ConfigResource { kind: *kind, name: resource.clone() };
            overrides.iter().map(move |(name, value)| record(&resource, name, Some(value)).into())
        })
    })
}

/// Drops everything configured for a resource that is gone.
pub(super) fn forget(image: &mut Image, changes: &mut Changes, kind: ResourceKind, name: &str) {
    if let Some(by_name) = image.configs.get_mut(&kind) {
        if by_name.remove_mut(name) {
            changes.configs.insert(ConfigResource::new(kind, name));
        }
        if by_name.is_empty() {
            image.configs.remove_mut(&kind);
        }
    }
}

pub(super) fn replay(
    image: &mut Image,
    changes: &mut Changes,
    record: &ConfigRecord,
) -> Result<(), ReplayError> {
    let kind = ResourceKind::from_code(record.resource_type)
        .ok_or(ReplayError::UnknownResourceType(record.resource_type))?;
    let resource = ConfigResource::new(kind, &record.resource_name);
    let mut overrides = image.overrides(kind, &resource.name).clone();
    match &record.value {
        Some(value) => drop(overrides.insert(record.name.clone(), value.clone())),
        None => drop(overrides.remove(&record.name)),
    }
    if overrides.is_empty() {
        forget(image, changes, kind, &resource.name);
    } else {
        let mut by_name = image.configs.get(&kind).cloned().unwrap_or_default();
        by_name.insert_mut(resource.name.clone(), Arc::new(overrides));
        image.configs.insert_mut(kind, by_name);
    }
    changes.configs.insert(resource);
    Ok(())
}

#[cfg(test)]
mod configs_test;
