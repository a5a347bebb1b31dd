//! What a setting's value is, read and shown as Kafka does.

use std::fmt;

/// The type of a value. The numbers are those of DescribeConfigs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum Kind {
    /// `true` or `false`, in any case.
    Boolean = 1,
    /// Text.
    String = 2,
    /// 32 bits.
    Int = 3,
    /// 16 bits.
    Short = 4,
    /// 64 bits.
    Long = 5,
    /// A floating point number.
    Double = 6,
    /// Texts separated by commas.
    List = 7,
    /// The name of a Java class.
    Class = 8,
    /// Text that is never shown.
    Password = 9,
}

/// A parsed value.
#[derive(Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// Of a `Boolean`.
    Boolean(bool),
    /// Of a `Short`, `Int` or `Long`, within its bounds.
    Integer(i64),
    /// Of a `Double`.
    Double(f64),
    /// Of a `String` or `Class`.
    Text(String),
    /// Of a `List`.
    List(Vec<String>),
    /// Of a `Password`.
    Secret(String),
}

impl Kind {
    /// Its number in DescribeConfigs.
    pub fn code(self) -> i8 {
        self as i8
    }

    /// Reads a value; the error says what was expected, in Kafka's words.
    pub fn parse(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        Ok(match self {
            Kind::Boolean if text.eq_ignore_ascii_case("true") => Value::Boolean(true),
            Kind::Boolean if text.eq_ignore_ascii_case("false") => Value::Boolean(false),
            Kind::Boolean => return Err("Expected value to be either true or false".to_owned()),
            Kind::Short => Value::Integer(text.parse::<i16>().map_err(|_| not_a("SHORT"))?.into()),
            Kind::Int => Value::Integer(text.parse::<i32>().map_err(|_| not_a("INT"))?.into()),
            Kind::Long => Value::Integer(text.parse().map_err(|_| not_a("LONG"))?),
            Kind::Double => Value::Double(double(text).ok_or_else(|| not_a("DOUBLE"))?),
            Kind::String | Kind::Class => Value::Text(text.to_owned()),
            Kind::List if text.is_empty() => Value::List(Vec::new()),
            Kind::List => Value::List(split(text)),
            Kind::Password => Value::Secret(text.to_owned()),
        })
    }
}

/// A double in Java's spelling: decimal or hexadecimal, perhaps with the suffix of a type.
fn double(text: &str) -> Option<f64> {
    let (sign, size) = match text.strip_prefix('-') {
        Some(size) => (-1.0, size),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let size = match size {
        "NaN" => return Some(f64::NAN),
        "Infinity" => return Some(sign * f64::INFINITY),
        _ => size.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(size),
    };
    let value = match size.strip_prefix("0x").or_else(|| size.strip_prefix("0X")) {
        Some(hex) => hexadecimal(hex)?,
        // Rust has spellings of its own, all in letters.
        None if size.contains(|c: char| !matches!(c, '0'..='9' | '.' | 'e' | 'E' | '+' | '-')) => {
            return None;
        }
        None if size.starts_with(['+', '-']) => return None,
        None => size.parse().ok()?,
    };
    Some(sign * value)
}

/// Digits with a point perhaps, and the power of two that Java asks for.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, power) = text.split_once(['p', 'P'])?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in whole.chars().chain(part.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let scale = i32::try_from(part.len()).ok()?.checked_mul(4)?;
    Some(value * 2_f64.powi(power.parse::<i32>().ok()?.checked_sub(scale)?))
}

/// Cuts at commas with the blanks around them; empty pieces at the end fall away, as in Java.
fn split(text: &str) -> Vec<String> {
    let mut items: Vec<String> = text.split(',').map(|item| item.trim().to_owned()).collect();
    while items.last().is_some_and(String::is_empty) {
        items.pop();
    }
    items
}

fn not_a(kind: &str) -> String {
    format!("Not a number of type {kind}")
}

impl Value {
    /// The value as DescribeConfigs shows it; none for `Null` and secrets.
    pub fn text(&self) -> Option<String> {
        Some(match self {
            Value::Null | Value::Secret(_) => return None,
            Value::Boolean(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Double(value) => java_double(*value),
            Value::Text(value) => value.clone(),
            Value::List(items) => items.join(","),
        })
    }

    /// The value as it appears in Kafka's error messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Value::Null => "null".to_owned(),
            Value::Secret(_) => "[hidden]".to_owned(),
            Value::List(items) => format!("[{}]", items.join(", ")),
            other => other.text().unwrap_or_default(),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

/// A double as Java prints it: plain from a thousandth to ten millions, else with an exponent.
fn java_double(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e7).contains(&size) || !value.is_finite() {
        return format!("{value:?}");
    }
    let text = format!("{value:E}");
    match text.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_look_as_in_java() {
        assert_eq!(java_double(0.5), "0.5");
        assert_eq!(java_double(1.0), "1.0");
        assert_eq!(java_double(f64::MAX), "1.7976931348623157E308");
        assert_eq!(java_double(1e10), "1.0E10");
    }

    #[test]
    fn doubles_are_read_as_in_java() {
        for (text, value) in [
            ("0.5f", 0.5),
            ("0x1p-2", 0.25),
            ("-0X.8P1d", -1.0),
            ("+5.", 5.0),
            (".5D", 0.5),
            ("1e-1F", 0.1),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(double(text), Some(value), "{text}");
        }
        assert!(double("NaN").unwrap().is_nan());
        for bad in
            ["", ".", "f", "inf", "nan", "infinity", "0x1", "0xp1", "1e", "--1", "1 f", "0x1p9999999999"]
        {
            assert_eq!(double(bad), None, "{bad}");
        }
    }

    #[test]
    fn values_are_trimmed_and_normal() {
        assert_eq!(Kind::Boolean.parse(" TRUE ").unwrap().text().unwrap(), "true");
        assert_eq!(Kind::Double.parse(".5").unwrap().text().unwrap(), "0.5");
        assert_eq!(Kind::List.parse(" a , b,").unwrap(), Value::List(vec!["a".into(), "b".into()]));
        assert_eq!(Kind::Int.parse("+5").unwrap(), Value::Integer(5));
        assert!(Kind::Short.parse("99999").is_err());
    }
}
