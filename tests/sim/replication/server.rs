//! A broker's server for followers: it answers as the handlers do, without sessions.

use std::io::IoSlice;
use std::sync::Arc;

use barnabas::clock::Clock;
use barnabas::ids::Uuid;
use barnabas::net::Stream;
use barnabas::partition::{FollowerFetch, Isolation, Partitions, Read};
use barnabas_protocol::codec::Writer;
use barnabas_protocol::header::{RequestHeader, write_response_header};
use barnabas_protocol::messages::api_versions::ApiVersion;
use barnabas_protocol::messages::fetch::{
    EpochEndOffset, FetchPartition, FetchableTopicResponse, PartitionData,
};
use barnabas_protocol::messages::list_offsets::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use barnabas_protocol::messages::{
    ApiVersionsResponse, FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse, Message,
};
use barnabas_protocol::{ApiKey, ErrorCode};

use super::controller::{TOPIC, TOPIC_ID};
use super::links::Links;

/// A follower's fetch is answered at the latest after so many ms.
const POLL_MS: u64 = 20;

/// Writes an answer's body.
type Encode = Box<dyn FnOnce(&mut Writer<'_>) + Send>;

/// See the module.
#[derive(Clone)]
pub struct Server {
    pub id: i32,
    pub partitions: Arc<Partitions>,
    pub links: Arc<Links>,
    pub clock: Clock,
}

impl Server {
    pub async fn accept(self, mut listener: barnabas::net::Listener) {
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
                self.travel(from, self.id).await?;
                let response = self.fetch(&request).await;
                (from, Box::new(move |w| response.encode(w)))
            }
            ApiKey::ListOffsets => {
                let request = ListOffsetsRequest::from_bytes(body, version).expect("a request");
                self.travel(request.replica_id, self.id).await?;
                let response = self.offsets(&request);
                (request.replica_id, Box::new(move |w| response.encode(w)))
            }
            other => panic!("{other} was not expected"),
        };
        self.travel(self.id, from).await?;
        response(&mut Writer::new(&mut out, version));
        let length = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&length.to_be_bytes());
        Some(out)
    }

    /// Waits until something that was sent arrives; `None` if it never does.
    async fn travel(&self, from: i32, to: i32) -> Option<()> {
        self.clock.sleep_until(self.clock.now().mono_ms + self.links.delay_ms(from, to)).await;
        while self.links.is_paused(from) || self.links.is_paused(to) {
            self.clock.sleep_until(self.clock.now().mono_ms + POLL_MS).await;
        }
        self.links.passes(from, to).then_some(())
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
