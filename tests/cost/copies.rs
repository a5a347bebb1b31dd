//! Record bytes go to the file in one write and leave it without passing through the process.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use barnabas::broker::Doors;
use barnabas_protocol::messages::{FetchResponse, Message};

use crate::counting::{CountingDisk, Traffic};
use crate::{Lonely, Plain, frame, support, topic};

fn counted() -> (Lonely, Arc<Traffic>) {
    let traffic = Arc::new(Traffic::default());
    let seen = traffic.clone();
    let broker = Lonely::start(move || Doors { disk: Arc::new(CountingDisk(seen)), ..support::real_doors() });
    (broker, traffic)
}

#[test]
fn a_produce_is_one_write_and_a_large_range_leaves_by_sendfile() {
    let (broker, traffic) = counted();
    let mut client = Plain::connect(broker.address);
    let topic = topic(&mut client, "copies");
    for (offset, size) in (0..).zip([32 * 1024_usize, 250_000, 900_000]) {
        let batch = support::batch(1_767_225_600_000, &[&vec![b'x'; size]]);
        let length = batch.len() as u64;
        let (writes, written) = (load(&traffic.writes), load(&traffic.written));
        client.exchange(&frame(13, &support::produce_request(topic, 0, batch)));
        assert_eq!(load(&traffic.writes) - writes, 1, "one write for {size} bytes");
        assert_eq!(load(&traffic.written) - written, length);

        let (read, sent) = (load(&traffic.read), load(&traffic.sent));
        let reply = client.exchange(&frame(17, &support::fetch_request(topic, 0, offset)));
        let response = FetchResponse::from_bytes(&reply[5..], 17).expect("a response");
        let records = response.responses[0].partitions[0].records.as_ref().map_or(0, |records| records.len());
        assert_eq!(records as u64, length);
        assert!(load(&traffic.sent) > sent, "{size} bytes are handed to sendfile");
        // Headers may be looked at to find the batch; the records may not pass through here.
        assert!(load(&traffic.read) - read < 8 * 1024, "{size} bytes are not read");
    }
}

#[test]
fn a_cold_range_is_read_elsewhere_before_it_is_sent() {
    let (broker, traffic) = counted();
    let mut client = Plain::connect(broker.address);
    let topic = topic(&mut client, "cold");
    let sizes = [100_usize, 20_000, 900_000, 1_000_000];
    for size in sizes {
        let batch = support::batch(1_767_225_600_000, &[&vec![b'x'; size]]);
        client.exchange(&frame(13, &support::produce_request(topic, 0, batch)));
    }
    traffic.cold.store(true, Ordering::SeqCst);
    for (offset, size) in (0..).zip(sizes) {
        let mut request = support::fetch_request(topic, 0, offset);
        request.topics[0].partitions[0].partition_max_bytes = 1;
        let warmed = load(&traffic.warmed);
        let reply = client.exchange(&frame(17, &request));
        let response = FetchResponse::from_bytes(&reply[5..], 17).expect("a response");
        let records = response.responses[0].partitions[0].records.clone().expect("not null");
        assert!(records.len() > size && records.iter().filter(|byte| **byte == b'x').count() >= size);
        assert_eq!(load(&traffic.warmed) - warmed, records.len() as u64, "each byte is fetched once");
    }
}

fn load(counter: &std::sync::atomic::AtomicU64) -> u64 {
    counter.load(Ordering::SeqCst)
}
