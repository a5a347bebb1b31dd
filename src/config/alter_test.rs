use std::path::Path;

use super::*;
use crate::config::Properties;

fn config() -> Config {
    Config::load(&Properties::parse(Path::new("x"), b"node.id=1").unwrap()).unwrap().0
}

fn written(pairs: &[(&str, &str)]) -> Written {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn topic(pairs: &[(&str, &str)]) -> Result<(), Refused> {
    check_topic(&config(), &Written::new(), &written(pairs))
}

fn broker(one: bool, key: &str, value: &str) -> Result<(), Refused> {
    check_broker(&config(), one, &Written::new(), &written(&[(key, value)]))
}

fn group(key: &str, value: &str) -> Result<(), Refused> {
    check_group(&config().values, &written(&[(key, value)]))
}

#[test]
fn topics() {
    assert_eq!(topic(&[("retention.ms", "5"), ("cleanup.policy", "compact")]), Ok(()));
    for (pairs, expected) in [
        (&[("no.such", "1"), ("retention.ms", "x")][..], "Unknown topic config name: no.such"),
        (
            &[("retention.ms", "-2")],
            "Invalid value -2 for configuration retention.ms: Value must be at least -1",
        ),
        (
            &[("max.compaction.lag.ms", "5"), ("min.compaction.lag.ms", "10")],
            "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
        ),
        (
            &[("remote.storage.enable", "true")],
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.",
        ),
        (&[("remote.copy.lag.ms", "1")], "remote.copy.lag.ms is not supported yet: it would have no effect"),
    ] {
        assert_eq!(topic(pairs), Err(Refused::Config(expected.to_owned())));
    }
    assert_eq!(topic(&[("remote.copy.lag.ms", "0")]), Ok(()), "the default is no promise");
    let old = written(&[("remote.copy.lag.ms", "1")]);
    assert_eq!(check_topic(&config(), &old, &old), Ok(()), "what a directory brings along stays");
}

#[test]
fn brokers() {
    assert_eq!(broker(false, "log.retention.ms", "1000"), Ok(()));
    assert_eq!(broker(true, "num.io.threads", "9"), Ok(()));
    assert_eq!(broker(true, "no.such", "x"), Ok(()), "others' keys");
    assert_eq!(broker(true, "listener.name.plaintext.foo", "x"), Ok(()), "for a listener, too");
    for (one, key, value, expected) in [
        (true, "broker.rack", "a", "Cannot update these configs dynamically: [broker.rack]"),
        (
            true,
            "log.segment.bytes",
            "5",
            "Invalid value 5 for configuration log.segment.bytes: Value must be at least 1048576",
        ),
        (
            true,
            "ssl.keystore.location",
            "/x",
            "These security configs can be dynamically updated only per-listener using the listener prefix: \
             [ssl.keystore.location]",
        ),
        (
            false,
            "listener.name.plaintext.ssl.keystore.location",
            "/x",
            "Cannot update these configs at default cluster level, broker id must be specified: \
             [listener.name.plaintext.ssl.keystore.location]",
        ),
        (
            true,
            "listener.name.plaintext.ssl.keystore.location",
            "/x",
            "listener.name.plaintext.ssl.keystore.location cannot be changed while the broker runs yet: it would have no \
             effect",
        ),
        (
            false,
            "listeners",
            "PLAINTEXT://x:1",
            "Cannot update these configs at default cluster level, broker id must be specified: [listeners]",
        ),
        (false, "log.roll.ms", "0", "log.roll.ms must be greater than or equal to 1"),
        (
            false,
            "log.cleaner.threads",
            "2",
            "log.cleaner.threads cannot be changed while the broker runs yet: it would have no effect",
        ),
        (
            false,
            "follower.replication.throttled.rate",
            "-5",
            "Invalid value -5 for configuration follower.replication.throttled.rate: Value must be at least 0",
        ),
    ] {
        assert_eq!(broker(one, key, value), Err(Refused::Request(expected.to_owned())), "{key}");
    }
}

#[test]
fn groups() {
    assert_eq!(group("consumer.session.timeout.ms", "50000"), Ok(()));
    assert_eq!(group("share.auto.offset.reset", "by_duration:PT1H"), Ok(()));
    for (key, value, expected) in [
        ("nope", "x", "Unknown group config name: nope"),
        (
            "consumer.session.timeout.ms",
            "5",
            "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.",
        ),
        (
            "consumer.assignment.interval.ms",
            "50000",
            "consumer.assignment.interval.ms must be in the range 0 to 15000 inclusive.",
        ),
        (
            "share.record.lock.duration.ms",
            "5",
            "Invalid value 5 for configuration share.record.lock.duration.ms: Value must be at least 1000",
        ),
        ("streams.num.standby.replicas", "5", "streams.num.standby.replicas must be less than or equal to 2"),
        (
            "streams.assignor.name",
            "foo",
            "streams.assignor.name 'foo' is not a registered task assignor. Registered assignors are: [sticky].",
        ),
        (
            "share.auto.offset.reset",
            "foo",
            "Invalid value foo for configuration share.auto.offset.reset: Invalid value `foo` for configuration \
             share.auto.offset.reset. The value must be either 'earliest', 'latest' or of the format \
             'by_duration:<PnDTnHnMn.nS>'.",
        ),
    ] {
        assert_eq!(group(key, value), Err(Refused::Config(expected.to_owned())));
    }
}

#[test]
fn client_metrics() {
    let check = |key: &str, value: &str| {
        check_client_metrics(&written(&[(key, value)])).map_err(|why| why.to_string())
    };
    assert_eq!(check("match", "client_id=a"), Ok(()));
    assert_eq!(check("match", "a=b").unwrap_err(), "Illegal client matching pattern: a=b");
    assert_eq!(check("nope", "a").unwrap_err(), "Unknown client metrics configuration: nope");
    assert!(check("interval.ms", "5").unwrap_err().ends_with("must be between 100 and 3600000 (1 hour)"));
}
