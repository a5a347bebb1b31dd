use std::path::Path;

use super::*;
use crate::config::Protocol;

fn load(text: &str) -> Result<(Config, Notes), ConfigError> {
    Config::load(&Properties::parse(Path::new("server.properties"), text.as_bytes()).unwrap())
}

fn problem(text: &str) -> String {
    load(text).expect_err(text).to_string()
}

/// A minimal file of KRaft times, with more lines after it.
fn kraft(more: &str) -> String {
    format!(
        "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@localhost:9093\n\
         listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093\ncontroller.listener.names=CONTROLLER\n\
         log.dirs=/tmp/x\n{more}\n"
    )
}

const EARLY: &str = "# Licensed to whom it may concern – Größe, 大きさ\n\
    broker.id=0   \n\
    # Switch to enable topic deletion\n\
    delete.topic.enable=true \n\
    num.network.threads=3\nnum.io.threads=8\t\n\
    socket.send.buffer.bytes=102400\nsocket.receive.buffer.bytes=102400\nsocket.request.max.bytes=104857600\n\
    log.dirs=/var/early/logs \n\
    num.partitions=1\nnum.recovery.threads.per.data.dir=1\nlog.retention.hours=168\n\
    zookeeper.connect=a:2181,b:2181  \n";

#[test]
fn a_file_of_the_early_days_starts_and_holds() {
    let (config, notes) = load(EARLY).unwrap();
    assert_eq!(config.node_id, 0);
    assert!(config.roles.broker && config.roles.controller, "broker.id alone is one combined node");
    assert!(config.topics.delete_enable);
    assert_eq!(config.network.send_buffer_bytes, Some(102_400));
    assert_eq!(config.network.receive_buffer_bytes, Some(102_400));
    assert_eq!(config.network.request_max_bytes, 104_857_600);
    assert_eq!(config.log_dirs, [Path::new("/var/early/logs")]);
    assert_eq!(config.metadata_log_dir, Path::new("/var/early/logs"));
    assert_eq!(config.topics.num_partitions, 1);
    assert_eq!(config.log.recovery_threads_per_dir, 1);
    assert_eq!(config.topic_defaults.config().retention_ms, 168 * 3_600_000);
    assert_eq!(config.offsets.replication_factor, 3, "a user's file keeps Kafka's defaults");
    let listener = &config.network.listeners[0];
    assert_eq!((listener.name.as_str(), listener.host.as_str(), listener.port), ("PLAINTEXT", "", 9092));
    let advertised = &config.network.advertised[0];
    assert!(!advertised.host.is_empty(), "clients are told a host");
    assert_eq!(advertised.port, 9092);
    assert_eq!(notes.warnings.len(), 1);
    assert!(notes.warnings[0].contains("line 14: zookeeper.connect: there is no ZooKeeper any more"));
    assert_eq!(notes.infos.len(), 1, "one line for all keys without meaning");
    assert!(notes.infos[0].ends_with("num.io.threads, num.network.threads"));
}

#[test]
fn what_an_early_file_says_is_obeyed() {
    let changed = EARLY.replace("delete.topic.enable=true", "delete.topic.enable=false");
    assert!(!load(&changed).unwrap().0.topics.delete_enable);
    let changed = EARLY.replace("log.retention.hours=168", "log.retention.hours=1\nlog.retention.minutes=2");
    assert_eq!(load(&changed).unwrap().0.topic_defaults.config().retention_ms, 120_000);
}

#[test]
fn without_a_file_it_is_a_node_for_development() {
    let (config, notes) = Config::load(&development("./data")).unwrap();
    assert_eq!(notes, Notes::default());
    assert!(config.log_dirs[0].is_absolute() && config.log_dirs[0].ends_with("data"));
    assert_eq!(config.offsets.replication_factor, 1);
    assert_eq!(config.transactions.min_isr, 1);
    assert_eq!(config.network.listeners[0].host, "localhost");
    assert_eq!(config.network.advertised, config.network.listeners);
    assert_eq!(config.network.queued_max_request_bytes, None);
}

#[test]
fn a_bad_value_names_file_line_key_value_and_what_was_expected() {
    assert_eq!(
        problem("node.id=1\nnum.partitions=many"),
        "server.properties, line 2: num.partitions: Invalid value many for configuration num.partitions: \
         Not a number of type INT"
    );
    let both = problem("node.id=-1\nnum.partitions=0");
    assert_eq!(both.lines().count(), 2, "every problem is told: {both}");
}

#[test]
fn unknown_keys_are_warned_of_with_the_nearest_name() {
    let (_, notes) = load("node.id=1\nnum.partition=4\nsome.plugin.setting=1").unwrap();
    assert_eq!(
        notes.warnings,
        [
            "server.properties, line 2: unknown setting num.partition; did you mean num.partitions?",
            "server.properties, line 3: unknown setting some.plugin.setting"
        ]
    );
}

#[test]
fn keys_that_protect_stop_the_start() {
    for line in [
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "ssl.keystore.location=/etc/key.jks",
        "sasl.enabled.mechanisms=PLAIN",
        "allow.everyone.if.no.acl.found=false",
        "super.users=User:admin",
        "listener.name.outside.ssl.client.auth=required",
        "listener.name.outside.plain.sasl.jaas.config=secret",
        "security.inter.broker.protocol=SSL",
    ] {
        let text = problem(&format!("node.id=1\n{line}"));
        assert!(text.contains("does not start"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    assert!(
        load("node.id=1\nauthorizer.class.name=\nssl.client.auth=none").is_ok(),
        "defaults protect nothing"
    );
    let text = problem("node.id=1\nlisteners=SSL://:9092\ninter.broker.listener.name=SSL");
    assert!(text.contains("SSL listeners are not supported yet"), "{text}");
}

#[test]
fn passwords_are_not_shown() {
    let (config, _) = load("node.id=1").unwrap();
    let shown = format!("{config:?}");
    assert!(shown.contains("node.id"));
    let text = problem("node.id=1\nssl.key.password=hush");
    assert!(!text.contains("hush"));
}

#[test]
fn settings_without_effect_yet_are_told_in_one_line() {
    let (_, notes) = load(
        "node.id=1\nlog.remote.copy.lag.ms=3\nremote.log.reader.threads=5\nlog.cleaner.backoff.ms=15000",
    )
    .unwrap();
    assert_eq!(
        notes.warnings,
        ["settings without effect yet: log.remote.copy.lag.ms, remote.log.reader.threads"]
    );
}

#[test]
fn several_listeners() {
    let (config, _) = load(&kraft(
        "listeners=INSIDE://10.0.0.1:9092,out://:9094,CONTROLLER://:9093\n\
         advertised.listeners=OUT://kafka.example:19094,INSIDE://10.0.0.1:9092\n\
         listener.security.protocol.map=INSIDE:PLAINTEXT,OUT:PLAINTEXT,CONTROLLER:PLAINTEXT\n\
         inter.broker.listener.name=INSIDE",
    ))
    .unwrap();
    let names = |listeners: &[crate::config::Listener]| -> Vec<String> {
        listeners.iter().map(|l| format!("{}/{}:{}", l.name, l.host, l.port)).collect()
    };
    assert_eq!(names(&config.network.listeners), ["INSIDE/10.0.0.1:9092", "OUT/:9094"]);
    assert_eq!(names(&config.network.advertised), ["OUT/kafka.example:19094", "INSIDE/10.0.0.1:9092"]);
    assert_eq!(names(&config.network.controller_listeners), ["CONTROLLER/:9093"]);
    assert_eq!(config.network.inter_broker_listener, "INSIDE");
    assert_eq!(config.network.listeners[1].protocol, Protocol::Plaintext);
}

#[test]
fn settings_that_do_not_go_together_are_refused_as_by_kafka() {
    for (more, expected) in [
        (
            "listeners=PLAINTEXT://:9092,PLAINTEXT://:9094,CONTROLLER://:9093",
            "Each listener must have a different name",
        ),
        ("listeners=PLAINTEXT://:9092,CONTROLLER://:9092", "Each listener must have a different port"),
        ("listeners=PLAINTEXT://0.0.0.0:9092,CONTROLLER://:9093", "nonroutable meta-address 0.0.0.0"),
        ("advertised.listeners=FOO://h:9092", "No security protocol defined for listener FOO"),
        (
            "listeners=PLAINTEXT:9092,CONTROLLER://:9093",
            "Unable to parse PLAINTEXT:9092 to a broker endpoint",
        ),
        ("listeners=PLAINTEXT://:9092", "controller.listener.names must contain at least one value"),
        ("listeners=CONTROLLER://:9093", "There must be at least one broker advertised listener"),
        ("controller.quorum.voters=2@localhost:9093", "the node id 1 must be included in the set of voters"),
        ("controller.quorum.voters=x", "Each entry should be in the form `{id}@{host}:{port}`"),
        ("broker.id=2", "`node.id` and `broker.id` must be set to the same value"),
        ("queued.max.request.bytes=100", "must be larger or equal to socket.request.max.bytes"),
        ("log.roll.ms=0", "log.roll.ms must be greater than or equal to 1"),
        ("log.retention.hours=0", "log.retention.ms must be unlimited (-1) or, greater than or equal to 1"),
        ("max.connections.per.ip=0", "can be set to zero only if"),
        ("max.connections.per.ip.overrides=a:b", "expected host:limit"),
        ("replica.fetch.wait.max.ms=40000", "replica.socket.timeout.ms should always be at least"),
        (
            "group.consumer.session.timeout.ms=1",
            "must be greater than or equal to group.consumer.min.session.timeout.ms",
        ),
        (
            "group.consumer.heartbeat.interval.ms=45000\ngroup.consumer.max.heartbeat.interval.ms=50000",
            "group.consumer.heartbeat.interval.ms must be less than group.consumer.session.timeout.ms",
        ),
        (
            "group.coordinator.rebalance.protocols=consumer",
            "Disabling the 'classic' protocol is not supported",
        ),
        ("inter.broker.listener.name=PLAINTEXT\nsecurity.inter.broker.protocol=PLAINTEXT", "Only one of"),
        ("log.dirs=", "Configuration 'log.dirs' must not be empty"),
        ("process.roles=broker", "the node id 1 must not be included in the set of voters"),
        (
            "process.roles=broker\ncontroller.quorum.voters=2@localhost:9093",
            "must not contain a value appearing in the 'listeners' configuration",
        ),
        (
            "process.roles=controller",
            "The listeners config must only contain KRaft controller listeners from controller.listener.names",
        ),
    ] {
        let text = problem(&kraft(more));
        assert!(text.contains(expected), "{more}: {text}");
    }
    assert!(problem("num.partitions=1").contains("node.id is not set"));
}

#[test]
fn two_listeners_may_share_a_port_over_both_versions_of_ip() {
    let more = "listeners=PLAINTEXT://[::1]:9092,CONTROLLER://:9093,OTHER://127.0.0.1:9092\n\
        listener.security.protocol.map=OTHER:PLAINTEXT,CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT";
    assert_eq!(load(&kraft(more)).unwrap().0.network.listeners[0].host, "::1");
}

#[test]
fn negative_limits_mean_none() {
    let (config, _) =
        load("node.id=1\nconnections.max.idle.ms=-1\nsocket.send.buffer.bytes=-1\nlog.retention.ms=-5")
            .unwrap();
    assert_eq!(config.network.max_idle_ms, None);
    assert_eq!(config.network.send_buffer_bytes, None);
    assert_eq!(config.topic_defaults.config().retention_ms, -1);
}

#[test]
fn topics_start_from_the_brokers_settings() {
    let (config, _) = load(
        "node.id=1\nlog.segment.bytes=2097152\ncompression.type=gzip\nlog.cleanup.policy=compact,delete",
    )
    .unwrap();
    let topic = config.topic_defaults.config();
    assert_eq!(topic.segment_bytes, 2_097_152);
    assert!(topic.compact && topic.delete);
    assert_eq!(topic.compression, crate::config::Compression::Gzip(-1));
    let overrides = Written::from([
        ("compression.gzip.level".to_owned(), "5".to_owned()),
        ("cleanup.policy".to_owned(), String::new()),
        ("gone.in.a.later.version".to_owned(), "1".to_owned()),
    ]);
    let topic = config.topic_defaults.resolve(&overrides);
    assert_eq!(topic.compression, crate::config::Compression::Gzip(5));
    assert!(!topic.compact && !topic.delete);
    assert_eq!(topic.segment_bytes, 2_097_152);
}

#[test]
fn the_shipped_samples_load() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(samples).unwrap() {
        let path = entry.unwrap().path();
        let (config, notes) = Config::load(&Properties::read(&path).unwrap()).unwrap();
        assert!(!notes.warnings.iter().any(|warning| warning.contains("unknown")), "{notes:?}");
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        names.push((name, config.node_id, config.offsets.replication_factor));
    }
    names.sort();
    let names: Vec<_> = names.iter().map(|(name, id, factor)| (&**name, *id, *factor)).collect();
    assert_eq!(
        names,
        [("cluster.properties", 1, 3), ("development.properties", 1, 1), ("server.properties", 1, 1)]
    );
}
