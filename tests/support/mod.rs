//! A broker in this process and a client that speaks raw frames, over real sockets or simulated ones.
#![allow(dead_code, reason = "each suite uses a part of it")]
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::io::IoSlice;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use barnabas::broker::{Broker, Doors};
use barnabas::clock::Clock;
use barnabas::config::{Config, Origin, Properties};
use barnabas::disk::RealDisk;
use barnabas::net::{Network, Stream};
use barnabas::rng::Rng;
use barnabas::shutdown::{Trigger, channel};
use barnabas::spawn::Spawner;
use barnabas_protocol::batch::BatchBuilder;
use barnabas_protocol::header::{RequestHeader, parse_response_header};
use barnabas_protocol::messages::create_topics::CreatableTopic;
use barnabas_protocol::messages::fetch::{FetchPartition, FetchTopic};
use barnabas_protocol::messages::produce::{PartitionProduceData, TopicProduceData};
use barnabas_protocol::messages::{CreateTopicsRequest, FetchRequest, Message, ProduceRequest, Request};
use barnabas_protocol::{ApiKey, Reader, Uuid, Writer};

/// A broker that runs as a task of the test's runtime.
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    network: Network,
    stop: Trigger,
    task: tokio::task::JoinHandle<()>,
    listeners: Vec<(String, u16)>,
}

/// Settings of a one-node broker: the internal topics have one replica, groups do not wait for more members.
pub fn settings(dir: &Path, port: u16, more: &[(&str, &str)]) -> Config {
    let mut properties = Properties::default();
    let listener = format!("PLAINTEXT://127.0.0.1:{port}");
    let dir = dir.display().to_string();
    let base = [
        ("node.id", "1"),
        ("listeners", listener.as_str()),
        ("log.dirs", dir.as_str()),
        ("offsets.topic.replication.factor", "1"),
        ("group.initial.rebalance.delay.ms", "0"),
    ];
    for (key, value) in base.iter().chain(more) {
        properties.set(key, value, Origin::BuiltIn);
    }
    Config::load(&properties).expect("good settings").0
}

/// Doors to the real world, on a directory and a port of the system's choice.
pub fn real_doors() -> Doors {
    Doors {
        disk: Arc::new(RealDisk),
        network: Network::Tcp,
        clock: Clock::system(),
        rng: Rng::from_system().expect("the system has random numbers"),
        spawner: Spawner::threads(),
    }
}

/// Starts a broker on real sockets and a real directory.
pub fn start(dir: &Path, more: &[(&str, &str)]) -> Running {
    start_with(settings(dir, 0, more), &real_doors())
}

/// Starts a broker whose controller is another node.
pub async fn join(dir: &Path, more: &[(&str, &str)]) -> Running {
    let (config, doors) = (settings(dir, 0, more), real_doors());
    run(Broker::join(config, &doors).await.expect("the broker joins"), &doors)
}

/// Starts a broker on any doors.
pub fn start_with(config: Config, doors: &Doors) -> Running {
    run(Broker::start(config, doors).expect("the broker starts"), doors)
}

fn run(broker: Broker, doors: &Doors) -> Running {
    let network = doors.network.clone();
    let listeners = broker.listeners().to_vec();
    let (_, port) = listeners[0];
    let (stop, shutdown) = channel();
    let task = tokio::spawn(async move { broker.run(shutdown).await.expect("nothing fails") });
    Running { address: SocketAddr::from(([127, 0, 0, 1], port)), listeners, network, stop, task }
}

/// Starts a broker whose disk will fail; `None` if that happens at once.
pub fn start_to_fail(config: Config, doors: &Doors) -> Option<Running> {
    let network = doors.network.clone();
    let broker = Broker::start(config, doors).ok()?;
    let listeners = broker.listeners().to_vec();
    let (_, port) = listeners[0];
    let (stop, shutdown) = channel();
    let task = tokio::spawn(async move {
        let _failed = broker.run(shutdown).await;
    });
    Some(Running { address: SocketAddr::from(([127, 0, 0, 1], port)), listeners, network, stop, task })
}

/// A connection to a broker in another process.
pub async fn connect(address: SocketAddr) -> Client {
    dial(&Network::Tcp, address).await.expect("it listens")
}

/// A connection, if somebody listens.
pub async fn dial(network: &Network, address: SocketAddr) -> Option<Client> {
    let stream = network.connect(address).await.ok()?;
    Some(Client { stream, received: Vec::new(), next_id: 1 })
}

impl Running {
    /// A new connection.
    pub async fn connect(&self) -> Client {
        dial(&self.network, self.address).await.expect("it listens")
    }

    /// The port of one of its listeners.
    pub fn port(&self, listener: &str) -> u16 {
        self.listeners.iter().find(|(name, _)| name == listener).expect("a listener").1
    }

    /// A connection to another of its listeners.
    pub async fn connect_to(&self, listener: &str) -> Client {
        connect(SocketAddr::from(([127, 0, 0, 1], self.port(listener)))).await
    }

    /// Stops it in order.
    pub async fn stop(self) {
        self.stop.request();
        self.task.await.expect("it stops");
    }
}

/// A connection that sends and receives frames.
pub struct Client {
    stream: Stream,
    received: Vec<u8>,
    next_id: i32,
}

impl Client {
    /// Sends bytes as they are.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        self.try_send_bytes(bytes).await.expect("the broker reads");
    }

    /// Sends bytes as they are, unless the broker has hung up.
    pub async fn try_send_bytes(&mut self, mut bytes: &[u8]) -> std::io::Result<()> {
        while !bytes.is_empty() {
            let sent = std::future::poll_fn(|cx| self.stream.poll_write(cx, &[IoSlice::new(bytes)])).await?;
            bytes = &bytes[sent..];
        }
        Ok(())
    }

    /// Sends a request at a version; gives its correlation id.
    pub async fn send<R: Request>(&mut self, version: i16, request: &R) -> i32 {
        let id = self.next_id;
        self.next_id += 1;
        self.send_bytes(&frame(R::KEY, version, id, |out| request.encode(&mut Writer::new(out, version))))
            .await;
        id
    }

    /// The next frame, without its length; `None` if the broker has hung up.
    pub async fn receive_frame(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some((length, rest)) = self.received.split_first_chunk::<4>() {
                let length = u32::from_be_bytes(*length) as usize;
                if rest.len() >= length {
                    let frame = rest[..length].to_vec();
                    self.received.drain(..4 + length);
                    return Some(frame);
                }
            }
            let mut buffer = vec![0; 64 * 1024];
            let received = std::future::poll_fn(|cx| self.stream.poll_read(cx, &mut buffer)).await;
            match received {
                Ok(0) | Err(_) => return None,
                Ok(received) => self.received.extend_from_slice(&buffer[..received]),
            }
        }
    }

    /// The reply to a request that was sent.
    pub async fn receive<R: Request>(&mut self, version: i16, id: i32) -> R::Response {
        let frame = self.receive_frame().await.expect("a reply");
        let (replied, body) = parse_response_header(&frame, R::KEY, version).expect("a header");
        assert_eq!(replied, id, "replies come in order");
        let mut reader = Reader::new(body, version);
        let response = R::Response::decode(&mut reader).expect("a body");
        assert!(reader.rest().is_empty(), "nothing follows the body");
        response
    }

    /// Sends a request and waits for its reply; `None` if the broker hangs up or is gone.
    pub async fn try_ask<R: Request>(&mut self, version: i16, request: &R) -> Option<R::Response> {
        let id = self.next_id;
        self.next_id += 1;
        let bytes = frame(R::KEY, version, id, |out| request.encode(&mut Writer::new(out, version)));
        self.try_send_bytes(&bytes).await.ok()?;
        let frame = self.receive_frame().await?;
        let (_, body) = parse_response_header(&frame, R::KEY, version).ok()?;
        R::Response::decode(&mut Reader::new(body, version)).ok()
    }

    /// Sends a request and waits for its reply.
    pub async fn ask<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        let id = self.send(version, request).await;
        self.receive::<R>(version, id).await
    }
}

/// A request's frame, its length included.
pub fn frame(api: ApiKey, version: i16, correlation_id: i32, body: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    RequestHeader { api, version, correlation_id, client_id: "test".into() }.write(&mut bytes);
    body(&mut bytes);
    let length = u32::try_from(bytes.len() - 4).expect("a small frame");
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    bytes
}

/// One uncompressed batch of values without keys.
pub fn batch(timestamp: i64, values: &[&[u8]]) -> Vec<u8> {
    let mut builder = BatchBuilder::new();
    for value in values {
        builder.append(timestamp, None, Some(value));
    }
    builder.finish().expect("a small batch")
}

/// Runs a test by seeds and says in the end which of them fail: `default` of them or `BARNABAS_SEEDS`, from 0 on; one, or
/// `BARNABAS_SEEDS`, from `BARNABAS_SEED` on.
pub fn each_seed(default: u64, run: impl Fn(u64)) {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = (number("BARNABAS_SEED"), number("BARNABAS_SEEDS"));
    let count = count.unwrap_or(if first.is_some() { 1 } else { default });
    let first = first.unwrap_or(0);
    let fails = |seed: &u64| {
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(*seed))).is_err();
        if failed {
            println!("seed {seed} fails");
        }
        failed
    };
    let failed: Vec<u64> = (first..first + count).filter(fails).collect();
    assert!(failed.is_empty(), "BARNABAS_SEED=n shows it again: {failed:?}");
}

/// CreateTopics of one topic with one replica.
pub fn create_topic_request(name: &str, partitions: i32) -> CreateTopicsRequest {
    let topic = CreatableTopic {
        name: name.to_owned(),
        num_partitions: partitions,
        replication_factor: 1,
        ..CreatableTopic::default()
    };
    CreateTopicsRequest { topics: vec![topic], ..CreateTopicsRequest::default() }
}

/// Makes a topic with one replica; its id.
pub async fn create_topic(client: &mut Client, name: &str, partitions: i32) -> Uuid {
    let response = client.ask(7, &create_topic_request(name, partitions)).await;
    assert_eq!(response.topics[0].error_code, 0, "{response:?}");
    response.topics[0].topic_id
}

/// Produce 13 of one batch, acks=all.
pub fn produce_request(topic_id: Uuid, index: i32, records: Vec<u8>) -> ProduceRequest {
    let data = PartitionProduceData { index, records: Some(records.into()) };
    let topic = TopicProduceData { topic_id, partition_data: vec![data], ..TopicProduceData::default() };
    ProduceRequest { acks: -1, timeout_ms: 1000, topic_data: vec![topic], transactional_id: None }
}

/// Fetch 13 and later of one partition that does not wait.
pub fn fetch_request(topic_id: Uuid, partition: i32, fetch_offset: i64) -> FetchRequest {
    let wanted = FetchPartition {
        partition,
        fetch_offset,
        partition_max_bytes: 10_000_000,
        ..FetchPartition::default()
    };
    let topic = FetchTopic { topic_id, partitions: vec![wanted], ..FetchTopic::default() };
    FetchRequest { max_wait_ms: 0, topics: vec![topic], ..FetchRequest::default() }
}

/// Tries until it holds; fails after ten seconds.
pub async fn eventually(mut holds: impl AsyncFnMut() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !holds().await {
        assert!(std::time::Instant::now() < deadline, "it did not come to hold");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
