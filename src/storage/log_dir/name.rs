//! Names of the directories in a log directory.

use std::fmt;

use crate::ids::{TopicPartition, Uuid};

/// What a partition's directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirKind {
    /// The partition's log: `topic-3`.
    Current,
    /// To be removed: `topic-3.<uuid>-delete`.
    Delete(Uuid),
    /// A copy that is catching up, on its way from another log directory: `topic-3.<uuid>-future`.
    Future(Uuid),
    /// No longer of this broker: `topic-3.<uuid>-stray`.
    Stray(Uuid),
}

/// The name of a partition's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirName {
    /// Whose; the topic's name may be cut short unless the kind is `Current`.
    pub partition: TopicPartition,
    /// What for.
    pub kind: DirKind,
}

/// The longest name that file systems take.
const MAX_NAME: usize = 255;

impl DirName {
    /// Reads a directory's name; `None` if it is not a partition's.
    pub fn parse(name: &str) -> Option<DirName> {
        let kinds = [
            ("-delete", DirKind::Delete as fn(Uuid) -> DirKind),
            ("-future", DirKind::Future),
            ("-stray", DirKind::Stray),
        ];
        for (suffix, kind) in kinds {
            if let Some((stem, id)) = name.strip_suffix(suffix).and_then(|stem| stem.rsplit_once('.'))
                && let (Some(partition), Some(id)) = (parse_partition(stem), parse_hex(id))
            {
                return Some(DirName { partition, kind: kind(id) });
            }
        }
        Some(DirName { partition: parse_partition(name)?, kind: DirKind::Current })
    }
}

impl fmt::Display for DirName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, what) = match self.kind {
            DirKind::Current => return fmt::Display::fmt(&self.partition, f),
            DirKind::Delete(id) => (id, "delete"),
            DirKind::Future(id) => (id, "future"),
            DirKind::Stray(id) => (id, "stray"),
        };
        let hex = u128::from_be_bytes(id.0);
        let suffix = format!("-{}.{hex:032x}-{what}", self.partition.partition);
        // Topic names are ASCII, so that a character is a byte.
        let topic = self.partition.topic.get(..MAX_NAME.saturating_sub(suffix.len()));
        write!(f, "{}{suffix}", topic.unwrap_or(&self.partition.topic))
    }
}

fn parse_partition(name: &str) -> Option<TopicPartition> {
    let (topic, partition) = name.rsplit_once('-')?;
    let plain = !topic.is_empty() && !partition.is_empty() && partition.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| partition.parse().ok())?.map(|partition| TopicPartition::new(topic, partition))
}

fn parse_hex(id: &str) -> Option<Uuid> {
    let plain = id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit());
    plain.then(|| u128::from_str_radix(id, 16).ok())?.map(|bits| Uuid(bits.to_be_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let id = Uuid([0xab; 16]);
        for (kind, name) in [
            (DirKind::Current, "a-b.c-3".to_string()),
            (DirKind::Delete(id), format!("a-b.c-3.{}-delete", "ab".repeat(16))),
            (DirKind::Future(id), format!("a-b.c-3.{}-future", "ab".repeat(16))),
            (DirKind::Stray(id), format!("a-b.c-3.{}-stray", "ab".repeat(16))),
        ] {
            let dir = DirName { partition: TopicPartition::new("a-b.c", 3), kind };
            assert_eq!(dir.to_string(), name);
            assert_eq!(DirName::parse(&name), Some(dir));
        }
        let long = DirName { partition: TopicPartition::new("x".repeat(249), 12), kind: DirKind::Delete(id) };
        assert_eq!(long.to_string().len(), 255);
        for not in ["lost+found", "a", "-3", "a-", "a--delete", "a-3.xyz-delete", "a-+3"] {
            assert_eq!(DirName::parse(not), None, "{not}");
        }
    }
}
