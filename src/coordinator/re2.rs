//! Regular expressions in RE2's syntax, which is what Kafka takes of clients: read by its rules, refused in its words,
//! and written anew for the engine here.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

/// RE2's limit of a counted repetition.
const MAX_REPEAT: u32 = 1000;

const BAD_ESCAPE: &str = "invalid escape sequence";
const BAD_RANGE: &str = "invalid character class range";
const BAD_PERL: &str = "invalid or unsupported Perl syntax";
const BAD_NAME: &str = "invalid named capture";
const NO_ARGUMENT: &str = "missing argument to repetition operator";
const NESTED: &str = "invalid nested repetition operator";

/// Longest expression, in bytes. Kafka has no limit.
const MAX_BYTES: usize = 1 << 16;

/// Most bytes a compiled expression may take. Kafka has no limit.
const MAX_COMPILED_BYTES: usize = 2 << 20;

const TOO_LARGE: &str = "expression too large";

/// An expression that must match a whole name, or what RE2 says against it.
pub(super) fn compile(expression: &str) -> Result<::regex::Regex, &'static str> {
    if expression.len() > MAX_BYTES {
        return Err(TOO_LARGE);
    }
    let whole = format!(r"\A(?:{})\z", translate(expression)?);
    let compiled = ::regex::RegexBuilder::new(&whole).size_limit(MAX_COMPILED_BYTES).build();
    compiled.map_err(|_| TOO_LARGE)
}

/// The same expression for the engine here, or what RE2 says against it.
fn translate(expression: &str) -> Result<String, &'static str> {
    let mut reader =
        Reader { rest: expression.chars().peekable(), out: String::new(), names: BTreeSet::new() };
    let mut open = 0_usize;
    let mut before = Before::Nothing;
    while let Some(c) = reader.rest.next() {
        before = match c {
            '(' => match reader.group()? {
                Group::Opened => {
                    open += 1;
                    Before::Nothing
                }
                Group::Flags => before,
            },
            ')' => {
                // RE2 has no words of its own for this.
                open = open.checked_sub(1).ok_or("regexp/syntax: internal error")?;
                reader.out.push(')');
                Before::Item
            }
            '|' => {
                reader.out.push('|');
                Before::Nothing
            }
            '^' | '$' | '.' => {
                reader.out.push(c);
                Before::Item
            }
            '[' => {
                reader.class()?;
                Before::Item
            }
            '*' | '+' | '?' => {
                let lazy = reader.lazy();
                before.repeated()?;
                reader.out.push(c);
                reader.out.push_str(lazy);
                Before::Repetition
            }
            '{' => match counts(&reader.rest) {
                None => {
                    reader.literal('{');
                    Before::Item
                }
                Some((min, max, length)) => {
                    reader.rest.by_ref().take(length).for_each(drop);
                    let too_many = |count: u32| count > MAX_REPEAT;
                    if too_many(min) || max.is_some_and(|max| too_many(max) || max < min) {
                        return Err("invalid repeat count");
                    }
                    let lazy = reader.lazy();
                    before.repeated()?;
                    let max = max.map_or_else(String::new, |max| max.to_string());
                    // Writing to a String does not fail.
                    let _ = write!(reader.out, "{{{min},{max}}}{lazy}");
                    Before::Repetition
                }
            },
            '\\' => reader.escaped()?,
            c => {
                reader.literal(c);
                Before::Item
            }
        };
    }
    if open > 0 { Err("missing closing )") } else { Ok(reader.out) }
}

/// What stands before a repetition.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    Item,
    Repetition,
}

impl Before {
    fn repeated(self) -> Result<(), &'static str> {
        match self {
            Before::Item => Ok(()),
            Before::Nothing => Err(NO_ARGUMENT),
            Before::Repetition => Err(NESTED),
        }
    }
}

enum Group {
    Opened,
    /// It only sets flags.
    Flags,
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    names: BTreeSet<String>,
}

impl Reader<'_> {
    fn literal(&mut self, c: char) {
        self.out.push_str(&::regex::escape(c.encode_utf8(&mut [0; 4])));
    }

    fn lazy(&mut self) -> &'static str {
        if self.rest.next_if_eq(&'?').is_some() { "?" } else { "" }
    }

    /// What follows an opening parenthesis.
    fn group(&mut self) -> Result<Group, &'static str> {
        if self.rest.next_if_eq(&'?').is_none() {
            self.out.push_str("(?:");
            return Ok(Group::Opened);
        }
        let mut ahead = self.rest.clone();
        if ahead.next_if_eq(&'P').is_some() && ahead.peek() == Some(&'<') {
            self.rest.next();
        }
        if self.rest.next_if_eq(&'<').is_some() {
            return self.name();
        }
        let (mut flags, mut negative, mut has_flag) = (String::new(), false, false);
        loop {
            match self.rest.next().ok_or(BAD_PERL)? {
                c @ ('i' | 'm' | 's' | 'U') => {
                    has_flag = true;
                    flags.push(c);
                }
                '-' if !negative => {
                    (negative, has_flag) = (true, false);
                    flags.push('-');
                }
                end @ (':' | ')') if has_flag || !negative => {
                    let opens = end == ':';
                    if opens || !flags.is_empty() {
                        self.out.push_str("(?");
                        self.out.push_str(&flags);
                        self.out.push(end);
                    }
                    return Ok(if opens { Group::Opened } else { Group::Flags });
                }
                _ => return Err(BAD_PERL),
            }
        }
    }

    fn name(&mut self) -> Result<Group, &'static str> {
        let mut name = String::new();
        loop {
            match self.rest.next() {
                Some('>') if !name.is_empty() => break,
                Some(c) if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
                _ => return Err(BAD_NAME),
            }
        }
        if !self.names.insert(name) {
            return Err("duplicate capture group name");
        }
        self.out.push_str("(?:");
        Ok(Group::Opened)
    }

    /// What follows a backslash outside of classes.
    fn escaped(&mut self) -> Result<Before, &'static str> {
        match self.rest.peek() {
            Some('A' | 'z') => self.out.extend(['\\'].into_iter().chain(self.rest.next())),
            Some('b') => {
                self.rest.next();
                self.out.push_str(r"(?-u:\b)");
            }
            Some('B') => {
                self.rest.next();
                self.out.push_str(r"\B");
            }
            Some('Q') => {
                self.rest.next();
                return Ok(self.quoted());
            }
            _ => match self.named_class()? {
                Some(class) => self.out.push_str(&class),
                None => {
                    let c = self.escape()?;
                    self.literal(c);
                }
            },
        }
        Ok(Before::Item)
    }

    /// Everything up to `\E`, or to the end, means itself.
    fn quoted(&mut self) -> Before {
        let mut before = Before::Nothing;
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.next_if_eq(&'E').is_some() {
                break;
            }
            self.literal(c);
            before = Before::Item;
        }
        before
    }

    /// `\d`, `\pL` and the like, after the backslash.
    fn named_class(&mut self) -> Result<Option<String>, &'static str> {
        let class = match self.rest.peek() {
            Some('d') => "[0-9]",
            Some('D') => "[^0-9]",
            Some('s') => r"[\t\n\x0c\r ]",
            Some('S') => r"[^\t\n\x0c\r ]",
            Some('w') => "[0-9A-Za-z_]",
            Some('W') => "[^0-9A-Za-z_]",
            Some('p' | 'P') => return self.property().map(Some),
            _ => return Ok(None),
        };
        self.rest.next();
        Ok(Some(class.to_owned()))
    }

    fn property(&mut self) -> Result<String, &'static str> {
        let mut negative = self.rest.next() == Some('P');
        let mut name = String::new();
        match self.rest.next().ok_or(BAD_RANGE)? {
            '{' => loop {
                match self.rest.next().ok_or(BAD_RANGE)? {
                    '}' => break,
                    '^' if name.is_empty() => negative = !negative,
                    c => name.push(c),
                }
            },
            c => name.push(c),
        }
        let class = format!(r"\{}{{{name}}}", if negative { 'P' } else { 'p' });
        let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        if is_name && regex_syntax::parse(&class).is_ok() { Ok(class) } else { Err(BAD_RANGE) }
    }

    /// One character, after the backslash.
    fn escape(&mut self) -> Result<char, &'static str> {
        let c = self.rest.next().ok_or("trailing backslash at end of expression")?;
        let digit = |c: &char| c.is_digit(8);
        match c {
            // A backreference, which RE2 does not have, unless it is longer.
            '1'..='7' if self.rest.peek().is_none_or(|next| !digit(next)) => Err(BAD_ESCAPE),
            '0'..='7' => {
                let mut value = c.to_digit(8).unwrap_or_default();
                for _ in 0..2 {
                    let Some(next) = self.rest.next_if(digit) else { break };
                    value = value * 8 + next.to_digit(8).unwrap_or_default();
                }
                char::from_u32(value).ok_or(BAD_ESCAPE)
            }
            'x' => self.hexadecimal(),
            'a' => Ok('\x07'),
            'f' => Ok('\x0c'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'v' => Ok('\x0b'),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok(c),
            _ => Err(BAD_ESCAPE),
        }
    }

    fn hexadecimal(&mut self) -> Result<char, &'static str> {
        let mut value = 0_u32;
        let mut take = |c: char| {
            value = value.saturating_mul(16).saturating_add(c.to_digit(16)?);
            Some(())
        };
        if self.rest.next_if_eq(&'{').is_none() {
            for _ in 0..2 {
                self.rest.next().and_then(&mut take).ok_or(BAD_ESCAPE)?;
            }
            return char::from_u32(value).ok_or(BAD_ESCAPE);
        }
        let mut digits = 0_usize;
        loop {
            match self.rest.next() {
                Some('}') if digits > 0 => break,
                Some(c) => take(c).ok_or(BAD_ESCAPE)?,
                None => return Err(BAD_ESCAPE),
            }
            digits += 1;
        }
        char::from_u32(value).ok_or(BAD_ESCAPE)
    }

    /// A class, after its opening bracket.
    fn class(&mut self) -> Result<(), &'static str> {
        let mut class = String::from("[");
        if self.rest.next_if_eq(&'^').is_some() {
            class.push('^');
        }
        let mut first = true;
        while first || self.rest.peek() != Some(&']') {
            first = false;
            if let Some(posix) = self.posix()? {
                class.push_str(&posix);
                continue;
            }
            let mut ahead = self.rest.clone();
            if ahead.next() == Some('\\') && ahead.peek().is_some_and(|c| "dDsSwWpP".contains(*c)) {
                self.rest.next();
                class.push_str(&self.named_class()?.unwrap_or_default());
                continue;
            }
            let low = self.class_char()?;
            let mut high = low;
            let mut ahead = self.rest.clone();
            if ahead.next() == Some('-') && ahead.next().is_some_and(|next| next != ']') {
                self.rest.next();
                high = self.class_char()?;
                if high < low {
                    return Err(BAD_RANGE);
                }
            }
            // Writing to a String does not fail.
            let _ = write!(class, r"\x{{{:x}}}-\x{{{:x}}}", u32::from(low), u32::from(high));
        }
        self.rest.next();
        class.push(']');
        self.out.push_str(&class);
        Ok(())
    }

    fn class_char(&mut self) -> Result<char, &'static str> {
        match self.rest.next().ok_or("missing closing ]")? {
            '\\' => self.escape(),
            c => Ok(c),
        }
    }

    /// `[:alpha:]` and the like.
    fn posix(&mut self) -> Result<Option<String>, &'static str> {
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('[') || ahead.next() != Some(':') {
            return Ok(None);
        }
        let mut name = String::new();
        while let Some(c) = ahead.next() {
            if c == ':' && ahead.next_if_eq(&']').is_some() {
                let known = [
                    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
                    "space", "upper", "word", "xdigit",
                ];
                if !known.contains(&name.trim_start_matches('^')) || name.starts_with("^^") {
                    return Err(BAD_RANGE);
                }
                self.rest = ahead;
                return Ok(Some(format!("[:{name}:]")));
            }
            name.push(c);
        }
        Ok(None)
    }
}

/// The numbers of a counted repetition after its brace, and how many characters it has; none if the brace means itself.
fn counts(rest: &Peekable<Chars<'_>>) -> Option<(u32, Option<u32>, usize)> {
    let mut text = rest.clone();
    let mut length = 0;
    let mut number = |text: &mut Peekable<Chars<'_>>| {
        let mut digits = String::new();
        while let Some(digit) = text.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        length += digits.len();
        let leads_with_zero = digits.len() > 1 && digits.starts_with('0');
        // What is too large is larger than the limit in any case.
        (!digits.is_empty() && !leads_with_zero).then(|| digits.parse().unwrap_or(u32::MAX))
    };
    let min = number(&mut text)?;
    if text.next_if_eq(&',').is_none() {
        return (text.next() == Some('}')).then_some((min, Some(min), length + 1));
    }
    let max = if text.peek() == Some(&'}') { None } else { Some(number(&mut text)?) };
    (text.next() == Some('}')).then_some((min, max, length + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_refused_in_the_words_of_re2() {
        // As a broker of Kafka 4.4 said.
        for (expression, words) in [
            ("a**", NESTED),
            ("a??+", NESTED),
            ("x{1,2}{3}", NESTED),
            ("**a", NO_ARGUMENT),
            ("a|*", NO_ARGUMENT),
            ("{1}", NO_ARGUMENT),
            ("a{1001}", "invalid repeat count"),
            ("a{2,1}", "invalid repeat count"),
            ("a{99999999999}", "invalid repeat count"),
            (")", "regexp/syntax: internal error"),
            ("(a", "missing closing )"),
            ("[", "missing closing ]"),
            ("[]", "missing closing ]"),
            ("[z-a]", BAD_RANGE),
            ("[a--b]", BAD_RANGE),
            ("[[:foo:]]", BAD_RANGE),
            (r"\pX", BAD_RANGE),
            (r"\p{Foo}", BAD_RANGE),
            (r"\p", BAD_RANGE),
            ("(?P<n>a)(?P<n>b)", "duplicate capture group name"),
            ("(?P<n", BAD_NAME),
            ("(?P<>a)", BAD_NAME),
            ("(?<=a)b", BAD_NAME),
            ("(?=a)", BAD_PERL),
            ("(?", BAD_PERL),
            ("(?i", BAD_PERL),
            ("(?i-)", BAD_PERL),
            ("(?P=n)", BAD_PERL),
            (r"(a)\1", BAD_ESCAPE),
            (r"\x{110000}", BAD_ESCAPE),
            (r"\xZZ", BAD_ESCAPE),
            (r"\u0041", BAD_ESCAPE),
            (r"\E", BAD_ESCAPE),
            (r"[a-\d]", BAD_ESCAPE),
            (r"[\b]", BAD_ESCAPE),
            (r"a\", "trailing backslash at end of expression"),
        ] {
            assert_eq!(translate(expression), Err(words), "{expression}");
        }
    }

    #[test]
    fn expressions_mean_what_they_mean_in_re2() {
        for (expression, matching, other) in [
            ("a{,3}", "a{,3}", "aa"),
            ("a{", "a{", "a"),
            ("{", "{", ""),
            (r"\Qa.b\E+", "a.bb", "axb"),
            (r"\Qa*", "a*", "aa"),
            ("[a&&b]+", "&ab", "c"),
            ("[[a]+", "[a", "b"),
            ("[]a]+", "]a", "b"),
            ("[a-]+", "a-", "b"),
            ("[[:^alpha:]]", "1", "a"),
            (r"[\d_]+", "1_", "a"),
            (r"\d", "1", "\u{661}"),
            (r"\p{^Greek}", "a", "\u{3b1}"),
            (r"\PN", "a", "1"),
            ("(?i)T-.*", "t-1", "u-1"),
            ("(?i:T)T", "tT", "tt"),
            ("(?<n>a)(?P<m>b)", "ab", "a"),
            (r"\x41\x{42}\103", "ABC", "abc"),
            ("a{2}?b", "aab", "ab"),
            ("(|a)*", "aa", "b"),
            (r"\-\_\.", "-_.", "-_a"),
        ] {
            let ours = translate(expression).unwrap_or_else(|why| panic!("{expression}: {why}"));
            let regex = ::regex::Regex::new(&format!(r"\A(?:{ours})\z")).unwrap();
            assert!(regex.is_match(matching), "{expression} ({ours}) matches {matching}");
            assert!(!regex.is_match(other), "{expression} ({ours}) does not match {other}");
        }
    }

    #[test]
    fn expressions_match_whole_names_and_costly_ones_are_refused() {
        let regex = compile("t-.*|u").unwrap();
        assert!(regex.is_match("t-1") && regex.is_match("u"));
        assert!(!regex.is_match("at-1") && !regex.is_match("uu"));
        for bad in ["([", "a++", "a)|(b", "(?:a{900}){5000}", "((a{1000}){1000}){1000}"] {
            assert!(compile(bad).is_err(), "{bad}");
        }
    }
}
