//! A regular expression over transactional ids, in the syntax of RE2.

use regex::{Regex, RegexBuilder};

/// Matches whole names.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

/// RE2 repeats nothing more often than that.
const MOST_REPEATS: u32 = 1000;
/// What a compiled pattern may take, in bytes.
const SIZE_LIMIT: usize = 1 << 20;

impl Pattern {
    /// `None` if it is none, or one that would cost too much.
    pub fn parse(text: &str) -> Option<Pattern> {
        if most_repeats(text) > MOST_REPEATS {
            return None;
        }
        // Alone first: what closes a group that it did not open must not close ours.
        Regex::new(text).ok()?;
        let whole = RegexBuilder::new(&format!("^(?:{text})$")).size_limit(SIZE_LIMIT).build();
        whole.ok().map(Pattern)
    }

    /// Is the whole name like that?
    pub fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// The largest number in braces, which may be a repetition.
fn most_repeats(text: &str) -> u32 {
    let braces = text.split('{').skip(1).filter_map(|after| after.split_once('}'));
    let numbers = braces.flat_map(|(inside, _)| inside.split(','));
    numbers.filter_map(|number| number.trim().parse().ok()).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_a_whole() {
        let pattern = Pattern::parse("a|bc").unwrap();
        assert!(pattern.matches("a") && pattern.matches("bc"));
        assert!(!pattern.matches("abc") && !pattern.matches("ac"));
        for bad in ["([", "a{1,5000}", "(?=x)", "a)|(b"] {
            assert!(Pattern::parse(bad).is_none(), "{bad}");
        }
    }
}
