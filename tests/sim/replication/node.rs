//! A broker's partitions and fetchers on a disk of its own, and a server that answers followers.

use std::collections::BTreeSet;
use std::io::IoSlice;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use barnabas::clock::Clock;
use barnabas::config::{Config, Origin, Properties};
use barnabas::controller::ControllerError;
use barnabas::controller::{Delta, Image, Loader, Subscriber};
use barnabas::disk::{Disk, MemoryDisk};
use barnabas::ids::Uuid;
use barnabas::net::{Network, SimulatedNetwork, SocketOptions, Stream};
use barnabas::partition::{Doors, FollowerFetch, Isolation, LogDir, Partition, Partitions, Read, Settings};
use barnabas::peer::Peers;
use barnabas::replication::{Asked, FetchSettings, Fetchers, IsrController, propose, watch_lag};
use barnabas::rng::Rng;
use barnabas::shutdown::{Trigger, channel};
use barnabas::spawn::Spawner;
use barnabas_protocol::batch::{Batches, Caps, Scratch};
use barnabas_protocol::codec::Writer;
use barnabas_protocol::header::{RequestHeader, write_response_header};
use barnabas_protocol::messages::api_versions::ApiVersion;
use barnabas_protocol::messages::fetch::{
    EpochEndOffset, FetchPartition, FetchableTopicResponse, PartitionData,
};
use barnabas_protocol::messages::list_offsets::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use barnabas_protocol::messages::{
    AlterPartitionRequest, ApiVersionsResponse, FetchRequest, FetchResponse, ListOffsetsRequest,
    ListOffsetsResponse, Message,
};
use barnabas_protocol::{ApiKey, ErrorCode};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::controller::{CLUSTER, Controller, TOPIC, TOPIC_ID, empty, position};

const LAG_MS: u64 = 1000;
/// A follower's fetch is answered at the latest after so many ms.
const POLL_MS: u64 = 20;

pub fn port(id: i32) -> u16 {
    9000 + id as u16
}

/// Who reaches whom.
#[derive(Default)]
pub struct Links {
    /// From, to: requests and answers of this direction are lost.
    cut: Mutex<BTreeSet<(i32, i32)>>,
    no_controller: Mutex<BTreeSet<i32>>,
    slow: Mutex<Vec<(i32, u64)>>,
}

impl Links {
    pub fn cut(&self, from: i32, to: i32) {
        self.cut.lock().insert((from, to));
    }

    pub fn cut_off(&self, id: i32, all: &[i32]) {
        for other in all {
            self.cut(id, *other);
            self.cut(*other, id);
        }
    }

    pub fn cut_controller(&self, id: i32) {
        self.no_controller.lock().insert(id);
    }

    pub fn slow(&self, id: i32, ms: u64) {
        self.slow.lock().push((id, ms));
    }

    pub fn heal(&self) {
        self.cut.lock().clear();
        self.no_controller.lock().clear();
        self.slow.lock().clear();
    }

    pub fn reaches_controller(&self, id: i32) -> bool {
        !self.no_controller.lock().contains(&id)
    }

    fn passes(&self, from: i32, to: i32) -> bool {
        from == to || !self.cut.lock().contains(&(from, to))
    }

    fn delay_ms(&self, id: i32) -> u64 {
        self.slow.lock().iter().filter(|(slow, _)| *slow == id).map(|(_, ms)| *ms).sum()
    }
}

struct Alive {
    partitions: Arc<Partitions>,
    fetchers: Arc<Fetchers>,
    loader: Loader,
    applied: usize,
    _stop: Trigger,
    tasks: Vec<JoinHandle<()>>,
}

/// See the module.
pub struct Node {
    id: i32,
    disk: MemoryDisk,
    network: Arc<SimulatedNetwork>,
    clock: Clock,
    rng: Rng,
    links: Arc<Links>,
    controller: Arc<Controller>,
    alive: Option<Alive>,
}

struct Follow {
    partitions: Arc<Partitions>,
    fetchers: Arc<Fetchers>,
}

impl Subscriber for Follow {
    fn changed(&self, _old: &Image, new: &Arc<Image>, delta: &Delta) {
        self.partitions.apply(new, delta);
        self.fetchers.apply(new, delta);
    }

    fn failed(&self, error: &ControllerError) {
        panic!("{error}");
    }
}

struct ToController(Arc<Controller>, i32);

impl IsrController for ToController {
    fn alter_partition(&self, request: AlterPartitionRequest) -> Asked {
        let answer = self.0.alter(&request).ok_or_else(|| "cut off".to_owned());
        Box::pin(async move { answer })
    }

    fn broker_epoch(&self) -> i64 {
        self.0.epoch_of(self.1)
    }
}

fn config(id: i32) -> Config {
    let mut properties = Properties::default();
    let id = id.to_string();
    let settings = [
        ("node.id", id.as_str()),
        ("listeners", "PLAINTEXT://127.0.0.1:0"),
        ("log.dirs", "/data"),
        ("replica.lag.time.max.ms", "1000"),
        ("min.insync.replicas", "2"),
        // Short, so that segments are sealed and flushed.
        ("log.roll.ms", "3000"),
    ];
    for (key, value) in settings {
        properties.set(key, value, Origin::BuiltIn);
    }
    Config::load(&properties).expect("good settings").0
}

impl Node {
    pub fn new(
        id: i32,
        network: &Arc<SimulatedNetwork>,
        clock: &Clock,
        rng: &Rng,
        links: &Arc<Links>,
        controller: &Arc<Controller>,
    ) -> Node {
        let disk = MemoryDisk::new(clock.clone());
        disk.create_dir(&PathBuf::from("/data")).expect("an empty disk");
        let mut node = Node {
            id,
            disk,
            network: network.clone(),
            clock: clock.clone(),
            rng: Rng::from_seed(rng.next_u64()),
            links: links.clone(),
            controller: controller.clone(),
            alive: None,
        };
        node.start();
        node
    }

    pub fn id(&self) -> i32 {
        self.id
    }

    pub fn partition(&self, index: i32) -> Option<Arc<Partition>> {
        self.alive.as_ref()?.partitions.partition(TOPIC, index).ok()
    }

    /// Ends the process; with the power gone, too, what was not synced may be lost.
    pub fn kill(&mut self, power: bool) {
        let Some(alive) = self.alive.take() else { return };
        alive.fetchers.stop();
        alive.tasks.iter().for_each(JoinHandle::abort);
        if power {
            self.disk.crash(&self.rng);
        }
    }

    /// Starts it, if it does not run and reaches the controller.
    pub fn start(&mut self) {
        if self.alive.is_some() || !self.links.reaches_controller(self.id) {
            return;
        }
        let config = Arc::new(config(self.id));
        let (failures, _failed) = tokio::sync::mpsc::unbounded_channel();
        let dir = LogDir::new(PathBuf::from("/data"), Uuid([self.id as u8; 16]), failures);
        let spawner = Spawner::simulated();
        let partitions = Arc::new(Partitions::new(
            Settings { node_id: self.id, config, recovery_threads_per_dir: 1 },
            Doors { disk: self.disk.shared(), clock: self.clock.clone(), rng: self.rng.clone(), spawner },
            vec![dir],
        ));
        let network = Network::Simulated(self.network.clone());
        let peers = Peers::new(network.clone(), spawner, self.clock.clone(), self.rng.clone(), "sim");
        let to_controller = Arc::new(ToController(self.controller.clone(), self.id));
        let settings = FetchSettings {
            node: self.id,
            listener: "PLAINTEXT".to_owned(),
            cluster_id: CLUSTER.to_owned(),
            fetchers: 1,
            wait_max_ms: 200,
            min_bytes: 1,
            partition_max_bytes: 4096,
            response_max_bytes: 8192,
            backoff_ms: 100,
            timeout_ms: 500,
        };
        let epoch = to_controller.clone();
        let broker_epoch = Arc::new(move || epoch.broker_epoch());
        let fetchers =
            Fetchers::new(settings, partitions.clone(), peers, self.clock.clone(), spawner, broker_epoch);
        self.controller.registered(self.id, self.clock.now().mono_ms);
        let (metadata, mut loader) = empty();
        let log = self.controller.since(0);
        for (offset, records) in log.iter().enumerate() {
            loader.take(position(offset), records).expect("good records");
        }
        let follow = Follow { partitions: partitions.clone(), fetchers: fetchers.clone() };
        metadata.subscribe(Arc::new(follow), |image| partitions.load(image, &[false]));
        let (stop, shutdown) = channel();
        let proposals = partitions.take_proposals().expect("nobody took them");
        let address = SocketAddr::from(([127, 0, 0, 1], port(self.id)));
        let listener = network.listen(address, SocketOptions::default()).expect("the port is free");
        let server = Server {
            id: self.id,
            partitions: partitions.clone(),
            links: self.links.clone(),
            clock: self.clock.clone(),
        };
        let tasks = vec![
            tokio::spawn(propose(self.id, proposals, to_controller, self.clock.clone(), shutdown.clone())),
            tokio::spawn(watch_lag(partitions.clone(), LAG_MS, self.clock.clone(), shutdown)),
            tokio::spawn(server.accept(listener)),
        ];
        self.alive = Some(Alive { partitions, fetchers, loader, applied: log.len(), _stop: stop, tasks });
    }

    /// Takes what the controller has decided, if it is reached.
    pub fn follow(&mut self, controller: &Controller) {
        let Some(alive) = &mut self.alive else { return };
        if !self.links.reaches_controller(self.id) {
            return;
        }
        controller.heard(self.id, self.clock.now().mono_ms);
        // Sometimes late.
        if self.rng.below(3) == 0 {
            return;
        }
        for records in controller.since(alive.applied) {
            alive.loader.take(position(alive.applied), &records).expect("good records");
            alive.applied += 1;
        }
    }

    fn bytes(&self, index: i32, below: i64) -> Vec<u8> {
        let Some(partition) = self.partition(index) else { return Vec::new() };
        let (mut bytes, mut from) = (Vec::new(), partition.log().start_offset());
        while from < below {
            let slice = partition.log().read(from, 1 << 20, true, below).expect("it is there");
            let read = slice.chunk.load().expect("its files are there");
            let Some(last) = Batches::new(&read).filter_map(Result::ok).last() else { break };
            from = last.header().next_offset();
            bytes.extend_from_slice(&read);
        }
        bytes
    }

    /// First offset, epoch and checksum of each batch below an offset.
    pub fn batches(&self, index: i32, below: i64) -> Vec<(i64, i32, u32)> {
        let bytes = self.bytes(index, below);
        let batches = Batches::new(&bytes).map(|batch| *batch.expect("a good batch").header());
        batches.map(|header| (header.base_offset, header.leader_epoch, header.crc)).collect()
    }

    /// The value at an offset.
    pub fn value(&self, index: i32, offset: i64) -> Option<String> {
        let partition = self.partition(index)?;
        let slice = partition.log().read(offset, 1, true, offset + 1).ok()?;
        let records = records_of(&slice.chunk.load().ok()?);
        records.into_iter().find(|(at, _)| *at == offset).map(|(_, value)| value)
    }
}

/// Offsets and values.
pub fn records_of(bytes: &[u8]) -> Vec<(i64, String)> {
    let mut found = Vec::new();
    for batch in Batches::new(bytes) {
        let batch = batch.expect("a good batch");
        let mut scratch = Scratch::default();
        let records = batch.records(&mut scratch, Caps::default()).expect("records");
        for record in records {
            let record = record.expect("a record");
            let value = String::from_utf8_lossy(record.value.unwrap_or_default()).into_owned();
            found.push((batch.header().base_offset + i64::from(record.offset_delta), value));
        }
    }
    found
}

/// Writes an answer's body.
type Encode = Box<dyn FnOnce(&mut Writer<'_>) + Send>;

#[derive(Clone)]
struct Server {
    id: i32,
    partitions: Arc<Partitions>,
    links: Arc<Links>,
    clock: Clock,
}

impl Server {
    async fn accept(self, mut listener: barnabas::net::Listener) {
        let mut connections = tokio::task::JoinSet::new();
        loop {
            let Ok((stream, _)) = listener.accept().await else { return };
            let server = self.clone();
            connections.spawn(async move { server.serve(stream).await });
        }
    }

    async fn serve(self, mut stream: Stream) {
        let mut came = Vec::new();
        loop {
            let whole =
                came.split_first_chunk::<4>().map(|(length, _)| u32::from_be_bytes(*length) as usize + 4);
            if let Some(whole) = whole.filter(|whole| came.len() >= *whole) {
                let frame: Vec<u8> = came.drain(..whole).skip(4).collect();
                let Some(answer) = self.answer(&frame).await else {
                    // Lost on the way: nobody ever hears of it.
                    return std::future::pending().await;
                };
                if send(&mut stream, &answer).await.is_err() {
                    return;
                }
                continue;
            }
            let mut buffer = vec![0; 16 * 1024];
            match std::future::poll_fn(|cx| stream.poll_read(cx, &mut buffer)).await {
                Ok(0) | Err(_) => return,
                Ok(read) => came.extend_from_slice(&buffer[..read]),
            }
        }
    }

    async fn answer(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let (header, body) = RequestHeader::parse(frame).expect("a header");
        let version = header.version;
        let mut out = vec![0; 4];
        write_response_header(&mut out, header.api, version, header.correlation_id);
        let (from, response): (i32, Encode) = match header.api {
            ApiKey::ApiVersions => {
                let row = |api: ApiKey| {
                    let (min_version, max_version) = api.versions();
                    ApiVersion { api_key: api.key(), min_version, max_version }
                };
                let api_keys = [ApiKey::ApiVersions, ApiKey::Fetch, ApiKey::ListOffsets].map(row).to_vec();
                let response = ApiVersionsResponse { api_keys, ..ApiVersionsResponse::default() };
                (self.id, Box::new(move |w| response.encode(w)))
            }
            ApiKey::Fetch => {
                let request = FetchRequest::from_bytes(body, version).expect("a fetch");
                let from = request.replica_state.replica_id;
                if !self.links.passes(from, self.id) {
                    return None;
                }
                let response = self.fetch(&request).await;
                (from, Box::new(move |w| response.encode(w)))
            }
            ApiKey::ListOffsets => {
                let request = ListOffsetsRequest::from_bytes(body, version).expect("a request");
                let response = self.offsets(&request);
                (request.replica_id, Box::new(move |w| response.encode(w)))
            }
            other => panic!("{other} was not expected"),
        };
        let until = self.clock.now().mono_ms + self.links.delay_ms(self.id);
        self.clock.sleep_until(until).await;
        if !self.links.passes(self.id, from) {
            return None;
        }
        response(&mut Writer::new(&mut out, version));
        let length = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&length.to_be_bytes());
        Some(out)
    }

    /// Without sessions: every request says everything.
    async fn fetch(&self, request: &FetchRequest) -> FetchResponse {
        let deadline = self.clock.now().mono_ms + request.max_wait_ms as u64;
        let mut first = true;
        loop {
            let mut news = false;
            let mut responses = Vec::new();
            for topic in &request.topics {
                let read = topic.partitions.iter().map(|wanted| {
                    let data = self.read(request, topic.topic_id, wanted, first);
                    news |= data.error_code != 0
                        || data.diverging_epoch.epoch >= 0
                        || data.high_watermark > wanted.high_watermark
                        || data.records.as_ref().is_some_and(|records| !records.is_empty());
                    data
                });
                let partitions = read.collect();
                responses.push(FetchableTopicResponse {
                    topic_id: topic.topic_id,
                    partitions,
                    ..FetchableTopicResponse::default()
                });
            }
            if news || self.clock.now().mono_ms >= deadline {
                return FetchResponse { responses, ..FetchResponse::default() };
            }
            first = false;
            self.clock.sleep_until(self.clock.now().mono_ms + POLL_MS).await;
        }
    }

    fn read(
        &self,
        request: &FetchRequest,
        topic: Uuid,
        wanted: &FetchPartition,
        first: bool,
    ) -> PartitionData {
        let mut data = PartitionData { partition_index: wanted.partition, ..PartitionData::default() };
        assert_eq!(topic, TOPIC_ID);
        let state = &request.replica_state;
        let read = Read {
            offset: wanted.fetch_offset,
            max_bytes: wanted.partition_max_bytes as u64,
            min_one: true,
            isolation: Isolation::LogEnd,
            current_leader_epoch: wanted.current_leader_epoch,
            last_fetched_epoch: wanted.last_fetched_epoch,
        };
        let fetched = self.partitions.partition(TOPIC, wanted.partition).and_then(|partition| {
            partition.check_follower(state.replica_id, wanted.current_leader_epoch)?;
            let fetched = partition.read(&read)?;
            if first && fetched.diverging.is_none() {
                let fetch = FollowerFetch {
                    broker: state.replica_id,
                    broker_epoch: state.replica_epoch,
                    offset: wanted.fetch_offset,
                    log_start: wanted.log_start_offset,
                };
                partition.fetched_by(&fetch, self.clock.now().mono_ms)?;
            }
            Ok(fetched)
        });
        match fetched {
            Ok(fetched) => {
                data.high_watermark = fetched.high_watermark;
                data.log_start_offset = fetched.log_start_offset;
                data.records = Some(fetched.records.load().expect("its files are there"));
                if let Some(end) = fetched.diverging {
                    data.diverging_epoch = EpochEndOffset { epoch: end.epoch, end_offset: end.end_offset };
                }
            }
            Err(error) => data.error_code = code(&error).code(),
        }
        data
    }

    fn offsets(&self, request: &ListOffsetsRequest) -> ListOffsetsResponse {
        let topics = request.topics.iter().map(|topic| {
            let partitions = topic.partitions.iter().map(|wanted| {
                let partition_index = wanted.partition_index;
                let answer = ListOffsetsPartitionResponse { partition_index, ..Default::default() };
                let found = self.partitions.partition(TOPIC, partition_index).and_then(|partition| {
                    partition.check_epoch(wanted.current_leader_epoch)?;
                    let log = partition.log();
                    Ok(if wanted.timestamp == -1 { log.end_offset() } else { log.start_offset() })
                });
                match found {
                    Ok(offset) => ListOffsetsPartitionResponse { offset, ..answer },
                    Err(error) => ListOffsetsPartitionResponse { error_code: code(&error).code(), ..answer },
                }
            });
            ListOffsetsTopicResponse { name: topic.name.clone(), partitions: partitions.collect() }
        });
        ListOffsetsResponse { topics: topics.collect(), ..ListOffsetsResponse::default() }
    }
}

fn code(error: &barnabas::partition::PartitionError) -> ErrorCode {
    barnabas::handlers::partition_error(error)
}

async fn send(stream: &mut Stream, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let sent = std::future::poll_fn(|cx| stream.poll_write(cx, &[IoSlice::new(bytes)])).await?;
        bytes = &bytes[sent..];
    }
    Ok(())
}
