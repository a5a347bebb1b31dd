//! Who waits for the disk waits together: many produces share one sync, many partitions are made with none of their own.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use barnabas::broker::Doors;
use barnabas_protocol::messages::create_topics::CreatableTopicConfig;
use barnabas_protocol::messages::{CreateTopicsResponse, Message, ProduceResponse};

use crate::counting::{CountingDisk, Traffic};
use crate::{Lonely, Plain, frame, support};

const PRODUCERS: u64 = 64;
const ROUNDS: u64 = 5;

#[test]
fn produces_that_must_be_on_disk_share_a_sync() {
    let traffic = Arc::new(Traffic::default());
    let seen = traffic.clone();
    let broker = Lonely::start(move || Doors { disk: Arc::new(CountingDisk(seen)), ..support::real_doors() });
    let mut request = support::create_topic_request("synced", 1);
    let (name, value) = ("flush.messages".to_owned(), Some("1".to_owned()));
    request.topics[0].configs.push(CreatableTopicConfig { name, value });
    let reply = Plain::connect(broker.address).exchange(&frame(7, &request));
    let topic = CreateTopicsResponse::from_bytes(&reply[5..], 7).expect("a response").topics[0].topic_id;

    traffic.sync_ms.store(20, Ordering::SeqCst);
    let before = traffic.syncs.load(Ordering::SeqCst);
    std::thread::scope(|scope| {
        for _ in 0..PRODUCERS {
            scope.spawn(|| {
                let mut client = Plain::connect(broker.address);
                for _ in 0..ROUNDS {
                    let batch = support::batch(1_767_225_600_000, &[b"value"]);
                    let syncs = traffic.syncs.load(Ordering::SeqCst);
                    let reply = client.exchange(&frame(13, &support::produce_request(topic, 0, batch)));
                    let response = ProduceResponse::from_bytes(&reply[5..], 13).expect("a response");
                    assert_eq!(response.responses[0].partition_responses[0].error_code, 0);
                    assert!(traffic.syncs.load(Ordering::SeqCst) > syncs, "one began after the produce");
                }
            });
        }
    });
    let syncs = traffic.syncs.load(Ordering::SeqCst) - before;
    let produces = PRODUCERS * ROUNDS;
    assert!(syncs * 5 <= produces, "{syncs} syncs for {produces} produces");
}

#[test]
fn a_new_topic_is_not_synced_partition_by_partition() {
    let traffic = Arc::new(Traffic::default());
    let seen = traffic.clone();
    let broker = Lonely::start(move || Doors { disk: Arc::new(CountingDisk(seen)), ..support::real_doors() });
    let before = traffic.directory_syncs.load(Ordering::SeqCst);
    let reply =
        Plain::connect(broker.address).exchange(&frame(7, &support::create_topic_request("wide", 200)));
    let response = CreateTopicsResponse::from_bytes(&reply[5..], 7).expect("a response");
    assert_eq!(response.topics[0].error_code, 0);
    // Checkpoints may be written meanwhile.
    let syncs = traffic.directory_syncs.load(Ordering::SeqCst) - before;
    assert!(syncs < 50, "{syncs} syncs of directories for 200 partitions");
}
