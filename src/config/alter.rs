//! May a resource's settings become these? Kafka's checks with Kafka's sentences, and the refusal of what would be
//! stored without doing anything.

use super::definition::{self, Effect, Key, Update, Value};
use super::values::Values;
use super::{Config, Written, resolve};

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// INVALID_CONFIG.
    #[error("{0}")]
    Config(String),
    /// INVALID_REQUEST.
    #[error("{0}")]
    Request(String),
}

/// A topic's overrides after a change; `before` is what they were.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_topic(config: &Config, before: &Written, after: &Written) -> Result<(), Refused> {
    let mut values: Vec<(&'static Key, Value)> = Vec::new();
    for name in after.keys() {
        if definition::topic_key(name).is_none() {
            return Err(Refused::Config(format!("Unknown topic config name: {name}")));
        }
    }
    for key in definition::topic_keys() {
        if let Some(text) = after.get(key.name) {
            values.push((key, key.parse(text).map_err(Refused::Config)?));
        }
    }
    let number = |name: &str| {
        let own = values.iter().find(|(key, _)| key.name == name).map(|(_, value)| value);
        match own.or_else(|| config.topic_defaults.value(name)) {
            Some(Value::Integer(number)) => *number,
            _ => 0,
        }
    };
    let (least, most) = (number("min.compaction.lag.ms"), number("max.compaction.lag.ms"));
    if least > most {
        return Err(Refused::Config(format!(
            "conflict topic config setting min.compaction.lag.ms ({least}) > max.compaction.lag.ms ({most})"
        )));
    }
    for (key, value) in &values {
        if key.name == "remote.storage.enable" && *value == Value::Boolean(true) {
            return Err(Refused::Config(
                "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log \
                 storage."
                    .to_owned(),
            ));
        }
        let news = before.get(key.name) != after.get(key.name);
        if key.effect == Effect::NotBuilt && news && config.topic_defaults.value(key.name) != Some(value) {
            let name = key.name;
            return Err(Refused::Config(format!("{name} is not supported yet: it would have no effect")));
        }
    }
    Ok(())
}

/// The dynamic settings of one broker (or of all, if `one` is false) after a change; `before` is what they were.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_broker(config: &Config, one: bool, before: &Written, after: &Written) -> Result<(), Refused> {
    let names = |wanted: &dyn Fn(&str) -> bool| -> String {
        let names: Vec<&str> = after.keys().map(String::as_str).filter(|name| wanted(name)).collect();
        names.join(", ")
    };
    let fixed = names(&|name| definition::broker_key(name).is_some_and(|key| key.update == Update::ReadOnly));
    if !fixed.is_empty() {
        return Err(Refused::Request(format!("Cannot update these configs dynamically: [{fixed}]")));
    }
    let bare = names(&|name| definition::broker_key(name).is_some_and(is_security));
    if !bare.is_empty() {
        return Err(Refused::Request(format!(
            "These security configs can be dynamically updated only per-listener using the listener prefix: [{bare}]"
        )));
    }
    let mut values = config.values.clone();
    for (name, text) in after {
        if let Some(key) = row(name) {
            let value = key.parse(text).map_err(Refused::Request)?;
            if key.name == name && definition::broker_key(name).is_some() {
                values.set(key.name, value);
            }
        }
    }
    let single = names(&|name| {
        definition::listener_suffix(name).is_some()
            || definition::broker_key(name).is_some_and(|key| key.update == Update::PerBroker)
    });
    if !one && !single.is_empty() {
        return Err(Refused::Request(format!(
            "Cannot update these configs at default cluster level, broker id must be specified: [{single}]"
        )));
    }
    resolve::again(&values).map_err(|problem| Refused::Request(problem.to_string()))?;
    let news = after.iter().filter(|(name, text)| before.get(*name) != Some(*text));
    for (name, text) in news {
        if !takes_effect(config, name, text) {
            return Err(Refused::Request(format!(
                "{name} cannot be changed while the broker runs yet: it would have no effect"
            )));
        }
    }
    Ok(())
}

/// A group's overrides after a change.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_group(values: &Values, after: &Written) -> Result<(), Refused> {
    for name in after.keys() {
        if definition::group_key(name).is_none() {
            return Err(Refused::Config(format!("Unknown group config name: {name}")));
        }
    }
    let mut parsed: Vec<(&'static Key, Value)> = Vec::new();
    for key in definition::group_keys() {
        if let Some(text) = after.get(key.name) {
            parsed.push((key, key.parse(text).map_err(Refused::Config)?));
        }
    }
    for (key, value) in &parsed {
        within_brokers_bounds(key, value, values)?;
    }
    for kind in ["consumer", "share", "streams"] {
        heartbeats_fit(kind, &parsed, values)?;
    }
    Ok(())
}

/// A client metrics subscription after a change.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_client_metrics(after: &Written) -> Result<(), Refused> {
    for (name, text) in after {
        let Some(key) = definition::client_metrics_key(name) else {
            return Err(Refused::Request(format!("Unknown client metrics configuration: {name}")));
        };
        match key.parse(text).map_err(Refused::Config)? {
            Value::Integer(interval) if !(100..=3_600_000).contains(&interval) => {
                return Err(Refused::Request(format!(
                    "Invalid value {interval} for interval.ms, interval must be between 100 and 3600000 (1 hour)"
                )));
            }
            Value::List(patterns) if name == "match" => {
                if let Some(bad) = patterns.iter().find(|pattern| !is_client_pattern(pattern)) {
                    return Err(Refused::Config(format!("Illegal client matching pattern: {bad}")));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_client_pattern(pattern: &str) -> bool {
    const ATTRIBUTES: &[&str] = &[
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    ];
    pattern.split_once('=').is_some_and(|(name, value)| {
        ATTRIBUTES.contains(&name.trim()) && !value.trim().is_empty() && !value.contains('=')
    })
}

fn is_security(key: &Key) -> bool {
    key.update == Update::PerBroker
        && (key.name.starts_with("ssl.")
            || key.name.starts_with("sasl.")
            || key.name == "principal.builder.class")
}

fn row(name: &str) -> Option<&'static Key> {
    definition::broker_key(name)
        .or_else(|| definition::dynamic_only_keys().iter().find(|key| key.name == name))
        .or_else(|| definition::listener_suffix(name).and_then(definition::broker_key))
}

/// Keys whose changes are followed, besides the topics' defaults (see `Layers::transactional_writes`).
const LIVE: [&str; 2] = ["producer.id.expiration.ms", "transaction.partition.verification.enable"];

/// Does a running broker obey a new value? Keys behind a topic's are read anew for every topic; what has nothing to
/// apply to may be set; unknown keys belong to others.
fn takes_effect(config: &Config, name: &str, text: &str) -> bool {
    if let Some(suffix) = definition::listener_suffix(name) {
        return definition::broker_key(suffix).is_none();
    }
    let Some(key) = row(name) else { return true };
    let same = config.values.get(key.name).is_ok_and(|now| key.parse(text).is_ok_and(|new| new == *now));
    match key.effect {
        Effect::NoMeaning => true,
        Effect::Built => {
            let of_topics =
                || definition::topic_keys().iter().any(|topic| topic.broker_key == Some(key.name));
            same || LIVE.contains(&key.name) || of_topics()
        }
        Effect::NotBuilt | Effect::Protective => same,
    }
}

fn broker_number(values: &Values, name: &str) -> Option<i64> {
    values.number(definition::broker_key(name)?.name).ok()
}

/// The broker may bound what a group sets: `group.consumer.min.…` and `group.consumer.max.…`.
fn within_brokers_bounds(key: &Key, value: &Value, values: &Values) -> Result<(), Refused> {
    if key.name == "streams.assignor.name" {
        return registered_assignor(value, values);
    }
    let (Value::Integer(number), Some((kind, what))) = (value, key.name.split_once('.')) else {
        return Ok(());
    };
    let what_max = match what {
        "num.standby.replicas" => "standby.replicas",
        "num.warmup.replicas" => "warmup.replicas",
        other => other,
    };
    let least = broker_number(values, &format!("group.{kind}.min.{what}"));
    let most = broker_number(values, &format!("group.{kind}.max.{what_max}"));
    let name = key.name;
    match (least, most) {
        (Some(least), Some(most)) if !(least..=most).contains(number) => {
            Err(Refused::Config(format!("{name} must be in the range {least} to {most} inclusive.")))
        }
        (None, Some(most)) if *number > most => {
            Err(Refused::Config(format!("{name} must be less than or equal to {most}")))
        }
        (Some(least), None) if *number < least => {
            Err(Refused::Config(format!("{name} must be greater than or equal to {least}")))
        }
        _ => Ok(()),
    }
}

fn registered_assignor(value: &Value, values: &Values) -> Result<(), Refused> {
    let known = values.list("group.streams.assignors").unwrap_or_default();
    match value.text() {
        Some(name) if !known.contains(&name) => Err(Refused::Config(format!(
            "streams.assignor.name '{name}' is not a registered task assignor. Registered assignors are: [{}].",
            known.join(", ")
        ))),
        _ => Ok(()),
    }
}

fn heartbeats_fit(kind: &str, parsed: &[(&'static Key, Value)], values: &Values) -> Result<(), Refused> {
    let number = |what: &str| {
        let name = format!("{kind}.{what}");
        let own = parsed.iter().find(|(key, _)| key.name == name);
        let number = match own {
            Some((_, Value::Integer(number))) => Some(*number),
            _ => broker_number(values, &format!("group.{name}")),
        };
        (name, number.unwrap_or_default())
    };
    let (heartbeat, session) = (number("heartbeat.interval.ms"), number("session.timeout.ms"));
    if heartbeat.1 < session.1 {
        return Ok(());
    }
    Err(Refused::Config(format!("{} must be less than {}", heartbeat.0, session.0)))
}

#[cfg(test)]
#[path = "alter_test.rs"]
mod alter_test;
