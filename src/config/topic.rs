//! A topic's settings, resolved.

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
