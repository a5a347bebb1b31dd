//! From what was written to a [`Config`]: every key looked up, every value checked, and a report of what will not
//! do what it says.

use super::broker::Config;
use super::definition::{self, Effect, Key, Preset};
use super::error::{ConfigError, Problem};
use super::properties::{Entry, Origin, Properties};
use super::values::Values;
use super::{Written, older, resolve};

/// What the operator should know about the settings, one line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Settings that do not do what they say.
    pub warnings: Vec<String>,
    /// Settings that are fine, but do nothing here.
    pub infos: Vec<String>,
}

/// Settings that a start without a file has: one node for development in `data_dir`, reachable from this machine.
pub fn development(data_dir: &str) -> Properties {
    let mut properties = Properties::default();
    let settings = [
        ("node.id", "1"),
        ("listeners", "PLAINTEXT://localhost:9092"),
        ("log.dirs", data_dir),
        ("offsets.topic.replication.factor", "1"),
        ("transaction.state.log.replication.factor", "1"),
        ("transaction.state.log.min.isr", "1"),
        ("share.coordinator.state.topic.replication.factor", "1"),
        ("share.coordinator.state.topic.min.isr", "1"),
    ];
    for (key, value) in settings {
        properties.set(key, value, Origin::BuiltIn);
    }
    properties
}

impl Config {
    /// Checks and resolves settings; every problem is reported, not only the first.
    pub fn load(properties: &Properties) -> Result<(Config, Notes), ConfigError> {
        let mut reader = Reader::default();
        let mut values = Values::defaults();
        let mut written = Written::new();
        for (name, entry) in properties.iter() {
            if let Some(key) = definition::broker_key(name) {
                reader.known(key, entry, &mut values);
            } else {
                reader.other(name, entry);
            }
            written.insert(name.to_owned(), entry.value.clone());
        }
        if !reader.problems.is_empty() {
            return Err(ConfigError(reader.problems));
        }
        let config = resolve::config(values, written)?;
        Ok((config, reader.notes()))
    }
}

#[derive(Default)]
struct Reader {
    problems: Vec<Problem>,
    warnings: Vec<String>,
    no_meaning: Vec<String>,
    not_built: Vec<String>,
}

impl Reader {
    fn known(&mut self, key: &'static Key, entry: &Entry, values: &mut Values) {
        let value = match key.parse(&entry.value) {
            Ok(value) => value,
            Err(why) => {
                let (origin, key) = (entry.origin.clone(), key.name.to_owned());
                return self.problems.push(Problem::BadValue { origin, key, why });
            }
        };
        let is_default = match key.default {
            Preset::Text(_) => value == key.default_value(),
            Preset::Null | Preset::Required => entry.value.is_empty(),
        };
        match key.effect {
            Effect::Protective if !is_default => {
                self.problems
                    .push(Problem::Protective { origin: entry.origin.clone(), key: key.name.to_owned() });
            }
            Effect::NoMeaning => self.no_meaning.push(key.name.to_owned()),
            // The built-in settings are no news to anybody.
            Effect::NotBuilt if !is_default && entry.origin != Origin::BuiltIn => {
                self.not_built.push(key.name.to_owned());
            }
            Effect::Built | Effect::NotBuilt | Effect::Protective => {}
        }
        values.set(key.name, value);
    }

    fn other(&mut self, name: &str, entry: &Entry) {
        if let Some(base) = definition::listener_suffix(name) {
            return match definition::broker_key(base).map(|key| key.effect) {
                Some(Effect::Protective) => self.protective(name, entry),
                Some(_) => self.not_built.push(name.to_owned()),
                None => self.unknown(name, entry),
            };
        }
        if definition::dynamic_only_keys().iter().any(|key| key.name == name) {
            return self.not_built.push(name.to_owned());
        }
        match older::fate(name) {
            Some(older::Fate::Protective) => self.protective(name, entry),
            Some(older::Fate::NoMeaning) => self.no_meaning.push(name.to_owned()),
            Some(older::Fate::Warning(warning)) => {
                self.warnings.push(format!("{}: {name}: {warning}", entry.origin));
            }
            None => self.unknown(name, entry),
        }
    }

    fn protective(&mut self, name: &str, entry: &Entry) {
        self.problems.push(Problem::Protective { origin: entry.origin.clone(), key: name.to_owned() });
    }

    fn unknown(&mut self, name: &str, entry: &Entry) {
        let hint = match nearest(name) {
            Some(near) => format!("; did you mean {near}?"),
            None => String::new(),
        };
        self.warnings.push(format!("{}: unknown setting {name}{hint}", entry.origin));
    }

    fn notes(self) -> Notes {
        let mut notes = Notes { warnings: self.warnings, infos: Vec::new() };
        if !self.not_built.is_empty() {
            notes.warnings.push(format!("settings without effect yet: {}", self.not_built.join(", ")));
        }
        if !self.no_meaning.is_empty() {
            let keys = self.no_meaning.join(", ");
            notes
                .infos
                .push(format!("settings accepted, but with nothing to apply to in this broker: {keys}"));
        }
        notes
    }
}

/// The known key that is fewest edits away, if it is near enough to be meant.
fn nearest(name: &str) -> Option<&'static str> {
    let known = definition::broker_keys().iter().filter(|key| !key.internal).map(|key| key.name);
    let (distance, best) = known.map(|known| (distance(name, known), known)).min()?;
    (distance <= 2.max(name.len() / 5)).then_some(best)
}

/// Insertions, deletions and replacements between two texts.
fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = at;
        let mut left = at.saturating_add(1);
        let mut next = vec![left];
        for (above, other) in row.iter().skip(1).zip(&two) {
            let replaced = if letter == *other { diagonal } else { diagonal.saturating_add(1) };
            left = replaced.min(left.saturating_add(1)).min(above.saturating_add(1));
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
#[path = "load_test.rs"]
mod load_test;
