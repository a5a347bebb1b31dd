//! Members of consumer groups on franz-go, a client that shares no code with Java's or librdkafka (`franz/`).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::Command;

use compat_tests::{Broker, Suite, suite};

/// Sessions as short as the members of these programs want them.
const SHORT_SESSIONS: &[(&str, &str)] = &[("group.min.session.timeout.ms", "1000")];

fn members(scenario: &str) {
    if !Suite::FranzGo.wanted() {
        return;
    }
    let broker = Broker::start_with(SHORT_SESSIONS);
    let run = suite::home().join("franz/run");
    let ran = Command::new(run).args([&broker.bootstrap(), scenario]).output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    println!("{output}{}", String::from_utf8_lossy(&ran.stderr));
    suite::report(&output);
    assert!(ran.status.success(), "members fail: {scenario}");
}

#[test]
fn members_come_go_crash_and_pause_by_range() {
    members("range");
}

#[test]
fn members_come_go_crash_and_pause_by_round_robin() {
    members("roundrobin");
}

#[test]
fn members_come_go_crash_and_pause_by_sticky() {
    members("sticky");
}

#[test]
fn members_come_go_crash_and_pause_by_cooperative_sticky() {
    members("cooperative");
}

#[test]
fn static_members_restart() {
    members("static");
}
