//! Keys that Kafka 4.4 does not define, but that people's files have: those of older Kafkas, and those that belong
//! to plug-ins.

/// What becomes of such a key.
pub(super) enum Fate {
    /// Accepted; there is nothing it could apply to any more.
    NoMeaning,
    /// It guards something.
    Protective,
    /// Accepted with this remark.
    Warning(&'static str),
}

/// What becomes of a key outside the table; none if nobody knows it.
pub(super) fn fate(name: &str) -> Option<Fate> {
    match name {
        "zookeeper.connect" => Some(Fate::Warning(
            "there is no ZooKeeper any more; this broker keeps its metadata itself, as one combined node, and reads \
             nothing from there",
        )),
        "allow.everyone.if.no.acl.found"
        | "super.users"
        | "zookeeper.set.acl"
        | "delegation.token.master.key" => Some(Fate::Protective),
        "port" | "host.name" => Some(Fate::Warning("not used since Kafka 3; set listeners instead")),
        "advertised.port" | "advertised.host.name" => {
            Some(Fate::Warning("not used since Kafka 3; set advertised.listeners instead"))
        }
        "log.message.timestamp.difference.max.ms" => Some(Fate::Warning(
            "not used since Kafka 4; set log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms",
        )),
        "log.message.format.version" | "inter.broker.protocol.version" => {
            Some(Fate::Warning("not used since Kafka 4; the metadata version decides"))
        }
        "control.plane.listener.name"
        | "broker.id.generation.enable"
        | "reserved.broker.max.id"
        | "leader.imbalance.per.broker.percentage"
        | "controlled.shutdown.max.retries"
        | "controlled.shutdown.retry.backoff.ms"
        | "auto.include.jmx.reporter"
        | "num.replica.alter.log.threads"
        | "offsets.commit.required.acks"
        | "group.coordinator.new.enable"
        | "alter.config.policy.kraft.compatibility.enable"
        | "log.dir.failure.timeout"
        | "controller.quota.window"
        | "eligible.leader.replicas.enable" => Some(Fate::NoMeaning),
        _ if name.starts_with("zookeeper.ssl.") => Some(Fate::Protective),
        _ if name.starts_with("zookeeper.") || name.starts_with("password.encoder.") => Some(Fate::NoMeaning),
        _ => None,
    }
}
