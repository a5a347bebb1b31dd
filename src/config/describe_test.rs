use std::path::Path;

use super::*;
use crate::config::Properties;

fn config(text: &str) -> Config {
    let text = format!("node.id=1\n{text}");
    Config::load(&Properties::parse(Path::new("x"), text.as_bytes()).unwrap()).unwrap().0
}

fn written(pairs: &[(&str, &str)]) -> Written {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// `value source name=value@source;…`, as the reference's answers were noted down.
fn shown(settings: &[Setting], name: &str) -> String {
    let setting = settings.iter().find(|setting| setting.name == name).expect(name);
    let mut text = format!("{} {:?} ", setting.value.as_deref().unwrap_or("null"), setting.source);
    for synonym in &setting.synonyms {
        let value = synonym.value.as_deref().unwrap_or("null");
        text.push_str(&format!("{}={value}@{:?};", synonym.name, synonym.source));
    }
    text
}

#[test]
fn a_broker_shows_what_kafka_shows() {
    let config = config(
        "log.retention.hours=100\nssl.client.auth=none\nsome.plugin=x\noffsets.topic.replication.factor=1",
    );
    let none = Written::new();
    let settings = Layers { config: &config, broker: &none, all_brokers: &none }.describe_broker();
    assert_eq!(shown(&settings, "node.id"), "1 File node.id=1@File;");
    assert_eq!(shown(&settings, "broker.id"), "1 File broker.id=1@File;broker.id=-1@Default;");
    assert_eq!(shown(&settings, "log.retention.ms"), "null Default ");
    assert_eq!(
        shown(&settings, "log.retention.hours"),
        "100 File log.retention.hours=100@File;log.retention.hours=168@Default;"
    );
    assert_eq!(
        shown(&settings, "offsets.topic.replication.factor"),
        "1 File offsets.topic.replication.factor=1@File;offsets.topic.replication.factor=3@Default;"
    );
    assert_eq!(shown(&settings, "ssl.keystore.password"), "null Default ");
    let unknown = settings.iter().find(|setting| setting.name == "some.plugin").unwrap();
    assert!(unknown.sensitive && unknown.read_only && unknown.value.is_none() && unknown.kind == 0);
    assert!(!settings.iter().any(|setting| setting.name == "unstable.api.versions.enable"), "internal");
    assert_eq!(settings.iter().filter(|setting| setting.name != "some.plugin").count(), 350);
    let read_only = |name: &str| settings.iter().find(|setting| setting.name == name).unwrap().read_only;
    assert!(read_only("log.retention.hours") && !read_only("log.retention.ms"));
}

#[test]
fn dynamic_settings_are_layered_over_the_file() {
    let config = config("");
    let all = written(&[("log.segment.bytes", "2097152"), ("log.retention.ms", "0"), ("no.such", "x")]);
    let one = written(&[("log.segment.bytes", "4194304"), ("log.retention.ms", "1")]);
    let layers = Layers { config: &config, broker: &one, all_brokers: &all };
    let settings = layers.describe_broker();
    assert_eq!(
        shown(&settings, "log.segment.bytes"),
        "4194304 Broker log.segment.bytes=4194304@Broker;log.segment.bytes=2097152@AllBrokers;\
         log.segment.bytes=1073741824@Default;"
    );
    assert_eq!(
        shown(&settings, "log.retention.ms"),
        "1 Broker log.retention.ms=1@Broker;log.retention.ms=0@AllBrokers;log.retention.hours=168@Default;"
    );
    let topic = layers.describe_topic(&written(&[("cleanup.policy", "")])).unwrap();
    assert_eq!(
        shown(&topic, "segment.bytes"),
        "4194304 Broker log.segment.bytes=4194304@Broker;log.segment.bytes=2097152@AllBrokers;\
         log.segment.bytes=1073741824@Default;"
    );
    assert_eq!(
        shown(&topic, "cleanup.policy"),
        " Topic cleanup.policy=@Topic;log.cleanup.policy=delete@Default;"
    );
    let all_brokers = describe_all_brokers(&all);
    assert_eq!(
        shown(&all_brokers, "log.segment.bytes"),
        "2097152 AllBrokers log.segment.bytes=2097152@AllBrokers;"
    );
    assert_eq!(shown(&all_brokers, "no.such"), "null AllBrokers no.such=null@AllBrokers;");
}

#[test]
fn one_listeners_own_setting_goes_before_the_brokers() {
    let config = config("");
    let none = Written::new();
    let all = written(&[("max.connections", "100")]);
    let one = written(&[("listener.name.plaintext.max.connections", "7")]);
    let settings = Layers { config: &config, broker: &one, all_brokers: &all }.describe_broker();
    assert_eq!(
        shown(&settings, "listener.name.plaintext.max.connections"),
        "7 Broker listener.name.plaintext.max.connections=7@Broker;max.connections=100@AllBrokers;\
         max.connections=2147483647@Default;"
    );
    drop(none);
}

#[test]
fn a_topic_shows_what_kafka_shows() {
    let config = config("");
    let none = Written::new();
    let layers = Layers { config: &config, broker: &none, all_brokers: &none };
    let settings = layers.describe_topic(&none).unwrap();
    assert_eq!(settings.len(), 37);
    assert_eq!(shown(&settings, "retention.ms"), "604800000 Default ");
    assert_eq!(shown(&settings, "segment.jitter.ms"), "0 Default ");
    assert_eq!(shown(&settings, "flush.ms"), "9223372036854775807 Default ");
    assert_eq!(shown(&settings, "remote.storage.enable"), "false Default ");
    assert_eq!(shown(&settings, "compression.lz4.level"), "9 Default compression.lz4.level=9@Default;");
    let own =
        written(&[("preallocate", "TRUE"), ("segment.ms", "12"), ("internal.segment.bytes", "2000000")]);
    let settings = layers.describe_topic(&own).unwrap();
    assert_eq!(
        shown(&settings, "preallocate"),
        "true Topic preallocate=true@Topic;log.preallocate=false@Default;"
    );
    assert_eq!(shown(&settings, "segment.ms"), "12 Topic segment.ms=12@Topic;");
    assert_eq!(
        shown(&settings, "internal.segment.bytes"),
        "2000000 Topic internal.segment.bytes=2000000@Topic;"
    );
    assert_eq!(settings.iter().find(|s| s.name == "cleanup.policy").unwrap().kind, 7);
}

#[test]
fn the_order_is_kafkas() {
    let config = config("");
    let none = Written::new();
    let layers = Layers { config: &config, broker: &none, all_brokers: &none };
    let first = |settings: Vec<Setting>| settings.into_iter().take(5).map(|s| s.name).collect::<Vec<_>>();
    assert_eq!(
        first(layers.describe_topic(&none).unwrap()),
        [
            "compression.type",
            "errors.deadletterqueue.group.enable",
            "remote.copy.lag.bytes",
            "remote.log.delete.on.disable",
            "leader.replication.throttled.replicas"
        ]
    );
    assert_eq!(
        first(layers.describe_group(&none)),
        [
            "consumer.session.timeout.ms",
            "streams.assignor.name",
            "consumer.assignment.interval.ms",
            "errors.deadletterqueue.copy.record.enable",
            "share.auto.offset.reset"
        ]
    );
    assert_eq!(
        first(layers.describe_broker()),
        [
            "log.cleaner.min.compaction.lag.ms",
            "offsets.topic.num.partitions",
            "sasl.oauthbearer.jwks.endpoint.refresh.ms",
            "remote.log.metadata.manager.listener.name",
            "log.flush.interval.messages"
        ]
    );
}

#[test]
fn a_group_shows_what_kafka_shows() {
    let config = config("");
    let none = Written::new();
    let layers = Layers { config: &config, broker: &none, all_brokers: &none };
    let own =
        written(&[("consumer.session.timeout.ms", "50000"), ("consumer.assignor.offload.enable", "false")]);
    let settings = layers.describe_group(&own);
    assert_eq!(
        shown(&settings, "consumer.session.timeout.ms"),
        "50000 Group consumer.session.timeout.ms=50000@Group;group.consumer.session.timeout.ms=45000@Default;"
    );
    assert_eq!(
        shown(&settings, "streams.assignor.name"),
        "sticky Default group.streams.assignors=sticky@Default;"
    );
    assert_eq!(
        shown(&settings, "share.isolation.level"),
        "read_uncommitted Default share.isolation.level=read_uncommitted@Default;"
    );
    assert_eq!(
        shown(&settings, "consumer.assignor.offload.enable"),
        "false Group consumer.assignor.offload.enable=false@Group;group.consumer.assignor.offload.enable=true@Default;"
    );
    assert_eq!(layers.describe_group(&none).len(), 21, "internal keys only where they are set");
}

#[test]
fn a_client_metrics_subscription() {
    let settings = describe_client_metrics(&written(&[("metrics", "x, y")]));
    assert_eq!(shown(&settings, "interval.ms"), "300000 Default ");
    assert_eq!(shown(&settings, "metrics"), "x,y ClientMetrics metrics=x,y@ClientMetrics;");
}
