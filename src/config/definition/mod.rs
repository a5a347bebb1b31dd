//! THE table: every key that Kafka 4.4 has, its type, default, rule, and what becomes of it here.
//!
//! One row per key, one file per kind of resource. Parsing, checks, DescribeConfigs and the start-up report all
//! read these rows; nothing else in the house knows what a key may hold.

mod broker;
mod client_metrics;
mod group;
mod rule;
mod topic;
mod value;

pub use rule::Rule;
pub(in crate::config) use rule::voter;
pub use value::{Kind, Value};

/// One setting.
#[derive(Debug)]
pub struct Key {
    /// Kafka's name for it.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// What holds if nobody sets it.
    pub default: Preset,
    /// What the value must satisfy beyond its type.
    pub rule: Rule,
    /// Whether a running broker takes a new value. Says nothing for topics, groups and client metrics.
    pub update: Update,
    /// The broker's key whose value holds where a topic or group sets nothing.
    pub broker_key: Option<&'static str>,
    /// What becomes of the setting.
    pub effect: Effect,
    /// Kept out of DescribeConfigs unless it is set.
    pub internal: bool,
    /// What it does, in one sentence.
    pub doc: &'static str,
}

/// A key's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// This text.
    Text(&'static str),
    /// Nothing.
    Null,
    /// There is none: it must be set (or follows from other keys).
    Required,
}

/// How a broker's key may change while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Only by a restart.
    ReadOnly,
    /// For one broker at a time.
    PerBroker,
    /// For one broker or all of them.
    ClusterWide,
}

/// What becomes of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It does what it says.
    Built,
    /// It is accepted; this broker has nothing it could apply to.
    NoMeaning,
    /// It guards something and is not built: setting it stops the start.
    Protective,
    /// Not built yet: a broker warns of it, a topic refuses it.
    NotBuilt,
}

impl Key {
    /// The default as a value; `Null` where there is none.
    pub fn default_value(&self) -> Value {
        match self.default {
            // The tables' own test proves that every default parses.
            Preset::Text(text) => self.kind.parse(text).unwrap_or(Value::Null),
            Preset::Null | Preset::Required => Value::Null,
        }
    }

    /// Reads and checks a value as Kafka does; the error is Kafka's sentence.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let wrong = |shown: &str, why: String| {
            let shown = if self.is_sensitive() { "[hidden]" } else { shown };
            format!("Invalid value {shown} for configuration {}: {why}", self.name)
        };
        let value = self.kind.parse(text).map_err(|why| wrong(text, why))?;
        match self.rule.check(self.name, &value) {
            Ok(()) => Ok(value),
            Err(rule::Broken::Value(why)) => Err(wrong(&value.shown(), why)),
            Err(rule::Broken::Item(item, why)) => Err(wrong(&item, why)),
            Err(rule::Broken::Sentence(sentence)) => Err(sentence),
        }
    }

    /// Its value must never be shown.
    pub fn is_sensitive(&self) -> bool {
        self.kind == Kind::Password
    }
}

/// Every key of a broker.
pub fn broker_keys() -> &'static [Key] {
    broker::KEYS
}

/// Keys of a broker that can only be set while it runs: they have no default and no place in a file.
pub fn dynamic_only_keys() -> &'static [Key] {
    broker::DYNAMIC_ONLY
}

/// Every key of a topic.
pub fn topic_keys() -> &'static [Key] {
    topic::KEYS
}

/// Every key of a group.
pub fn group_keys() -> &'static [Key] {
    group::KEYS
}

/// Every key of a client metrics subscription.
pub fn client_metrics_keys() -> &'static [Key] {
    client_metrics::KEYS
}

/// The row of a broker's key.
pub fn broker_key(name: &str) -> Option<&'static Key> {
    find(broker::KEYS, name)
}

/// The row of a topic's key.
pub fn topic_key(name: &str) -> Option<&'static Key> {
    find(topic::KEYS, name)
}

/// The row of a group's key.
pub fn group_key(name: &str) -> Option<&'static Key> {
    find(group::KEYS, name)
}

/// The row of a client metrics key.
pub fn client_metrics_key(name: &str) -> Option<&'static Key> {
    find(client_metrics::KEYS, name)
}

fn find(keys: &'static [Key], name: &str) -> Option<&'static Key> {
    keys.iter().find(|key| key.name == name)
}

/// The keys that say the same as `name`, the strongest first; the key itself among them.
/// `log.retention.ms` wins over `log.retention.minutes`, which wins over `log.retention.hours`.
pub fn broker_synonyms(name: &str) -> Vec<&str> {
    const FAMILIES: &[&[&str]] = &[
        &["log.roll.ms", "log.roll.hours"],
        &["log.roll.jitter.ms", "log.roll.jitter.hours"],
        &["log.retention.ms", "log.retention.minutes", "log.retention.hours"],
    ];
    if name == "log.flush.interval.ms" {
        return vec![name, "log.flush.scheduler.interval.ms"];
    }
    if let Some(family) = FAMILIES.iter().find(|family| family.contains(&name)) {
        return family.to_vec();
    }
    match listener_suffix(name) {
        // A listener's own setting goes before the broker's.
        Some(base) if broker_key(base).is_some() => vec![name, base],
        _ => vec![name],
    }
}

/// What follows `listener.name.<listener>.` in a key that is set for one listener. A SASL mechanism in between
/// is left out, too.
pub fn listener_suffix(name: &str) -> Option<&str> {
    let (_, rest) = name.strip_prefix("listener.name.")?.split_once('.')?;
    if broker_key(rest).is_some() {
        return Some(rest);
    }
    match rest.split_once('.') {
        Some((_, key)) if broker_key(key).is_some() => Some(key),
        _ => Some(rest),
    }
}

/// Rows: `"name": Kind = default, rule, extra, effect, "doc";`, where extra is when a broker's key may change, or
/// the broker's key behind a topic's or group's.
macro_rules! keys {
    (broker: $($name:literal : $kind:ident = $default:tt, $rule:expr, $update:ident, $effect:ident
        $(, $internal:ident)?, $doc:literal;)*) => {
        &[$(Key {
            name: $name, kind: Kind::$kind, default: keys!(@default $default), rule: $rule,
            update: Update::$update, broker_key: None, effect: Effect::$effect,
            internal: keys!(@internal $($internal)?), doc: $doc,
        }),*]
    };
    (of_broker: $($name:literal : $kind:ident = $default:tt, $rule:expr, $broker_key:expr, $effect:ident
        $(, $internal:ident)?, $doc:literal;)*) => {
        &[$(Key {
            name: $name, kind: Kind::$kind, default: keys!(@default $default), rule: $rule,
            update: Update::ClusterWide, broker_key: $broker_key, effect: Effect::$effect,
            internal: keys!(@internal $($internal)?), doc: $doc,
        }),*]
    };
    (@default null) => { Preset::Null };
    (@default required) => { Preset::Required };
    (@default $text:literal) => { Preset::Text($text) };
    (@internal) => { false };
    (@internal internal) => { true };
}
use keys;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_obeys_its_own_rule() {
        let all = [broker_keys(), topic_keys(), group_keys(), client_metrics_keys()];
        for key in all.into_iter().flatten() {
            let Preset::Text(text) = key.default else { continue };
            let value = key.parse(text).unwrap_or_else(|why| panic!("{}: {why}", key.name));
            assert_eq!(value.text().as_deref(), Some(text), "{} shows another default", key.name);
        }
    }

    #[test]
    fn names_are_unique_and_every_key_says_what_it_does() {
        for keys in [broker_keys(), topic_keys(), group_keys(), client_metrics_keys()] {
            let mut names: Vec<_> = keys.iter().map(|key| key.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), keys.len());
            assert!(keys.iter().all(|key| key.doc.ends_with('.')));
        }
    }

    #[test]
    fn a_topic_key_falls_back_on_a_broker_key_of_its_own_type() {
        for key in topic_keys().iter().chain(group_keys()) {
            let Some(name) = key.broker_key else { continue };
            let broker = broker_key(name).unwrap_or_else(|| panic!("{name} is no broker key"));
            if name != "group.streams.assignors" {
                assert_eq!(broker.kind, key.kind, "{name}");
            }
        }
    }

    #[test]
    fn synonyms_are_ordered_by_strength() {
        assert_eq!(broker_synonyms("log.retention.hours")[0], "log.retention.ms");
        assert_eq!(broker_synonyms("num.partitions"), ["num.partitions"]);
        let own = "listener.name.inside.max.connections";
        assert_eq!(broker_synonyms(own), [own, "max.connections"]);
        assert_eq!(listener_suffix("listener.name.a.plain.sasl.jaas.config"), Some("sasl.jaas.config"));
    }

    #[test]
    fn errors_read_as_kafkas() {
        let key = topic_key("segment.bytes").unwrap();
        assert_eq!(
            key.parse("5").unwrap_err(),
            "Invalid value 5 for configuration segment.bytes: Value must be at least 1048576"
        );
        assert_eq!(
            key.parse("abc").unwrap_err(),
            "Invalid value abc for configuration segment.bytes: Not a number of type INT"
        );
        let key = topic_key("cleanup.policy").unwrap();
        assert_eq!(
            key.parse("delete,foo").unwrap_err(),
            "Invalid value foo for configuration cleanup.policy: String must be one of: compact, delete"
        );
        assert!(key.parse("").is_ok(), "nothing is ever removed");
        let key = topic_key("min.cleanable.dirty.ratio").unwrap();
        assert_eq!(
            key.parse("1.5").unwrap_err(),
            "Invalid value 1.5 for configuration min.cleanable.dirty.ratio: Value must be no more than 1"
        );
        let key = topic_key("compression.gzip.level").unwrap();
        assert_eq!(
            key.parse("0").unwrap_err(),
            "Invalid value 0 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1"
        );
        let key = broker_key("log.dirs").unwrap();
        assert_eq!(
            key.parse("").unwrap_err(),
            "Configuration 'log.dirs' must not be empty. Valid values include: any non-empty value"
        );
        let key = broker_key("ssl.keystore.password").unwrap();
        assert!(!format!("{:?}", key.parse("tell no one").unwrap()).contains("tell"));
    }
}
