//! What DescribeConfigs shows of a resource: every key's value, where it comes from, and the keys behind it.

use super::definition::{self, Key, Preset, Value};
use super::topic::TopicDefaults;
use super::values::Values;
use super::{Config, Problem, Written};

/// Where a value comes from. The numbers are those of DescribeConfigs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum Source {
    /// Set for this topic.
    Topic = 1,
    /// Set for this broker while it runs.
    Broker = 2,
    /// Set for all brokers while they run.
    AllBrokers = 3,
    /// Written in the broker's file.
    File = 4,
    /// Nobody set it.
    Default = 5,
    /// A log level.
    Logger = 6,
    /// Set for this client metrics subscription.
    ClientMetrics = 7,
    /// Set for this group.
    Group = 8,
}

impl Source {
    /// Its number in DescribeConfigs.
    pub fn code(self) -> i8 {
        self as i8
    }
}

/// One key of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value; none if there is none, or if it is a secret.
    pub value: Option<String>,
    /// It can only be changed by a restart.
    pub read_only: bool,
    /// Where the value comes from.
    pub source: Source,
    /// The value is a secret.
    pub sensitive: bool,
    /// Everything that says something about this key, the strongest first.
    pub synonyms: Vec<Synonym>,
    /// The type's number in DescribeConfigs; 0 if the key is unknown.
    pub kind: i8,
    /// What the key does.
    pub doc: &'static str,
}

/// A key that says something about another, with the value it has there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synonym {
    /// The key.
    pub name: String,
    /// Its value; none if it is a secret.
    pub value: Option<String>,
    /// Where it is set.
    pub source: Source,
}

/// The broker's settings with what was changed since its start.
#[derive(Clone, Copy, Debug)]
pub struct Layers<'a> {
    /// The settings of the start.
    pub config: &'a Config,
    /// Set for this broker.
    pub broker: &'a Written,
    /// Set for all brokers.
    pub all_brokers: &'a Written,
}

impl Layers<'_> {
    /// Every key's value as it holds now. A value that cannot be read is left out, as at Kafka's start.
    pub fn values(&self) -> Values {
        let mut values = self.config.values.clone();
        for (name, text) in self.all_brokers.iter().chain(self.broker) {
            if let Some(key) = definition::broker_key(name)
                && let Ok(value) = key.parse(text)
            {
                values.set(key.name, value);
            }
        }
        values
    }

    /// What a topic has now that sets nothing itself.
    ///
    /// # Errors
    /// Values that do not go together (they were checked when they were set).
    pub fn topic_defaults(&self) -> Result<TopicDefaults, Problem> {
        if self.broker.is_empty() && self.all_brokers.is_empty() {
            return Ok(self.config.topic_defaults.clone());
        }
        TopicDefaults::of_broker(&self.values())
    }

    /// How producers are treated now: `producer.id.expiration.ms` and `transaction.partition.verification.enable`.
    pub fn transactional_writes(&self) -> (i64, bool) {
        let (start, values) = (&self.config.transactions, self.values());
        (
            values
                .number("producer.id.expiration.ms")
                .unwrap_or_else(|_| i64::from(start.producer_id_expiration_ms)),
            values.flag("transaction.partition.verification.enable").unwrap_or(start.partition_verification),
        )
    }

    /// This broker's settings.
    pub fn describe_broker(&self) -> Vec<Setting> {
        let values = self.values();
        let mut settings = Vec::new();
        let is_set = |name: &str| {
            let layers = [self.broker, self.all_brokers, &self.config.written.0];
            layers.iter().any(|layer| layer.contains_key(name))
        };
        for key in definition::broker_keys().iter().filter(|key| !key.internal || is_set(key.name)) {
            let value = values.get(key.name).ok().and_then(Value::text);
            settings.push(self.broker_setting(key.name, value));
        }
        // What is set without being in the table: another listener's settings, other programs' keys.
        let mut others: Vec<&String> = Vec::new();
        for layer in [self.broker, self.all_brokers, &self.config.written.0] {
            others.extend(layer.keys().filter(|name| definition::broker_key(name).is_none()));
        }
        others.sort_unstable();
        others.dedup();
        for name in others {
            let layers = [self.broker, self.all_brokers, &self.config.written.0];
            let value = layers.iter().find_map(|layer| layer.get(name)).cloned();
            settings.push(self.broker_setting(name, value));
        }
        in_kafkas_order(settings)
    }

    /// A topic's settings.
    ///
    /// # Errors
    /// See [`Layers::topic_defaults`].
    pub fn describe_topic(&self, overrides: &Written) -> Result<Vec<Setting>, Problem> {
        let defaults = self.topic_defaults()?;
        let keys = definition::topic_keys().iter();
        let settings = keys
            .filter(|key| !key.internal || overrides.contains_key(key.name))
            .map(|key| {
                let inherited = defaults.value(key.name).cloned().unwrap_or(Value::Null);
                let behind = key.broker_key.map(|name| self.synonyms(name)).unwrap_or_default();
                setting(key, overrides, &inherited, behind, Source::Topic)
            })
            .collect();
        Ok(in_kafkas_order(settings))
    }

    /// A group's settings.
    pub fn describe_group(&self, overrides: &Written) -> Vec<Setting> {
        let values = self.values();
        let keys = definition::group_keys().iter();
        let settings = keys
            .filter(|key| !key.internal || overrides.contains_key(key.name))
            .map(|key| {
                let (inherited, behind) = match key.broker_key {
                    Some(name) => (inherited(key, &values, name), self.synonyms(name)),
                    None => {
                        let value = key.default_value();
                        let own = Synonym {
                            name: key.name.to_owned(),
                            value: value.text(),
                            source: Source::Default,
                        };
                        (value, vec![own])
                    }
                };
                setting(key, overrides, &inherited, behind, Source::Group)
            })
            .collect();
        in_kafkas_order(settings)
    }

    fn broker_setting(&self, name: &str, value: Option<String>) -> Setting {
        let key = known(name);
        let sensitive = key.is_none_or(Key::is_sensitive);
        let synonyms = self.synonyms(name);
        Setting {
            value: value.filter(|_| !sensitive),
            read_only: read_only(name),
            source: synonyms.first().map_or(Source::Default, |first| first.source),
            sensitive,
            synonyms,
            kind: key.map_or(0, |key| key.kind.code()),
            doc: key.map_or("", |key| key.doc),
            name: name.to_owned(),
        }
    }

    /// Everything that says something about a broker's key. What comes before the first word on the key itself is
    /// another key's default or a listener's own setting and is left out, as Kafka does.
    fn synonyms(&self, name: &str) -> Vec<Synonym> {
        let names = definition::broker_synonyms(name);
        let sensitive = known(name).is_none_or(Key::is_sensitive);
        let mut synonyms = Vec::new();
        let layers = [
            (self.broker, Source::Broker),
            (self.all_brokers, Source::AllBrokers),
            (&self.config.written.0, Source::File),
        ];
        let mut add = |name: &str, value: String, source| {
            let value = Some(value).filter(|_| !sensitive);
            synonyms.push(Synonym { name: name.to_owned(), value, source });
        };
        for (layer, source) in layers {
            for name in &names {
                if let Some(value) = layer.get(*name) {
                    add(name, value.clone(), source);
                }
            }
        }
        for name in &names {
            if let Some(Preset::Text(text)) = definition::broker_key(name).map(|key| key.default) {
                add(name, text.to_owned(), Source::Default);
            }
        }
        let start = synonyms.iter().position(|synonym| synonym.name == name).unwrap_or(synonyms.len());
        synonyms.split_off(start)
    }
}

/// What was set for all brokers.
pub fn describe_all_brokers(all_brokers: &Written) -> Vec<Setting> {
    let settings = all_brokers.iter().map(|(name, text)| {
        let key = known(name);
        let sensitive = key.is_none_or(Key::is_sensitive);
        let value = Some(text.clone()).filter(|_| !sensitive);
        let synonym = Synonym { name: name.clone(), value: value.clone(), source: Source::AllBrokers };
        Setting {
            name: name.clone(),
            value,
            read_only: read_only(name),
            source: Source::AllBrokers,
            sensitive,
            synonyms: vec![synonym],
            kind: key.map_or(0, |key| key.kind.code()),
            doc: key.map_or("", |key| key.doc),
        }
    });
    settings.collect()
}

/// The settings of a client metrics subscription.
pub fn describe_client_metrics(overrides: &Written) -> Vec<Setting> {
    let keys = definition::client_metrics_keys().iter();
    let settings =
        keys.map(|key| setting(key, overrides, &key.default_value(), Vec::new(), Source::ClientMetrics));
    in_kafkas_order(settings.collect())
}

/// Kafka answers in the order of a Java hash table of just this size: so do we, where tools print it as it comes.
fn in_kafkas_order(mut settings: Vec<Setting>) -> Vec<Setting> {
    let slots = settings.len().saturating_mul(4).div_euclid(3).saturating_add(1).next_power_of_two().max(16);
    let mask = u32::try_from(slots).unwrap_or(u32::MAX).saturating_sub(1);
    settings.sort_by_key(|setting| {
        let step = |hash: u32, unit: u16| hash.wrapping_mul(31).wrapping_add(u32::from(unit));
        let hash = setting.name.encode_utf16().fold(0, step);
        (hash ^ (hash >> 16)) & mask
    });
    settings
}

/// A key that a resource may override.
fn setting(key: &Key, overrides: &Written, inherited: &Value, behind: Vec<Synonym>, own: Source) -> Setting {
    let mut synonyms = behind;
    let mut value = inherited.text();
    if let Some(text) = overrides.get(key.name) {
        value = key.parse(text).ok().map_or_else(|| Some(text.clone()), |value| value.text());
        synonyms.insert(0, Synonym { name: key.name.to_owned(), value: value.clone(), source: own });
    }
    Setting {
        name: key.name.to_owned(),
        value,
        read_only: false,
        source: synonyms.first().map_or(Source::Default, |first| first.source),
        sensitive: key.is_sensitive(),
        synonyms,
        kind: key.kind.code(),
        doc: key.doc,
    }
}

/// A broker's value for a group's key; where the broker has a list, its first item is the group's default.
fn inherited(key: &Key, values: &Values, broker_key: &'static str) -> Value {
    match values.get(broker_key) {
        Ok(Value::List(items)) if key.kind != definition::Kind::List => {
            items.first().map_or(Value::Null, |first| Value::Text(first.clone()))
        }
        Ok(value) => value.clone(),
        Err(_) => Value::Null,
    }
}

/// The row behind a broker's key, also if it is set for one listener or only while the broker runs.
fn known(name: &str) -> Option<&'static Key> {
    definition::broker_key(name)
        .or_else(|| definition::dynamic_only_keys().iter().find(|key| key.name == name))
        .or_else(|| definition::listener_suffix(name).and_then(definition::broker_key))
}

fn read_only(name: &str) -> bool {
    let key = definition::broker_key(name)
        .or_else(|| definition::dynamic_only_keys().iter().find(|key| key.name == name));
    key.is_none_or(|key| key.update == definition::Update::ReadOnly)
}

#[cfg(test)]
#[path = "describe_test.rs"]
mod describe_test;
