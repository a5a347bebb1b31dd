//! A topic's settings, resolved.

use std::collections::BTreeMap;

use super::check;
use super::definition::{self, Value};
use super::error::Problem;
use super::values::Values;

/// Everything one topic is told: its own overrides over the broker's defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicConfig {
    /// `segment.bytes`.
    pub segment_bytes: i32,
    /// `segment.ms`.
    pub segment_ms: i64,
    /// `segment.jitter.ms`: at most this is taken off `segment_ms`, by chance, so that rolls do not coincide.
    pub segment_jitter_ms: i64,
    /// `segment.index.bytes`.
    pub segment_index_bytes: i32,
    /// `flush.messages`.
    pub flush_messages: i64,
    /// `flush.ms`.
    pub flush_ms: i64,
    /// `retention.bytes`; negative means no limit.
    pub retention_bytes: i64,
    /// `retention.ms`; negative means no limit.
    pub retention_ms: i64,
    /// `max.message.bytes`: the largest record batch.
    pub max_message_bytes: i32,
    /// `max.decompressed.message.bytes`: what a batch may decompress to.
    pub max_decompressed_message_bytes: i32,
    /// `index.interval.bytes`.
    pub index_interval_bytes: i32,
    /// `delete.retention.ms`: how long tombstones stay.
    pub delete_retention_ms: i64,
    /// `min.compaction.lag.ms`.
    pub min_compaction_lag_ms: i64,
    /// `max.compaction.lag.ms`.
    pub max_compaction_lag_ms: i64,
    /// `file.delete.delay.ms`.
    pub file_delete_delay_ms: i64,
    /// `min.cleanable.dirty.ratio`.
    pub min_cleanable_dirty_ratio: f64,
    /// `cleanup.policy` has `delete`. Both may be false: nothing is ever removed.
    pub delete: bool,
    /// `cleanup.policy` has `compact`.
    pub compact: bool,
    /// `unclean.leader.election.enable`.
    pub unclean_leader_election: bool,
    /// `min.insync.replicas`.
    pub min_insync_replicas: i32,
    /// `compression.type` with the level that goes with it.
    pub compression: Compression,
    /// `preallocate`.
    pub preallocate: bool,
    /// `message.timestamp.type` is `LogAppendTime`.
    pub log_append_time: bool,
    /// `message.timestamp.before.max.ms`.
    pub timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`.
    pub timestamp_after_max_ms: i64,
}

/// `compression.type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// As the producer sent it.
    Producer,
    /// Not compressed (`uncompressed`).
    None,
    /// gzip; -1 is the library's default level.
    Gzip(i32),
    /// snappy.
    Snappy,
    /// lz4.
    Lz4(i32),
    /// zstd.
    Zstd(i32),
}

impl TopicConfig {
    fn of(values: &TopicValues) -> Result<TopicConfig, Problem> {
        Ok(TopicConfig {
            segment_bytes: values.number("segment.bytes")?,
            segment_ms: values.number("segment.ms")?,
            segment_jitter_ms: values.number("segment.jitter.ms")?,
            segment_index_bytes: values.number("segment.index.bytes")?,
            flush_messages: values.number("flush.messages")?,
            flush_ms: values.number("flush.ms")?,
            retention_bytes: values.number("retention.bytes")?,
            retention_ms: values.number("retention.ms")?,
            max_message_bytes: values.number("max.message.bytes")?,
            max_decompressed_message_bytes: values.number("max.decompressed.message.bytes")?,
            index_interval_bytes: values.number("index.interval.bytes")?,
            delete_retention_ms: values.number("delete.retention.ms")?,
            min_compaction_lag_ms: values.number("min.compaction.lag.ms")?,
            max_compaction_lag_ms: values.number("max.compaction.lag.ms")?,
            file_delete_delay_ms: values.number("file.delete.delay.ms")?,
            min_cleanable_dirty_ratio: values.share("min.cleanable.dirty.ratio")?,
            delete: values.has_policy("delete")?,
            compact: values.has_policy("compact")?,
            unclean_leader_election: values.flag("unclean.leader.election.enable")?,
            min_insync_replicas: values.number("min.insync.replicas")?,
            compression: values.compression()?,
            preallocate: values.flag("preallocate")?,
            log_append_time: values.text("message.timestamp.type")? == "LogAppendTime",
            timestamp_before_max_ms: values.number("message.timestamp.before.max.ms")?,
            timestamp_after_max_ms: values.number("message.timestamp.after.max.ms")?,
        })
    }
}

/// What a topic has that sets nothing itself: the broker's settings under the topics' names.
#[derive(Clone, Debug)]
pub struct TopicDefaults {
    values: TopicValues,
    resolved: TopicConfig,
}

impl TopicDefaults {
    /// The defaults that follow from a broker's values.
    pub(super) fn of_broker(broker: &Values) -> Result<TopicDefaults, Problem> {
        let mut values = TopicValues(BTreeMap::new());
        for key in definition::topic_keys() {
            let value = match key.broker_key {
                Some(broker_key) => broker.get(broker_key)?.clone(),
                None => key.default_value(),
            };
            values.0.insert(key.name, value);
        }
        let times = check::log_times(broker)?;
        let several = [
            ("segment.ms", times.roll_ms),
            ("segment.jitter.ms", times.roll_jitter_ms),
            ("retention.ms", times.retention_ms),
            ("flush.ms", times.flush_ms),
        ];
        for (key, millis) in several {
            values.0.insert(key, Value::Integer(millis));
        }
        let resolved = TopicConfig::of(&values)?;
        Ok(TopicDefaults { values, resolved })
    }

    /// The settings of a topic that sets nothing itself.
    pub fn config(&self) -> &TopicConfig {
        &self.resolved
    }

    /// The default of a topic's key.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.values.0.get(key)
    }

    /// A topic's settings: its own over these. Overrides were checked when they were made; one that cannot be
    /// read any more (an unknown key, a value out of range) is left out.
    pub fn resolve<'a>(&self, overrides: impl IntoIterator<Item = (&'a String, &'a String)>) -> TopicConfig {
        let mut values: Option<TopicValues> = None;
        for (name, text) in overrides {
            if let Some(key) = definition::topic_key(name)
                && let Ok(value) = key.parse(text)
            {
                values.get_or_insert_with(|| self.values.clone()).0.insert(key.name, value);
            }
        }
        match values {
            Some(values) => TopicConfig::of(&values).unwrap_or_else(|_| self.resolved.clone()),
            None => self.resolved.clone(),
        }
    }
}

/// One value per key of a topic.
#[derive(Clone, Debug)]
struct TopicValues(BTreeMap<&'static str, Value>);

impl TopicValues {
    fn number<T: TryFrom<i64>>(&self, key: &'static str) -> Result<T, Problem> {
        match self.0.get(key) {
            Some(Value::Integer(number)) => T::try_from(*number).map_err(|_| Problem::NoSuchKey(key)),
            _ => Err(Problem::NoSuchKey(key)),
        }
    }

    fn share(&self, key: &'static str) -> Result<f64, Problem> {
        match self.0.get(key) {
            Some(Value::Double(share)) => Ok(*share),
            _ => Err(Problem::NoSuchKey(key)),
        }
    }

    fn flag(&self, key: &'static str) -> Result<bool, Problem> {
        match self.0.get(key) {
            Some(Value::Boolean(flag)) => Ok(*flag),
            _ => Err(Problem::NoSuchKey(key)),
        }
    }

    fn text(&self, key: &'static str) -> Result<&str, Problem> {
        match self.0.get(key) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(Problem::NoSuchKey(key)),
        }
    }

    fn has_policy(&self, policy: &str) -> Result<bool, Problem> {
        match self.0.get("cleanup.policy") {
            Some(Value::List(policies)) => Ok(policies.iter().any(|known| known == policy)),
            _ => Err(Problem::NoSuchKey("cleanup.policy")),
        }
    }

    fn compression(&self) -> Result<Compression, Problem> {
        Ok(match self.text("compression.type")? {
            "uncompressed" => Compression::None,
            "gzip" => Compression::Gzip(self.number("compression.gzip.level")?),
            "snappy" => Compression::Snappy,
            "lz4" => Compression::Lz4(self.number("compression.lz4.level")?),
            "zstd" => Compression::Zstd(self.number("compression.zstd.level")?),
            _ => Compression::Producer,
        })
    }
}
