//! `server.properties` and `--override`: keys and values with the place they come from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use java_properties::{LineContent, PropertiesIter};

/// Where a setting was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line of a file, counted from 1.
    Line(Arc<Path>, usize),
    /// `--override` on the command line.
    Override,
    /// The built-in settings of a start without a file.
    BuiltIn,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Line(file, line) => write!(f, "{}, line {line}", file.display()),
            Origin::Override => f.write_str("--override"),
            Origin::BuiltIn => f.write_str("built-in settings"),
        }
    }
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The value without blanks around it.
    pub value: String,
    /// Where it was written.
    pub origin: Origin,
}

/// What was written, by key. Of two entries for one key the later one holds.
#[derive(Clone, Debug, Default)]
pub struct Properties(BTreeMap<String, Entry>);

/// A file that could not be read, or an override that is none.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file is not there or not readable.
    #[error("cannot read {path}: {source}", path = .0.display(), source = .1)]
    File(PathBuf, std::io::Error),
    /// Java's syntax of properties is broken.
    #[error("{path}, line {line}: {why}", path = .0.display(), line = .1, why = .2)]
    Syntax(PathBuf, usize, String),
    /// `--override` without `=`.
    #[error("--override {0}: expected key=value")]
    Override(String),
}

impl Properties {
    /// Reads a file in the syntax of Java's properties.
    pub fn read(path: &Path) -> Result<Properties, ReadError> {
        let bytes = std::fs::read(path).map_err(|error| ReadError::File(path.to_owned(), error))?;
        Properties::parse(path, &bytes)
    }

    /// Reads the text of a file; `path` is only for messages.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Properties, ReadError> {
        // Java reads Latin-1; people write UTF-8. Both are understood.
        let encoding =
            if std::str::from_utf8(bytes).is_ok() { encoding_rs::UTF_8 } else { encoding_rs::WINDOWS_1252 };
        let file: Arc<Path> = path.into();
        let mut properties = Properties::default();
        for line in PropertiesIter::new_with_encoding(bytes, encoding) {
            let line = line.map_err(|error| {
                ReadError::Syntax(path.to_owned(), error.line_number().unwrap_or_default(), error.to_string())
            })?;
            let at = line.line_number();
            if let LineContent::KVPair(key, value) = line.consume_content() {
                properties.set(&key, &value, Origin::Line(Arc::clone(&file), at));
            }
        }
        Ok(properties)
    }

    /// Adds `key=value` of the command line.
    pub fn add_override(&mut self, text: &str) -> Result<(), ReadError> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                self.set(key, value, Origin::Override);
                Ok(())
            }
            _ => Err(ReadError::Override(text.to_owned())),
        }
    }

    /// Sets one value.
    pub fn set(&mut self, key: &str, value: &str, origin: Origin) {
        self.0.insert(key.trim().to_owned(), Entry { value: value.trim().to_owned(), origin });
    }

    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.0.get(key)
    }

    /// Everything, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.0.iter().map(|(key, entry)| (key.as_str(), entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_blanks_comments_and_continued_lines() {
        let text =
            "# Größe, 大きさ\nbroker.id=0  \n\n! old comment\nlog.dirs : /a,\\\n  /b\nbroker.id = 7\t\n";
        let properties = Properties::parse(Path::new("x.properties"), text.as_bytes()).unwrap();
        assert_eq!(properties.get("log.dirs").unwrap().value, "/a,/b");
        let id = properties.get("broker.id").unwrap();
        assert_eq!((id.value.as_str(), id.origin.to_string().as_str()), ("7", "x.properties, line 7"));
        assert_eq!(properties.iter().count(), 2);
    }

    #[test]
    fn a_file_in_latin_1() {
        let properties = Properties::parse(Path::new("x"), b"# Gr\xf6\xdfe\nnode.id=1\n").unwrap();
        assert_eq!(properties.get("node.id").unwrap().value, "1");
    }

    #[test]
    fn overrides_win() {
        let mut properties = Properties::parse(Path::new("x"), b"node.id=1").unwrap();
        properties.add_override("node.id=2=3").unwrap();
        assert_eq!(properties.get("node.id").unwrap().value, "2=3");
        assert_eq!(
            properties.add_override("node.id").unwrap_err().to_string(),
            "--override node.id: expected key=value"
        );
    }
}
