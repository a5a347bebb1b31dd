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

/// What a name is as a metric, where `.` and `_` count as one character: topics may not be the same there. `None` if
/// only the name itself can be it.
pub fn blurred(name: &str) -> Option<String> {
    name.contains(['.', '_']).then(|| name.replace('.', "_"))
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
        assert_eq!(blurred("a.b"), blurred("a_b"));
        assert_ne!(blurred("a.b"), blurred("a.c"));
        assert_eq!(blurred("a-b"), None);
    }
}
