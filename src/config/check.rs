//! Values that must go together, as Kafka checks them.

use super::broker::{Roles, Voter};
use super::error::Problem;
use super::values::Values;

fn require(holds: bool, sentence: &str) -> Result<(), Problem> {
    if holds { Ok(()) } else { Err(Problem::Conflict(sentence.to_owned())) }
}

/// Every rule over more than one key of the broker.
pub(super) fn across(values: &Values) -> Result<(), Problem> {
    let number = |key| values.number::<i64>(key);
    let queued = number("queued.max.request.bytes")?;
    require(
        queued <= 0 || queued >= number("socket.request.max.bytes")?,
        "queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
    )?;
    require(
        number("max.connections.per.ip")? > 0 || !values.text("max.connections.per.ip.overrides")?.is_empty(),
        "max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides property is set.",
    )?;
    let wait = number("replica.fetch.wait.max.ms")?;
    require(
        wait <= number("replica.socket.timeout.ms")?,
        "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to prevent unnecessary socket \
         timeouts",
    )?;
    require(
        wait <= number("replica.lag.time.max.ms")?,
        "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms to prevent frequent \
         changes in ISR",
    )?;
    let threads = number("log.cleaner.threads")?.max(1);
    require(
        number("log.cleaner.dedupe.buffer.size")?.checked_div(threads) > Some(1024 * 1024),
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
    )?;
    let codec = number("offsets.topic.compression.codec")?;
    require((0..=4).contains(&codec), &format!("Unknown compression type id: {codec}"))?;
    require(
        values.list("group.coordinator.rebalance.protocols")?.iter().any(|name| name == "classic"),
        "Disabling the 'classic' protocol is not supported.",
    )?;
    log_times(values)?;
    for kind in ["consumer", "share", "streams"] {
        group_times(values, kind)?;
    }
    Ok(())
}

/// How long records are kept and segments are filled, from the strongest key that is set.
pub(super) fn log_times(values: &Values) -> Result<LogTimes, Problem> {
    let times = LogTimes {
        roll_ms: first(values, &[("log.roll.ms", 1), ("log.roll.hours", HOUR)])?,
        roll_jitter_ms: first(values, &[("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", HOUR)])?,
        retention_ms: first(
            values,
            &[("log.retention.ms", 1), ("log.retention.minutes", 60_000), ("log.retention.hours", HOUR)],
        )?,
        flush_ms: first(values, &[("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)])?,
    };
    require(times.roll_ms >= 1, "log.roll.ms must be greater than or equal to 1")?;
    require(times.roll_jitter_ms >= 0, "log.roll.jitter.ms must be greater than or equal to 0")?;
    require(
        times.retention_ms != 0,
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
    )?;
    Ok(LogTimes { retention_ms: times.retention_ms.max(-1), ..times })
}

const HOUR: i64 = 3_600_000;

/// Times that several keys tell, in ms.
pub(super) struct LogTimes {
    pub roll_ms: i64,
    pub roll_jitter_ms: i64,
    pub retention_ms: i64,
    pub flush_ms: i64,
}

fn first(values: &Values, keys: &[(&'static str, i64)]) -> Result<i64, Problem> {
    for (key, unit) in keys {
        if values.is_set(key) {
            return Ok(values.number::<i64>(key)?.saturating_mul(*unit));
        }
    }
    Ok(0)
}

/// Bounds and defaults of one group protocol's times.
fn group_times(values: &Values, kind: &str) -> Result<(), Problem> {
    let number = |what: &str| {
        let name = format!("group.{kind}.{what}");
        let key = super::definition::broker_key(&name).map(|key| key.name);
        let value = values.number::<i64>(key.unwrap_or("group.?"))?;
        Ok::<_, Problem>((name, value))
    };
    let at_least = |high: &(String, i64), low: &(String, i64)| {
        require(high.1 >= low.1, &format!("{} must be greater than or equal to {}", high.0, low.0))
    };
    let at_most = |low: &(String, i64), high: &(String, i64)| {
        require(low.1 <= high.1, &format!("{} must be less than or equal to {}", low.0, high.0))
    };
    for what in ["heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms"] {
        let (min, max) = (number(&format!("min.{what}"))?, number(&format!("max.{what}"))?);
        let value = number(what)?;
        at_least(&max, &min)?;
        at_least(&value, &min)?;
        at_most(&value, &max)?;
    }
    let (heartbeat, session) = (number("heartbeat.interval.ms")?, number("session.timeout.ms")?);
    require(heartbeat.1 < session.1, &format!("{} must be less than {}", heartbeat.0, session.0))
}

/// `max.connections.per.ip.overrides`: host:limit, separated by commas.
pub(super) fn per_ip(text: &str) -> Result<Vec<(String, u32)>, Problem> {
    let mut overrides = Vec::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let parsed =
            pair.rsplit_once(':').and_then(|(host, limit)| Some((host.trim(), limit.trim().parse().ok()?)));
        let Some((host, limit)) = parsed else {
            return Err(Problem::Conflict(format!(
                "max.connections.per.ip.overrides: expected host:limit, separated by commas, not {pair}"
            )));
        };
        overrides.push((host.to_owned(), limit));
    }
    Ok(overrides)
}

/// The quorum must know this node if it is a controller, and only then.
pub(super) fn quorum(
    roles: Roles,
    node_id: i32,
    voters: &[Voter],
    others_known: bool,
) -> Result<(), Problem> {
    let ids: Vec<String> = voters.iter().map(|voter| voter.id.to_string()).collect();
    let ids = ids.join(",");
    let among = voters.iter().any(|voter| voter.id == node_id);
    require(
        others_known || !voters.is_empty(),
        "If using process.roles, either controller.quorum.bootstrap.servers must contain the set of bootstrap \
         controllers or controller.quorum.voters must contain a parseable set of controllers.",
    )?;
    if !voters.is_empty() {
        require(
            !roles.controller || among,
            &format!(
                "If process.roles contains the 'controller' role, the node id {node_id} must be included in the set \
                 of voters controller.quorum.voters=Set({ids})"
            ),
        )?;
    }
    if roles.broker && !roles.controller {
        require(
            !among,
            &format!(
                "If process.roles contains just the 'broker' role, the node id {node_id} must not be included in the \
                 set of voters controller.quorum.voters=Set({ids})"
            ),
        )?;
    }
    Ok(())
}
