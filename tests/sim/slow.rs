//! Peers that announce much and send little do not keep memory from others.

use std::path::Path;

use barnabas::broker::Doors;
use barnabas::clock::Clock;
use barnabas::disk::MemoryDisk;
use barnabas::net::{Network, SimulatedNetwork};
use barnabas::rng::Rng;
use barnabas::spawn::Spawner;
use barnabas_protocol::messages::MetadataRequest;

use crate::support;

/// What all frames together may hold: not enough for two of the large ones.
const MEMORY: &str = "600000";

#[test]
fn a_trickling_frame_gives_way_when_others_wait() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let clock = Clock::simulated(1_767_225_600_000);
        let doors = Doors {
            disk: MemoryDisk::new(clock.clone()).shared(),
            network: Network::Simulated(SimulatedNetwork::new()),
            clock: clock.clone(),
            rng: Rng::from_seed(1),
            spawner: Spawner::simulated(),
        };
        let limits = [("queued.max.request.bytes", MEMORY), ("socket.request.max.bytes", MEMORY)];
        let broker = support::start_with(support::settings(Path::new("/data"), 0, &limits), &doors);
        let mut honest = broker.connect().await;
        let topic = support::create_topic(&mut honest, "slow", 1).await;

        let mut trickling = broker.connect().await;
        trickling.send_bytes(&500_000_u32.to_be_bytes()).await;
        let trickle = tokio::spawn(async move {
            // A byte every second keeps it from being idle, and would take six days.
            while trickling.try_send_bytes(&[0]).await.is_ok() {
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            }
        });
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;

        // Small requests have a share of their own.
        let mut small = broker.connect().await;
        small.ask(12, &MetadataRequest::default()).await;
        assert!(clock.now().mono_ms < 6_000, "they pass at once");

        let large =
            support::produce_request(topic, 0, support::batch(1_767_225_600_000, &[&vec![b'x'; 400_000]]));
        let response = honest.ask(13, &large).await;
        assert_eq!(response.responses[0].partition_responses[0].error_code, 0);
        assert!(clock.now().mono_ms < 30_000, "the trickling one was hung up on");
        trickle.await.expect("it was hung up on");
        broker.stop().await;
    });
}
