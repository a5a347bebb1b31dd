//! What a log is told about itself.

/// Settings of one log: the topic's, or the broker's where the topic has none. May change while the log is open.
#[derive(Clone, Debug, PartialEq)]
pub struct LogConfig {
    /// `segment.bytes`: a segment is at most this large.
    pub segment_bytes: u32,
    /// `segment.ms`: a segment is at most this old.
    pub segment_ms: i64,
    /// `segment.jitter.ms`: up to this is taken off `segment.ms`, so that not all logs roll at once.
    pub segment_jitter_ms: i64,
    /// `index.interval.bytes`: bytes of log between two index entries.
    pub index_interval_bytes: u32,
    /// `segment.index.bytes`: largest size of an index file.
    pub segment_index_bytes: u32,
    /// `retention.ms`; -1 keeps for ever.
    pub retention_ms: i64,
    /// `retention.bytes`; -1 is no limit.
    pub retention_bytes: i64,
    /// `flush.messages`: an append that leaves so many records unflushed is acknowledged after a flush.
    pub flush_messages: i64,
    /// `flush.ms`: records are unflushed for at most this long.
    pub flush_ms: i64,
    /// `file.delete.delay.ms`: from a segment's end to the removal of its files.
    pub file_delete_delay_ms: i64,
    /// `preallocate`: reserve a whole segment at once.
    pub preallocate: bool,
    /// `cleanup.policy` contains `delete`.
    pub delete: bool,
    /// `cleanup.policy` contains `compact`.
    pub compact: bool,
    /// `min.cleanable.dirty.ratio`: a log is compacted when so much of it is dirty, 0 to 1.
    pub min_cleanable_dirty_ratio: f64,
    /// `min.compaction.lag.ms`: younger records are left alone.
    pub min_compaction_lag_ms: i64,
    /// `max.compaction.lag.ms`: older records are compacted whatever the ratio.
    pub max_compaction_lag_ms: i64,
    /// `delete.retention.ms`: how long tombstones and markers can still be read after a compaction.
    pub delete_retention_ms: i64,
    /// `message.timestamp.type` is `LogAppendTime`.
    pub append_time: bool,
    /// `message.timestamp.before.max.ms`: how far a record's time may lie in the past.
    pub timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`: how far a record's time may lie in the future.
    pub timestamp_after_max_ms: i64,
    /// `max.message.bytes`: largest batch.
    pub max_message_bytes: u32,
    /// `compression.type`.
    pub compression: CompressionType,
    /// Damage in front of sound batches refuses the opening. Otherwise it ends the log, as in Kafka, whose replicas
    /// have what is lost.
    pub refuse_damage: bool,
}

/// `compression.type`, with the level of those that have one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompressionType {
    /// As the producer sent it.
    #[default]
    Producer,
    /// Not compressed.
    Uncompressed,
    /// `compression.gzip.level`.
    Gzip(i32),
    /// Snappy.
    Snappy,
    /// `compression.lz4.level`.
    Lz4(i32),
    /// `compression.zstd.level`.
    Zstd(i32),
}

impl LogConfig {
    /// A segment is at most this old, ms: `segment.ms`, or less where compaction may not wait so long.
    pub(super) fn roll_ms(&self) -> i64 {
        match self.compact && self.max_compaction_lag_ms > 0 {
            true => self.segment_ms.min(self.max_compaction_lag_ms),
            false => self.segment_ms,
        }
    }
}

impl Default for LogConfig {
    /// Kafka's defaults.
    fn default() -> LogConfig {
        const WEEK_MS: i64 = 7 * 24 * 3600 * 1000;
        LogConfig {
            segment_bytes: 1 << 30,
            segment_ms: WEEK_MS,
            segment_jitter_ms: 0,
            index_interval_bytes: 4096,
            segment_index_bytes: 10 << 20,
            retention_ms: WEEK_MS,
            retention_bytes: -1,
            flush_messages: i64::MAX,
            flush_ms: i64::MAX,
            file_delete_delay_ms: 60_000,
            preallocate: false,
            delete: true,
            compact: false,
            min_cleanable_dirty_ratio: 0.5,
            min_compaction_lag_ms: 0,
            max_compaction_lag_ms: i64::MAX,
            delete_retention_ms: 86_400_000,
            append_time: false,
            timestamp_before_max_ms: i64::MAX,
            timestamp_after_max_ms: 3_600_000,
            max_message_bytes: 1_048_588,
            compression: CompressionType::Producer,
            refuse_damage: false,
        }
    }
}
