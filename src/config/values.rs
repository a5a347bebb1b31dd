//! The broker's keys with their values, defaults filled in, read by type.

use std::collections::BTreeMap;

use super::definition::{self, Value};
use super::error::Problem;

/// One value per key of the broker.
#[derive(Clone, Debug)]
pub struct Values(BTreeMap<&'static str, Value>);

impl Values {
    /// Every key at its default.
    pub fn defaults() -> Values {
        Values(definition::broker_keys().iter().map(|key| (key.name, key.default_value())).collect())
    }

    /// Replaces a key's value.
    pub fn set(&mut self, key: &'static str, value: Value) {
        self.0.insert(key, value);
    }

    /// The value; an unknown key is a defect that the tests would show.
    pub fn get(&self, key: &'static str) -> Result<&Value, Problem> {
        self.0.get(key).ok_or(Problem::NoSuchKey(key))
    }

    /// True if the value is there.
    pub fn is_set(&self, key: &'static str) -> bool {
        !matches!(self.0.get(key), None | Some(Value::Null))
    }

    /// A whole number of any width that fits what the caller wants.
    pub fn number<T: TryFrom<i64>>(&self, key: &'static str) -> Result<T, Problem> {
        match self.get(key)? {
            Value::Integer(number) => {
                T::try_from(*number).map_err(|_| Problem::Conflict(format!("{key}={number} is out of range")))
            }
            _ => Err(Problem::NoSuchKey(key)),
        }
    }

    /// A whole number, negative ones taken as none.
    pub fn limit<T: TryFrom<i64>>(&self, key: &'static str) -> Result<Option<T>, Problem> {
        let number: i64 = self.number(key)?;
        if number < 0 { Ok(None) } else { self.number(key).map(Some) }
    }

    /// A time in milliseconds; negative ones count as zero.
    pub fn millis(&self, key: &'static str) -> Result<u64, Problem> {
        Ok(self.limit(key)?.unwrap_or_default())
    }

    /// A number that need not be whole.
    pub fn share(&self, key: &'static str) -> Result<f64, Problem> {
        match self.get(key)? {
            Value::Double(number) => Ok(*number),
            _ => Err(Problem::NoSuchKey(key)),
        }
    }

    /// A yes or no.
    pub fn flag(&self, key: &'static str) -> Result<bool, Problem> {
        match self.get(key)? {
            Value::Boolean(flag) => Ok(*flag),
            _ => Err(Problem::NoSuchKey(key)),
        }
    }

    /// A text that is there.
    pub fn text(&self, key: &'static str) -> Result<&str, Problem> {
        self.optional_text(key)?.ok_or(Problem::NoSuchKey(key))
    }

    /// A text that may not be there.
    pub fn optional_text(&self, key: &'static str) -> Result<Option<&str>, Problem> {
        match self.get(key)? {
            Value::Text(text) => Ok(Some(text)),
            Value::Null => Ok(None),
            _ => Err(Problem::NoSuchKey(key)),
        }
    }

    /// A list; one that is not there is empty.
    pub fn list(&self, key: &'static str) -> Result<&[String], Problem> {
        match self.get(key)? {
            Value::List(items) => Ok(items),
            Value::Null => Ok(&[]),
            _ => Err(Problem::NoSuchKey(key)),
        }
    }
}
