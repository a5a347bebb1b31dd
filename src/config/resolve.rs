//! Values to the typed [`Config`], with Kafka's checks across keys.

use std::path::{Path, PathBuf};

use super::Written;
use super::broker::{
    ClassicGroups, Config, ConsumerGroups, Hidden, LogManager, Metadata, Network, Offsets, Replication,
    Roles, Topics, Transactions, Voter,
};
use super::definition::Value;
use super::error::Problem;
use super::listeners::{self, Endpoints};
use super::topic::TopicDefaults;
use super::values::Values;
use super::{check, definition};

/// Resolves everything.
pub(super) fn config(mut values: Values, mut written: Written) -> Result<Config, Problem> {
    let node_id = node_id(&mut values, &mut written)?;
    // A file of the days before KRaft (or none) means one node that is everything.
    let old_file = !values.is_set("process.roles");
    let roles = roles(&mut values, &mut written, old_file)?;
    if written.contains_key("inter.broker.listener.name")
        && written.contains_key("security.inter.broker.protocol")
    {
        return Err(Problem::Conflict(
            "Only one of inter.broker.listener.name and security.inter.broker.protocol should be set."
                .to_owned(),
        ));
    }
    let metadata = metadata(&values, roles, node_id, old_file)?;
    let endpoints = listeners::resolve(&values, roles, old_file)?;
    check::across(&values)?;
    let log_dirs = log_dirs(&values)?;
    let metadata_log_dir = match (values.optional_text("metadata.log.dir")?, log_dirs.first()) {
        (Some(dir), _) if !dir.is_empty() => absolute(dir),
        (_, Some(first)) => first.clone(),
        _ => return Err(Problem::Missing("log.dirs")),
    };
    Ok(Config {
        node_id,
        roles,
        rack: values.optional_text("broker.rack")?.map(str::to_owned),
        network: network(&values, endpoints)?,
        log_dirs,
        metadata_log_dir,
        topics: topics(&values)?,
        log: log_manager(&values)?,
        topic_defaults: TopicDefaults::of_broker(&values)?,
        offsets: offsets(&values)?,
        groups: classic_groups(&values)?,
        consumer_groups: consumer_groups(&values)?,
        transactions: transactions(&values)?,
        replication: replication(&values)?,
        metadata,
        values,
        written: Hidden(written),
    })
}

/// The checks across keys once more, for values that changed since the start.
pub(super) fn again(values: &Values) -> Result<(), Problem> {
    check::across(values)?;
    check::per_ip(values.text("max.connections.per.ip.overrides")?)?;
    Ok(())
}

/// `node.id` and `broker.id` say the same; each fills in for the other, as DescribeConfigs shows.
fn node_id(values: &mut Values, written: &mut Written) -> Result<i32, Problem> {
    let node: Option<i32> = if values.is_set("node.id") { Some(values.number("node.id")?) } else { None };
    let broker: i32 = values.number("broker.id")?;
    let id = match (node, broker) {
        (Some(id), -1) => id,
        (Some(id), broker) if id == broker => id,
        (Some(_), _) => {
            return Err(Problem::Conflict(
                "`node.id` and `broker.id` must be set to the same value. `broker.id` is deprecated, please use \
                 `node.id` instead."
                    .to_owned(),
            ));
        }
        (None, id) if id >= 0 => id,
        (None, -1) => return Err(Problem::Missing("node.id")),
        (None, id) => return Err(Problem::Conflict(format!("broker.id={id}: Value must be at least 0"))),
    };
    for key in ["node.id", "broker.id"] {
        values.set(key, Value::Integer(id.into()));
        written.entry(key.to_owned()).or_insert_with(|| id.to_string());
    }
    Ok(id)
}

fn roles(values: &mut Values, written: &mut Written, old_file: bool) -> Result<Roles, Problem> {
    if old_file {
        let both = vec!["broker".to_owned(), "controller".to_owned()];
        written.insert("process.roles".to_owned(), both.join(","));
        values.set("process.roles", Value::List(both));
    } else if !values.is_set("controller.listener.names") {
        return Err(Problem::Missing("controller.listener.names"));
    }
    let named = values.list("process.roles")?;
    let has = |role: &str| named.iter().any(|name| name == role);
    Ok(Roles { broker: has("broker"), controller: has("controller") })
}

fn metadata(values: &Values, roles: Roles, node_id: i32, old_file: bool) -> Result<Metadata, Problem> {
    let mut voters = Vec::new();
    for text in values.list("controller.quorum.voters")? {
        if let Some((id, host, port)) = definition::voter(text) {
            voters.push(Voter { id, host: host.to_owned(), port });
        }
    }
    let bootstrap_servers = values.list("controller.quorum.bootstrap.servers")?.to_vec();
    check::quorum(roles, node_id, &voters, old_file || !bootstrap_servers.is_empty())?;
    let positive =
        |key| -> Result<Option<u64>, Problem> { Ok(values.limit(key)?.filter(|millis| *millis > 0)) };
    Ok(Metadata {
        voters,
        bootstrap_servers,
        fetch_timeout_ms: values.number("controller.quorum.fetch.timeout.ms")?,
        segment_bytes: values.number("metadata.log.segment.bytes")?,
        segment_ms: values.number("metadata.log.segment.ms")?,
        max_retention_bytes: values.number("metadata.max.retention.bytes")?,
        max_retention_ms: values.number("metadata.max.retention.ms")?,
        max_record_bytes_between_snapshots: values
            .number("metadata.log.max.record.bytes.between.snapshots")?,
        max_snapshot_interval_ms: positive("metadata.log.max.snapshot.interval.ms")?,
        max_idle_interval_ms: positive("metadata.max.idle.interval.ms")?,
    })
}

fn log_dirs(values: &Values) -> Result<Vec<PathBuf>, Problem> {
    let key = if values.is_set("log.dirs") { "log.dirs" } else { "log.dir" };
    let mut dirs: Vec<PathBuf> = Vec::new();
    for dir in values.list(key)? {
        let dir = absolute(dir);
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    Ok(dirs)
}

fn absolute(dir: &str) -> PathBuf {
    std::path::absolute(dir).unwrap_or_else(|_| Path::new(dir).to_owned())
}

fn network(values: &Values, endpoints: Endpoints) -> Result<Network, Problem> {
    let some = |key| -> Result<Option<u32>, Problem> { Ok(values.limit(key)?.filter(|bytes| *bytes > 0)) };
    Ok(Network {
        listeners: endpoints.listeners,
        controller_listeners: endpoints.controller_listeners,
        advertised: endpoints.advertised,
        controller_listener_names: endpoints.controller_names,
        inter_broker_listener: endpoints.inter_broker,
        send_buffer_bytes: some("socket.send.buffer.bytes")?,
        receive_buffer_bytes: some("socket.receive.buffer.bytes")?,
        backlog: values.number("socket.listen.backlog.size")?,
        request_max_bytes: values.number("socket.request.max.bytes")?,
        queued_max_request_bytes: values.limit("queued.max.request.bytes")?.filter(|bytes| *bytes > 0),
        max_connections: values.number("max.connections")?,
        max_connections_per_ip: values.number("max.connections.per.ip")?,
        max_connections_per_ip_overrides: check::per_ip(values.text("max.connections.per.ip.overrides")?)?,
        max_connection_creation_rate: values.number("max.connection.creation.rate")?,
        max_idle_ms: values.limit("connections.max.idle.ms")?,
    })
}

fn topics(values: &Values) -> Result<Topics, Problem> {
    Ok(Topics {
        num_partitions: values.number("num.partitions")?,
        default_replication_factor: values.number("default.replication.factor")?,
        auto_create: values.flag("auto.create.topics.enable")?,
        delete_enable: values.flag("delete.topic.enable")?,
        max_request_partitions: values.number("max.request.partition.size.limit")?,
    })
}

fn log_manager(values: &Values) -> Result<LogManager, Problem> {
    Ok(LogManager {
        recovery_threads_per_dir: values.number("num.recovery.threads.per.data.dir")?,
        retention_check_interval_ms: values.millis("log.retention.check.interval.ms")?,
        initial_task_delay_ms: values.millis("log.initial.task.delay.ms")?,
        flush_scheduler_interval_ms: values.millis("log.flush.scheduler.interval.ms")?,
        recovery_point_checkpoint_interval_ms: values.millis("log.flush.offset.checkpoint.interval.ms")?,
        start_offset_checkpoint_interval_ms: values
            .millis("log.flush.start.offset.checkpoint.interval.ms")?,
        cleaner_enable: values.flag("log.cleaner.enable")?,
        cleaner_threads: values.number("log.cleaner.threads")?,
        cleaner_key_bytes: values.number("log.cleaner.dedupe.buffer.size")?,
        cleaner_load_factor: values.share("log.cleaner.io.buffer.load.factor")?,
        cleaner_io_bytes: values.number("log.cleaner.io.buffer.size")?,
        cleaner_bytes_per_second: values.share("log.cleaner.io.max.bytes.per.second")?,
        cleaner_backoff_ms: values.millis("log.cleaner.backoff.ms")?,
    })
}

fn offsets(values: &Values) -> Result<Offsets, Problem> {
    let minutes: i64 = values.number("offsets.retention.minutes")?;
    Ok(Offsets {
        num_partitions: values.number("offsets.topic.num.partitions")?,
        replication_factor: values.number("offsets.topic.replication.factor")?,
        segment_bytes: values.number("offsets.topic.segment.bytes")?,
        metadata_max_bytes: values.number("offset.metadata.max.bytes")?,
        retention_ms: minutes.saturating_mul(60_000),
        retention_check_interval_ms: values.millis("offsets.retention.check.interval.ms")?,
        commit_timeout_ms: values.millis("offsets.commit.timeout.ms")?,
        load_buffer_bytes: values.number("offsets.load.buffer.size")?,
        compression_codec: values.number("offsets.topic.compression.codec")?,
    })
}

fn classic_groups(values: &Values) -> Result<ClassicGroups, Problem> {
    Ok(ClassicGroups {
        min_session_timeout_ms: values.number("group.min.session.timeout.ms")?,
        max_session_timeout_ms: values.number("group.max.session.timeout.ms")?,
        initial_rebalance_delay_ms: values.number("group.initial.rebalance.delay.ms")?,
        max_size: values.number("group.max.size")?,
    })
}

fn consumer_groups(values: &Values) -> Result<ConsumerGroups, Problem> {
    let protocols = values.list("group.coordinator.rebalance.protocols")?;
    Ok(ConsumerGroups {
        enabled: protocols.iter().any(|name| name == "consumer"),
        session_timeout_ms: values.number("group.consumer.session.timeout.ms")?,
        min_session_timeout_ms: values.number("group.consumer.min.session.timeout.ms")?,
        max_session_timeout_ms: values.number("group.consumer.max.session.timeout.ms")?,
        heartbeat_interval_ms: values.number("group.consumer.heartbeat.interval.ms")?,
        min_heartbeat_interval_ms: values.number("group.consumer.min.heartbeat.interval.ms")?,
        max_heartbeat_interval_ms: values.number("group.consumer.max.heartbeat.interval.ms")?,
        max_size: values.number("group.consumer.max.size")?,
        assignors: values.list("group.consumer.assignors")?.to_vec(),
        assignment_interval_ms: values.number("group.consumer.assignment.interval.ms")?,
        regex_refresh_interval_ms: values.number("group.consumer.regex.refresh.interval.ms")?,
        migration_policy: values.text("group.consumer.migration.policy")?.to_ascii_lowercase(),
    })
}

fn transactions(values: &Values) -> Result<Transactions, Problem> {
    Ok(Transactions {
        num_partitions: values.number("transaction.state.log.num.partitions")?,
        replication_factor: values.number("transaction.state.log.replication.factor")?,
        min_isr: values.number("transaction.state.log.min.isr")?,
        segment_bytes: values.number("transaction.state.log.segment.bytes")?,
        max_timeout_ms: values.number("transaction.max.timeout.ms")?,
        transactional_id_expiration_ms: values.number("transactional.id.expiration.ms")?,
        remove_expired_interval_ms: values
            .millis("transaction.remove.expired.transaction.cleanup.interval.ms")?,
        partition_verification: values.flag("transaction.partition.verification.enable")?,
        two_phase_commit: values.flag("transaction.two.phase.commit.enable")?,
        producer_id_expiration_ms: values.number("producer.id.expiration.ms")?,
        producer_id_expiration_check_interval_ms: values
            .millis("producer.id.expiration.check.interval.ms")?,
    })
}

fn replication(values: &Values) -> Result<Replication, Problem> {
    Ok(Replication {
        fetch_max_bytes: values.number("fetch.max.bytes")?,
        fetch_session_slots: values.number("max.incremental.fetch.session.cache.slots")?,
        lag_time_max_ms: values.millis("replica.lag.time.max.ms")?,
        replica_fetch_max_bytes: values.number("replica.fetch.max.bytes")?,
        replica_fetch_wait_max_ms: values.number("replica.fetch.wait.max.ms")?,
        replica_fetch_min_bytes: values.number("replica.fetch.min.bytes")?,
        replica_fetch_response_max_bytes: values.number("replica.fetch.response.max.bytes")?,
        replica_socket_timeout_ms: values.millis("replica.socket.timeout.ms")?,
        fetchers: values.number("num.replica.fetchers")?,
        replica_fetch_backoff_ms: values.millis("replica.fetch.backoff.ms")?,
        high_watermark_checkpoint_interval_ms: values
            .millis("replica.high.watermark.checkpoint.interval.ms")?,
        controlled_shutdown: values.flag("controlled.shutdown.enable")?,
        heartbeat_interval_ms: values.millis("broker.heartbeat.interval.ms")?,
        session_timeout_ms: values.millis("broker.session.timeout.ms")?,
        disconnect_grace_ms: values.limit("broker.disconnect.grace.ms")?,
        registration_timeout_ms: values.millis("initial.broker.registration.timeout.ms")?,
        request_timeout_ms: values.millis("request.timeout.ms")?,
        auto_leader_rebalance: values.flag("auto.leader.rebalance.enable")?,
        leader_imbalance_check_interval_ms: values
            .millis("leader.imbalance.check.interval.seconds")?
            .saturating_mul(1000),
    })
}
