//! A regular expression over transactional ids, in the syntax of RE2.

use regex::Regex;

use crate::coordinator::re2;

/// Matches whole names.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// `None` if it is none, or one that would cost too much.
    pub fn parse(text: &str) -> Option<Pattern> {
        re2::compile(text).ok().map(Pattern)
    }

    /// Is the whole name like that?
    pub fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}
