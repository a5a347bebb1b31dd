//! In steady state a small request allocates nothing.

use std::sync::atomic::Ordering;

use crate::{Lonely, Plain, frame, support, topic};

const WARM_UP: usize = 2_000;
const COUNTED: usize = 1_000;

/// Allocations of the broker's thread during so many exchanges, after a warm-up.
fn during(broker: &Lonely, client: &mut Plain, frame: &[u8]) -> u64 {
    for _ in 0..WARM_UP {
        client.exchange(frame);
    }
    let before = broker.allocations.load(Ordering::SeqCst);
    for _ in 0..COUNTED {
        client.exchange(frame);
    }
    broker.allocations.load(Ordering::SeqCst) - before
}

#[test]
fn a_small_produce_allocates_nothing() {
    let broker = Lonely::start(support::real_doors);
    let mut client = Plain::connect(broker.address);
    let topic = topic(&mut client, "small");
    let request = support::produce_request(topic, 0, support::batch(1_767_225_600_000, &[&[b'x'; 100]]));
    let allocated = during(&broker, &mut client, &frame(13, &request));
    // Maintenance may pass by, and an index grows now and then; a request may not cost anything.
    assert!(allocated < COUNTED as u64 / 50, "{allocated} allocations in {COUNTED} requests");
}

#[test]
fn a_small_fetch_allocates_nothing() {
    let broker = Lonely::start(support::real_doors);
    let mut client = Plain::connect(broker.address);
    let topic = topic(&mut client, "small");
    let request = support::produce_request(topic, 0, support::batch(1_767_225_600_000, &[&[b'x'; 1000]]));
    client.exchange(&frame(13, &request));
    let allocated = during(&broker, &mut client, &frame(17, &support::fetch_request(topic, 0, 0)));
    assert!(allocated < COUNTED as u64 / 50, "{allocated} allocations in {COUNTED} requests");
}
