//! The broker's settings, resolved: every number parsed, every default filled in, every rule checked.

use std::path::PathBuf;

use super::topic::TopicDefaults;
use super::{Values, Written};

/// Everything the broker was told at its start. Immutable; dynamic changes are laid over it (see `dynamic`).
#[derive(Clone, Debug)]
pub struct Config {
    /// `node.id`, or `broker.id` in older files.
    pub node_id: i32,
    /// `process.roles`; both when the file names none.
    pub roles: Roles,
    /// `broker.rack`.
    pub rack: Option<String>,
    /// Where clients and other nodes connect.
    pub network: Network,
    /// `log.dirs`, absolute, in the order given.
    pub log_dirs: Vec<PathBuf>,
    /// `metadata.log.dir`, or the first of `log_dirs`.
    pub metadata_log_dir: PathBuf,
    /// How topics come and go.
    pub topics: Topics,
    /// The log manager: what is not a topic's own.
    pub log: LogManager,
    /// What a topic has that sets nothing itself: the `log.*` keys by their topics' names.
    pub topic_defaults: TopicDefaults,
    /// `__consumer_offsets` and committed offsets.
    pub offsets: Offsets,
    /// The classic group protocol.
    pub groups: ClassicGroups,
    /// The consumer group protocol (KIP-848).
    pub consumer_groups: ConsumerGroups,
    /// `__transaction_state` and producers.
    pub transactions: Transactions,
    /// Replication and fetching.
    pub replication: Replication,
    /// The metadata quorum and its log.
    pub metadata: Metadata,
    /// Every key with its value.
    pub values: Values,
    /// What was written, by key, for DescribeConfigs. Secrets included.
    pub written: Hidden,
}

/// What was written, by key; prints its keys only, as values may be secrets.
#[derive(Clone, Default)]
pub struct Hidden(pub Written);

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// `process.roles`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// Serves clients.
    pub broker: bool,
    /// Votes for, or is, the active controller.
    pub controller: bool,
}

/// A security protocol of `listener.security.protocol.map`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TCP as it is.
    Plaintext,
    /// TLS.
    Ssl,
    /// TCP with a SASL handshake.
    SaslPlaintext,
    /// TLS with a SASL handshake.
    SaslSsl,
}

/// One entry of `listeners` or `advertised.listeners`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Its name in upper case, e.g. `PLAINTEXT` or `INTERNAL`.
    pub name: String,
    /// Host name or address; empty means every address. IPv6 without brackets.
    pub host: String,
    /// The port; 0 means one that the system picks.
    pub port: u16,
    /// What `listener.security.protocol.map` says of the name.
    pub protocol: Protocol,
}

/// One entry of `controller.quorum.voters`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voter {
    /// Its node id.
    pub id: i32,
    /// Host name or address.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Sockets, listeners and their limits.
#[derive(Clone, Debug)]
pub struct Network {
    /// `listeners` that serve clients and brokers: those not named in `controller.listener.names`.
    pub listeners: Vec<Listener>,
    /// `listeners` named in `controller.listener.names`.
    pub controller_listeners: Vec<Listener>,
    /// `advertised.listeners`; what `listeners` says where it is not set. The host is this machine's name where none
    /// is given. Port 0: the port that was bound.
    pub advertised: Vec<Listener>,
    /// `controller.listener.names`.
    pub controller_listener_names: Vec<String>,
    /// `inter.broker.listener.name`, or the listener of `security.inter.broker.protocol`.
    pub inter_broker_listener: String,
    /// `socket.send.buffer.bytes`; `None` (-1) leaves it to the system.
    pub send_buffer_bytes: Option<u32>,
    /// `socket.receive.buffer.bytes`; `None` (-1) leaves it to the system.
    pub receive_buffer_bytes: Option<u32>,
    /// `socket.listen.backlog.size`.
    pub backlog: u32,
    /// `socket.request.max.bytes`: the longest frame.
    pub request_max_bytes: u32,
    /// `queued.max.request.bytes`: memory for requests of all connections; `None` (-1) means a quarter of the
    /// machine's memory.
    pub queued_max_request_bytes: Option<u64>,
    /// `max.connections` of the whole broker.
    pub max_connections: u32,
    /// `max.connections.per.ip`.
    pub max_connections_per_ip: u32,
    /// `max.connections.per.ip.overrides`: host or address, limit.
    pub max_connections_per_ip_overrides: Vec<(String, u32)>,
    /// `max.connection.creation.rate`: new connections a second.
    pub max_connection_creation_rate: u32,
    /// `connections.max.idle.ms`; `None` (negative) means for ever.
    pub max_idle_ms: Option<u64>,
}

/// Making and deleting topics.
#[derive(Clone, Debug)]
pub struct Topics {
    /// `num.partitions`.
    pub num_partitions: i32,
    /// `default.replication.factor`.
    pub default_replication_factor: i16,
    /// `auto.create.topics.enable`.
    pub auto_create: bool,
    /// `delete.topic.enable`.
    pub delete_enable: bool,
    /// `max.request.partition.size.limit`: partitions in one DescribeTopicPartitions answer.
    pub max_request_partitions: i32,
}

/// The log manager's own settings.
#[derive(Clone, Debug)]
pub struct LogManager {
    /// `num.recovery.threads.per.data.dir`.
    pub recovery_threads_per_dir: u32,
    /// `log.retention.check.interval.ms`.
    pub retention_check_interval_ms: u64,
    /// `log.initial.task.delay.ms`: from the start to the first retention check.
    pub initial_task_delay_ms: u64,
    /// `log.flush.scheduler.interval.ms`.
    pub flush_scheduler_interval_ms: u64,
    /// `log.flush.offset.checkpoint.interval.ms`.
    pub recovery_point_checkpoint_interval_ms: u64,
    /// `log.flush.start.offset.checkpoint.interval.ms`.
    pub start_offset_checkpoint_interval_ms: u64,
    /// `log.cleaner.enable`.
    pub cleaner_enable: bool,
    /// `log.cleaner.threads`.
    pub cleaner_threads: u32,
    /// `log.cleaner.dedupe.buffer.size`.
    pub cleaner_key_bytes: u64,
    /// `log.cleaner.io.buffer.load.factor`, 0 to 1.
    pub cleaner_load_factor: f64,
    /// `log.cleaner.io.buffer.size`.
    pub cleaner_io_bytes: u64,
    /// `log.cleaner.io.max.bytes.per.second`.
    pub cleaner_bytes_per_second: f64,
    /// `log.cleaner.backoff.ms`.
    pub cleaner_backoff_ms: u64,
}

/// Committed offsets.
#[derive(Clone, Debug)]
pub struct Offsets {
    /// `offsets.topic.num.partitions`.
    pub num_partitions: i32,
    /// `offsets.topic.replication.factor`.
    pub replication_factor: i16,
    /// `offsets.topic.segment.bytes`.
    pub segment_bytes: i32,
    /// `offset.metadata.max.bytes`: the longest metadata string of a commit.
    pub metadata_max_bytes: i32,
    /// `offsets.retention.minutes`, in ms.
    pub retention_ms: i64,
    /// `offsets.retention.check.interval.ms`.
    pub retention_check_interval_ms: u64,
    /// `offsets.commit.timeout.ms`.
    pub commit_timeout_ms: u64,
    /// `offsets.load.buffer.size`: bytes read at once while loading.
    pub load_buffer_bytes: i32,
    /// `offsets.topic.compression.codec`: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
    pub compression_codec: i8,
}

/// The classic group protocol.
#[derive(Clone, Debug)]
pub struct ClassicGroups {
    /// `group.min.session.timeout.ms`.
    pub min_session_timeout_ms: i32,
    /// `group.max.session.timeout.ms`.
    pub max_session_timeout_ms: i32,
    /// `group.initial.rebalance.delay.ms`.
    pub initial_rebalance_delay_ms: i32,
    /// `group.max.size`: members of one group.
    pub max_size: i32,
}

/// The consumer group protocol (KIP-848); groups may override some (see `GroupConfig`).
#[derive(Clone, Debug)]
pub struct ConsumerGroups {
    /// `group.coordinator.rebalance.protocols` names it.
    pub enabled: bool,
    /// `group.consumer.session.timeout.ms`.
    pub session_timeout_ms: i32,
    /// `group.consumer.min.session.timeout.ms`.
    pub min_session_timeout_ms: i32,
    /// `group.consumer.max.session.timeout.ms`.
    pub max_session_timeout_ms: i32,
    /// `group.consumer.heartbeat.interval.ms`.
    pub heartbeat_interval_ms: i32,
    /// `group.consumer.min.heartbeat.interval.ms`.
    pub min_heartbeat_interval_ms: i32,
    /// `group.consumer.max.heartbeat.interval.ms`.
    pub max_heartbeat_interval_ms: i32,
    /// `group.consumer.max.size`.
    pub max_size: i32,
    /// `group.consumer.assignors`, the default first.
    pub assignors: Vec<String>,
    /// `group.consumer.assignment.interval.ms`.
    pub assignment_interval_ms: i32,
    /// `group.consumer.regex.refresh.interval.ms`.
    pub regex_refresh_interval_ms: i32,
    /// `group.consumer.migration.policy`, in lower case.
    pub migration_policy: String,
}

/// Transactions and idempotent producers.
#[derive(Clone, Debug)]
pub struct Transactions {
    /// `transaction.state.log.num.partitions`.
    pub num_partitions: i32,
    /// `transaction.state.log.replication.factor`.
    pub replication_factor: i16,
    /// `transaction.state.log.min.isr`.
    pub min_isr: i32,
    /// `transaction.state.log.segment.bytes`.
    pub segment_bytes: i32,
    /// `transaction.max.timeout.ms`.
    pub max_timeout_ms: i32,
    /// `transactional.id.expiration.ms`.
    pub transactional_id_expiration_ms: i32,
    /// `transaction.remove.expired.transaction.cleanup.interval.ms`.
    pub remove_expired_interval_ms: u64,
    /// `transaction.partition.verification.enable`.
    pub partition_verification: bool,
    /// `transaction.two.phase.commit.enable`.
    pub two_phase_commit: bool,
    /// `producer.id.expiration.ms`.
    pub producer_id_expiration_ms: i32,
    /// `producer.id.expiration.check.interval.ms`.
    pub producer_id_expiration_check_interval_ms: u64,
}

/// Replication, fetching, and this broker's place in the cluster.
#[derive(Clone, Debug)]
pub struct Replication {
    /// `fetch.max.bytes`: the most one Fetch answer carries.
    pub fetch_max_bytes: i32,
    /// `max.incremental.fetch.session.cache.slots`.
    pub fetch_session_slots: u32,
    /// `replica.lag.time.max.ms`.
    pub lag_time_max_ms: u64,
    /// `replica.fetch.max.bytes`.
    pub replica_fetch_max_bytes: i32,
    /// `replica.fetch.wait.max.ms`.
    pub replica_fetch_wait_max_ms: i32,
    /// `replica.fetch.min.bytes`.
    pub replica_fetch_min_bytes: i32,
    /// `replica.fetch.response.max.bytes`.
    pub replica_fetch_response_max_bytes: i32,
    /// `replica.socket.timeout.ms`.
    pub replica_socket_timeout_ms: u64,
    /// `num.replica.fetchers`.
    pub fetchers: usize,
    /// `replica.fetch.backoff.ms`.
    pub replica_fetch_backoff_ms: u64,
    /// `replica.high.watermark.checkpoint.interval.ms`.
    pub high_watermark_checkpoint_interval_ms: u64,
    /// `controlled.shutdown.enable`.
    pub controlled_shutdown: bool,
    /// `broker.heartbeat.interval.ms`.
    pub heartbeat_interval_ms: u64,
    /// `broker.session.timeout.ms`.
    pub session_timeout_ms: u64,
    /// `broker.disconnect.grace.ms`; `None` (-1) leaves it to the session's timeout.
    pub disconnect_grace_ms: Option<u64>,
    /// `initial.broker.registration.timeout.ms`.
    pub registration_timeout_ms: u64,
    /// `request.timeout.ms`.
    pub request_timeout_ms: u64,
    /// `auto.leader.rebalance.enable`.
    pub auto_leader_rebalance: bool,
    /// `leader.imbalance.check.interval.seconds`, in ms.
    pub leader_imbalance_check_interval_ms: u64,
}

/// The metadata quorum and its log.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// `controller.quorum.voters`.
    pub voters: Vec<Voter>,
    /// `controller.quorum.bootstrap.servers`, as written (`host:port`).
    pub bootstrap_servers: Vec<String>,
    /// `controller.quorum.fetch.timeout.ms`.
    pub fetch_timeout_ms: u64,
    /// `metadata.log.segment.bytes`.
    pub segment_bytes: i32,
    /// `metadata.log.segment.ms`.
    pub segment_ms: i64,
    /// `metadata.max.retention.bytes`.
    pub max_retention_bytes: i64,
    /// `metadata.max.retention.ms`.
    pub max_retention_ms: i64,
    /// `metadata.log.max.record.bytes.between.snapshots`.
    pub max_record_bytes_between_snapshots: i64,
    /// `metadata.log.max.snapshot.interval.ms`; `None` (0) means no limit.
    pub max_snapshot_interval_ms: Option<u64>,
    /// `metadata.max.idle.interval.ms`: how often an idle controller writes a no-op; `None` (0) means never.
    pub max_idle_interval_ms: Option<u64>,
}
