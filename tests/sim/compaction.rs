//! A compacted topic of a running broker.

use std::path::Path;
use std::time::Duration;

use barnabas::broker::Doors;
use barnabas::clock::Clock;
use barnabas::disk::{Disk, MemoryDisk};
use barnabas::net::{Network, SimulatedNetwork};
use barnabas::rng::Rng;
use barnabas::spawn::Spawner;
use barnabas_protocol::batch::BatchBuilder;
use barnabas_protocol::messages::create_topics::CreatableTopicConfig;

use crate::one_node::read_all;
use crate::support::{self, Client};

async fn put(client: &mut Client, topic: barnabas_protocol::Uuid, key: &str, value: &str, now_ms: i64) {
    let mut batch = BatchBuilder::new();
    batch.append(now_ms, Some(key.as_bytes()), Some(value.as_bytes()));
    let request = support::produce_request(topic, 0, batch.finish().expect("a small batch"));
    let response = client.ask(13, &request).await;
    assert_eq!(response.responses[0].partition_responses[0].error_code, 0, "{response:?}");
}

#[tokio::test(start_paused = true)]
async fn a_topic_is_compacted_while_it_is_used_and_stays_so() {
    let clock = Clock::simulated(1_767_225_600_000);
    let disk = MemoryDisk::new(clock.clone());
    let doors = Doors {
        disk: disk.shared(),
        network: Network::Simulated(SimulatedNetwork::new()),
        clock: clock.clone(),
        rng: Rng::from_seed(1),
        spawner: Spawner::simulated(),
    };
    let broker = support::start_with(support::settings(Path::new("/data"), 0, &[]), &doors);
    let mut client = broker.connect().await;
    let mut request = support::create_topic_request("compacted", 1);
    for (name, value) in
        [("cleanup.policy", "compact"), ("segment.ms", "1000"), ("min.cleanable.dirty.ratio", "0.1")]
    {
        let (name, value) = (name.to_owned(), Some(value.to_owned()));
        request.topics[0].configs.push(CreatableTopicConfig { name, value });
    }
    let response = client.ask(7, &request).await;
    assert_eq!(response.topics[0].error_code, 0, "{response:?}");
    let topic = response.topics[0].topic_id;
    for round in 0..3 {
        for key in ["a", "b", "c"] {
            put(&mut client, topic, key, &format!("{key}{round}"), clock.now().wall_ms).await;
        }
        tokio::time::sleep(Duration::from_millis(1500)).await;
    }
    // Rolls; the cleaner looks every 15 seconds.
    put(&mut client, topic, "d", "d", clock.now().wall_ms).await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let expected: Vec<(i64, Vec<u8>)> =
        [(6, "a2"), (7, "b2"), (8, "c2"), (9, "d")].map(|(offset, value)| (offset, value.into())).into();
    assert_eq!(read_all(&mut client, topic, 0).await, expected);
    let checkpoint = disk.read(Path::new("/data/cleaner-offset-checkpoint")).expect("it is written");
    assert_eq!(String::from_utf8_lossy(&checkpoint), "0\n1\ncompacted 0 9\n");
    broker.stop().await;
    let broker = support::start_with(support::settings(Path::new("/data"), 0, &[]), &doors);
    let mut client = broker.connect().await;
    assert_eq!(read_all(&mut client, topic, 0).await, expected);
    broker.stop().await;
}
