//! What a topic may be called.

/// The longest name: with a partition number and a suffix it still is a file name.
const LONGEST: usize = 249;

/// Kafka's words for why a name is not allowed; `None` if it is.
pub fn fault_of(name: &str) -> Option<String> {
    const NOT_ALLOWED: &str = "Topic name is invalid: ";
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() {
        Some(format!("{NOT_ALLOWED}the empty string is not allowed"))
    } else if name == "." || name == ".." {
        Some(format!("{NOT_ALLOWED}'{name}' is not allowed"))
    } else if name.encode_utf16().count() > LONGEST {
        Some(format!("{NOT_ALLOWED}the length of '{name}' is longer than the max allowed length {LONGEST}"))
    } else if !name.chars().all(legal) {
        let why = "contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'";
        Some(format!("{NOT_ALLOWED}'{name}' {why}"))
    } else {
        None
    }
}

/// True if two names would be the same metric: `.` and `_` count as one character there.
pub fn collide(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).all(|(a, b)| blur(a) == blur(b))
}

/// True if a name can collide with another one at all.
pub fn can_collide(name: &str) -> bool {
    name.contains(['.', '_'])
}

fn blur(byte: u8) -> u8 {
    if byte == b'.' { b'_' } else { byte }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_refused_with_kafkas_words() {
        assert_eq!(fault_of("a.b_c-1"), None);
        assert_eq!(fault_of(&"x".repeat(249)), None);
        assert_eq!(fault_of("").unwrap(), "Topic name is invalid: the empty string is not allowed");
        assert_eq!(fault_of("..").unwrap(), "Topic name is invalid: '..' is not allowed");
        assert!(fault_of(&"x".repeat(250)).unwrap().ends_with("is longer than the max allowed length 249"));
        assert!(fault_of("ä").unwrap().starts_with("Topic name is invalid: 'ä' contains one or more"));
    }

    #[test]
    fn dots_and_underscores_collide() {
        assert!(collide("a.b", "a_b"));
        assert!(!collide("a.b", "a-b"));
        assert!(can_collide("a_b") && !can_collide("ab"));
    }
}
