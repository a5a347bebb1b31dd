//! Three nodes, of which some fall under load: nothing that was acknowledged is lost, nothing is there twice, and the
//! order of each key holds; transactions are whole or not at all, and groups go on where they were.
//!
//! `CLUSTER_SECONDS` is how long nodes are killed (60 by default).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

mod group;
mod ledger;
mod load;
mod reader;
mod transactions;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use compat_tests::cluster::{Cluster, Voters};
use compat_tests::{Suite, suite};

use crate::load::Load;

/// A node that was killed is away for so long.
const AWAY: Duration = Duration::from_millis(1500);
/// Between a return and the next fall.
const BETWEEN: Duration = Duration::from_millis(3500);

/// One cluster at a time: figures and deadlines are those of a machine that does nothing else.
fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn load_passes(duration: Duration) {
    // Load passes; there is no other event to wait for.
    std::thread::sleep(duration);
}

fn seconds() -> u64 {
    std::env::var("CLUSTER_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

fn tell(load: &Load, what: &str) {
    let pause = load.ledger.longest_pause();
    suite::report(&format!(
        "cluster: {what}: no progress on a partition for at most {:.2} s, on any for {:.2} s\n",
        pause.partition.as_secs_f64(),
        pause.all.as_secs_f64()
    ));
}

/// Kills nodes by turns, some of them at once.
fn fall(voters: Voters, victims: &[&[usize]]) {
    let mut cluster = Cluster::start(voters);
    let load = Load::start(&cluster.bootstrap());
    let end = Instant::now() + Duration::from_secs(seconds());
    load_passes(BETWEEN);
    for victim in victims.iter().cycle() {
        load.ledger.longest_pause();
        for node in *victim {
            cluster.node(*node).kill();
        }
        load_passes(AWAY);
        for node in *victim {
            cluster.node(*node).restart();
        }
        load_passes(BETWEEN);
        tell(&load, &format!("kill -9 of nodes {victim:?}, back after {:.1} s", AWAY.as_secs_f64()));
        if Instant::now() > end {
            break;
        }
    }
    cluster.wait_until_whole();
    load.check();
}

#[test]
fn what_was_acknowledged_survives_kill_9_of_brokers() {
    if Suite::Cluster.wanted() {
        let _alone = alone();
        fall(Voters::One, &[&[2], &[3], &[1], &[2, 3], &[1, 2]]);
    }
}

#[test]
fn what_was_acknowledged_survives_kill_9_of_controllers_that_vote() {
    if Suite::Cluster.wanted() {
        let _alone = alone();
        fall(Voters::Three, &[&[2], &[3], &[1]]);
    }
}

#[test]
fn nodes_that_restart_in_turn_and_a_power_cut_lose_nothing() {
    if !Suite::Cluster.wanted() {
        return;
    }
    let _alone = alone();
    let mut cluster = Cluster::start(Voters::Three);
    let load = Load::start(&cluster.bootstrap());
    for node in [2, 3, 1] {
        load_passes(BETWEEN);
        load.ledger.longest_pause();
        cluster.node(node).stop();
        tell(&load, &format!("node {node} stopped in order"));
        cluster.node(node).restart();
        cluster.wait_until_whole();
        tell(&load, &format!("node {node} came back"));
    }
    cluster.power_off();
    cluster.power_on();
    tell(&load, "all power was off");
    load_passes(BETWEEN);
    load.check();
}

#[test]
fn without_a_fault_nothing_pauses_and_nothing_is_sent_twice() {
    if Suite::Cluster.wanted() {
        let _alone = alone();
        let cluster = Cluster::start(Voters::Three);
        let load = Load::start(&cluster.bootstrap());
        load_passes(BETWEEN);
        load.ledger.longest_pause();
        load_passes(2 * BETWEEN);
        tell(&load, "no fault");
        load.check();
    }
}
