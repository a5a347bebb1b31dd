//! What a value must satisfy beyond its type.

use super::value::Value;

/// A rule of one key.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Anything.
    Any,
    /// A number not below this.
    AtLeast(i64),
    /// A number within these bounds, both included.
    Between(i64, i64),
    /// The same for a share.
    BetweenF(f64, f64),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// One of these texts, in any case.
    OneOfAnyCase(&'static [&'static str]),
    /// A list of any of these (of anything if there are none).
    Items(&'static [&'static str], Emptiness),
    /// Text, if there is any.
    NonEmpty,
    /// 1 to 9, or -1.
    GzipLevel,
    /// `*` or a list of partition:broker.
    ThrottledReplicas,
    /// A list of id@host:port.
    Voters,
    /// A list of host:port.
    HostPorts,
    /// latest, earliest, or by_duration with an ISO duration.
    OffsetReset,
}

/// Whether a list may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptiness {
    /// It may.
    MayBeEmpty,
    /// It may not.
    NotEmpty,
}

/// How a rule is broken.
pub(super) enum Broken {
    /// The value as a whole, with what was expected.
    Value(String),
    /// One item of a list, with what was expected.
    Item(String, String),
    /// Kafka has a sentence of its own for it.
    Sentence(String),
}

impl Rule {
    pub(super) fn check(self, name: &str, value: &Value) -> Result<(), Broken> {
        match (self, value) {
            (Rule::AtLeast(least), Value::Integer(number)) => at_least(*number, least),
            (Rule::Between(least, most), Value::Integer(number)) => {
                at_least(*number, least)?;
                if *number > most { Err(too_much(most)) } else { Ok(()) }
            }
            (Rule::BetweenF(least, most), Value::Double(number)) => {
                if *number < least {
                    Err(Broken::Value(format!("Value must be at least {least}")))
                } else if *number > most {
                    Err(too_much(most))
                } else {
                    Ok(())
                }
            }
            (Rule::OneOf(choices), Value::Text(text)) => one_of(choices, text).map_err(Broken::Value),
            (Rule::OneOfAnyCase(choices), Value::Text(text)) => {
                if choices.iter().any(|choice| choice.eq_ignore_ascii_case(text)) {
                    return Ok(());
                }
                let choices = choices.join(", ");
                Err(Broken::Value(format!("String must be one of (case insensitive): {choices}")))
            }
            (Rule::Items(choices, emptiness), Value::List(items)) => {
                check_items(name, choices, emptiness, items)
            }
            (Rule::NonEmpty, Value::Text(text)) if text.is_empty() => {
                Err(Broken::Value("String must be non-empty".to_owned()))
            }
            (Rule::GzipLevel, Value::Integer(level)) if *level != -1 && !(1..=9).contains(level) => {
                Err(Broken::Value("Value must be between 1 and 9 or equal to -1".to_owned()))
            }
            (Rule::ThrottledReplicas, Value::List(items)) if !throttled(items) => {
                Err(Broken::Value(format!(
                    "{name} must be the literal '*' or a list of replicas in the following format: \
                     [partitionId]:[brokerId],[partitionId]:[brokerId],..."
                )))
            }
            (Rule::OffsetReset, Value::Text(text)) if !offset_reset(text) => Err(Broken::Value(format!(
                "Invalid value `{text}` for configuration {name}. The value must be either 'earliest', 'latest' \
                 or of the format 'by_duration:<PnDTnHnMn.nS>'."
            ))),
            (Rule::Voters, Value::List(items)) if !items.iter().all(|item| voter(item).is_some()) => {
                Err(Broken::Sentence(format!(
                    "Invalid configuration value for {name}. Each entry should be in the form `{{id}}@{{host}}:{{port}}`."
                )))
            }
            (Rule::HostPorts, Value::List(items)) if !items.iter().all(|item| host_port(item).is_some()) => {
                Err(Broken::Sentence(format!(
                    "Invalid configuration value for {name}. Each entry should be in the form `{{host}}:{{port}}`."
                )))
            }
            _ => Ok(()),
        }
    }
}

fn at_least(number: i64, least: i64) -> Result<(), Broken> {
    if number < least { Err(Broken::Value(format!("Value must be at least {least}"))) } else { Ok(()) }
}

fn too_much(most: impl std::fmt::Display) -> Broken {
    Broken::Value(format!("Value must be no more than {most}"))
}

fn one_of(choices: &[&str], text: &str) -> Result<(), String> {
    if choices.contains(&text) {
        return Ok(());
    }
    Err(format!("String must be one of: {}", choices.join(", ")))
}

fn check_items(name: &str, choices: &[&str], emptiness: Emptiness, items: &[String]) -> Result<(), Broken> {
    if items.is_empty() && emptiness == Emptiness::NotEmpty {
        let choices = match choices {
            [] => "any non-empty value".to_owned(),
            some => format!("[{}]", some.join(", ")),
        };
        return Err(Broken::Sentence(format!(
            "Configuration '{name}' must not be empty. Valid values include: {choices}"
        )));
    }
    for item in items {
        if item.is_empty() {
            return Err(Broken::Sentence(format!("Configuration '{name}' values must not be empty.")));
        }
        if !choices.is_empty() {
            one_of(choices, item).map_err(|why| Broken::Item(item.clone(), why))?;
        }
    }
    Ok(())
}

fn throttled(items: &[String]) -> bool {
    if let [only] = items
        && only == "*"
    {
        return true;
    }
    items.iter().all(|item| {
        item.split_once(':').is_some_and(|(partition, broker)| {
            let number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
            number(partition) && number(broker)
        })
    })
}

fn offset_reset(text: &str) -> bool {
    match text.strip_prefix("by_duration:") {
        Some(duration) => iso_duration(duration),
        None => text == "latest" || text == "earliest",
    }
}

/// ISO 8601 as Java's `Duration` reads it: `PnDTnHnMn.nS`, not negative, at least one part.
fn iso_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    let (days, time) = match rest.split_once('T') {
        Some((days, time)) if !time.is_empty() => (days, time),
        Some(_) => return false,
        None => (rest, ""),
    };
    parts(days, "D") && parts(time, "HMS") && !(days.is_empty() && time.is_empty())
}

/// Numbers each followed by one of `units`, in that order.
fn parts(text: &str, units: &str) -> bool {
    let mut units = units.chars();
    let mut number = String::new();
    for letter in text.chars() {
        if letter.is_ascii_digit() || (letter == '.' && !number.contains('.')) {
            number.push(letter);
        } else if number.is_empty()
            || !units.any(|unit| unit == letter)
            || (number.contains('.') && letter != 'S')
        {
            return false;
        } else {
            number.clear();
        }
    }
    number.is_empty()
}

/// The parts of `id@host:port`.
pub(in crate::config) fn voter(text: &str) -> Option<(i32, &str, u16)> {
    let (id, address) = text.split_once('@')?;
    let (host, port) = host_port(address)?;
    Some((id.parse().ok()?, host, port))
}

/// The parts of `host:port` or `[v6]:port`.
pub(in crate::config) fn host_port(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if host.is_empty() { None } else { Some((host, port.parse().ok()?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for good in ["PT1H", "P1D", "P2DT3H4M5.5S", "PT0S"] {
            assert!(iso_duration(good), "{good}");
        }
        for bad in ["", "P", "PT", "1H", "PT1D", "PT1.5H", "PT5", "-PT1H"] {
            assert!(!iso_duration(bad), "{bad}");
        }
    }

    #[test]
    fn throttled_replicas() {
        let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        assert!(throttled(&list("*")));
        assert!(throttled(&list("0:1,2:3")));
        assert!(!throttled(&list("0:1,1")));
        assert!(!throttled(&list("*,0:1")));
    }

    #[test]
    fn voters() {
        assert_eq!(voter("1@localhost:9093"), Some((1, "localhost", 9093)));
        assert_eq!(voter("1@[::1]:9093"), Some((1, "::1", 9093)));
        assert_eq!(voter("x"), None);
    }
}
