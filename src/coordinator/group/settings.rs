//! The settings that group coordination looks at.

use barnabas_protocol::batch::Codec;

/// A copy of the broker's settings, in the units the coordinator computes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSettings {
    /// `group.min.session.timeout.ms`.
    pub min_session_ms: i32,
    /// `group.max.session.timeout.ms`.
    pub max_session_ms: i32,
    /// `group.initial.rebalance.delay.ms`: how long an empty group waits for more members.
    pub initial_rebalance_delay_ms: u64,
    /// `group.max.size`: members of one group.
    pub max_size: usize,
    /// `offset.metadata.max.bytes`: characters of a commit's metadata (UTF-16 units, as Kafka counts).
    pub offset_metadata_max: usize,
    /// `offsets.retention.minutes` in milliseconds.
    pub offsets_retention_ms: i64,
    /// `offsets.retention.check.interval.ms`.
    pub offsets_retention_check_ms: u64,
    /// Largest batch the log takes, in bytes (`max.message.bytes` of the internal topic).
    pub max_batch_bytes: usize,
    /// `offsets.topic.compression.codec`.
    pub codec: Codec,
    /// Consumer groups (KIP-848).
    pub consumer: ConsumerSettings,
    /// `offsets.topic.num.partitions`: shards, unless the topic exists with another count.
    pub offsets_partitions: i32,
}

/// Settings of consumer groups (KIP-848).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerSettings {
    /// `group.consumer.session.timeout.ms`.
    pub session_ms: i32,
    /// `group.consumer.min.session.timeout.ms`.
    pub min_session_ms: i32,
    /// `group.consumer.max.session.timeout.ms`.
    pub max_session_ms: i32,
    /// `group.consumer.heartbeat.interval.ms`.
    pub heartbeat_ms: i32,
    /// `group.consumer.min.heartbeat.interval.ms`.
    pub min_heartbeat_ms: i32,
    /// `group.consumer.max.heartbeat.interval.ms`.
    pub max_heartbeat_ms: i32,
    /// `group.consumer.assignment.interval.ms`.
    pub assignment_interval_ms: i32,
    /// `group.consumer.regex.refresh.interval.ms`.
    pub regex_refresh_ms: i64,
    /// `group.consumer.max.size`: members of one group.
    pub max_size: usize,
    /// `group.consumer.assignors`, the default first.
    pub assignors: Vec<String>,
    /// `group.consumer.migration.policy`.
    pub migration: MigrationPolicy,
}

/// `group.consumer.migration.policy`: how a group may change its protocol while it has members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MigrationPolicy {
    /// A consumer may join a classic group.
    pub upgrades: bool,
    /// A group whose last consumer goes becomes classic.
    pub downgrades: bool,
}

impl MigrationPolicy {
    /// By Kafka's name of it, in lower case; the default for any other.
    pub fn named(name: &str) -> MigrationPolicy {
        MigrationPolicy {
            upgrades: !matches!(name, "disabled" | "downgrade"),
            downgrades: !matches!(name, "disabled" | "upgrade"),
        }
    }
}

impl Default for ConsumerSettings {
    /// Kafka's defaults.
    fn default() -> ConsumerSettings {
        ConsumerSettings {
            session_ms: 45_000,
            min_session_ms: 45_000,
            max_session_ms: 60_000,
            heartbeat_ms: 5_000,
            min_heartbeat_ms: 5_000,
            max_heartbeat_ms: 15_000,
            assignment_interval_ms: 1_000,
            regex_refresh_ms: 600_000,
            max_size: usize::try_from(i32::MAX).unwrap_or(usize::MAX),
            assignors: vec!["uniform".to_owned(), "range".to_owned()],
            migration: MigrationPolicy::named("bidirectional"),
        }
    }
}

impl Default for GroupSettings {
    /// Kafka's defaults.
    fn default() -> GroupSettings {
        GroupSettings {
            min_session_ms: 6_000,
            max_session_ms: 1_800_000,
            initial_rebalance_delay_ms: 3_000,
            max_size: usize::try_from(i32::MAX).unwrap_or(usize::MAX),
            offset_metadata_max: 4096,
            offsets_retention_ms: 7 * 24 * 3_600_000,
            offsets_retention_check_ms: 600_000,
            max_batch_bytes: 1_048_588,
            codec: Codec::None,
            consumer: ConsumerSettings::default(),
            offsets_partitions: 50,
        }
    }
}

/// How long the join of a new member may wait: it has no member id yet, so it cannot send heartbeats. Kafka's
/// `group.new.member.join.timeout`, which cannot be set.
pub const NEW_MEMBER_JOIN_MS: u64 = 5 * 60 * 1000;
