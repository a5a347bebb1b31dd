//! A node that does not vote follows the metadata log as Kafka's brokers do: it fetches from the active controller,
//! keeps a copy, and loads what the leader's high watermark says is committed.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::fetch::{
    FetchPartition, FetchTopic, NodeEndpoint, PartitionData, ReplicaState,
};
use barnabas_protocol::messages::fetch_snapshot::{
    RequestPartitionSnapshot, RequestTopicSnapshot, ResponsePartitionSnapshot, SnapshotId as WireId,
};
use barnabas_protocol::messages::{FetchRequest, FetchResponse, FetchSnapshotRequest};
use bytes::BytesMut;
use tokio::sync::watch;

use super::driver::Doors;
use super::error::ControllerError;
use super::leadership::Leadership;
use super::metadata::{Loader, Metadata};
use super::metadata_log::{Copy, Opening, SnapshotId, TOPIC_ID, TOPIC_NAME};
use crate::ids::Uuid;
use crate::peer::{Address, Peer, PeerError, Peers};
use crate::shutdown::Shutdown;
use crate::storage::EpochEnd;

/// How long the leader may hold a fetch that finds nothing new, in ms, as Kafka's brokers say it.
const MAX_WAIT_MS: i32 = 500;
/// The most bytes of one answer, as Kafka's brokers say it.
const FETCH_BYTES: i32 = 8 * 1024 * 1024;
/// How long an answer may take, in ms (`controller.quorum.request.timeout.ms`).
const TIMEOUT_MS: u64 = 2000;
/// The pause after something went wrong, in ms (`controller.quorum.retry.backoff.ms`).
const BACKOFF_MS: u64 = 20;
/// The pause after a refusal that only somebody's hand can change, in ms.
const REFUSED_MS: u64 = 1000;

/// What an observer is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The metadata directory's id.
    pub directory: Uuid,
    /// `metadata.log.max.record.bytes.between.snapshots`.
    pub snapshot_bytes: u64,
}

/// Follows the metadata log.
pub struct Observer {
    node: i32,
    cluster_id: String,
    settings: Settings,
    copy: Copy,
    loader: Loader,
    metadata: Metadata,
    peers: Peers,
    leadership: Leadership,
    doors: Doors,
    caught_up: watch::Sender<bool>,
    /// Where the last question went.
    connection: Option<(Address, Peer)>,
    /// Whom to ask next while nobody is known to lead.
    candidate: usize,
    high_watermark: i64,
}

/// When the next question is due.
enum Next {
    Now,
    After(u64),
}

impl Observer {
    /// Opens the copy. The image is what its newest snapshot says, until a leader was heard. Blocks.
    ///
    /// # Errors
    /// The copy is damaged in a way that a crash cannot explain, or the disk failed.
    pub fn open(
        opening: &Opening,
        settings: Settings,
        peers: Peers,
        leadership: Leadership,
        doors: Doors,
    ) -> Result<(Observer, Metadata), ControllerError> {
        let (copy, hard) = Copy::open(opening, doors.clock.now())?;
        let metadata = Metadata::new(hard.image.clone());
        let (caught_up, _) = watch::channel(false);
        let observer = Observer {
            node: opening.node,
            cluster_id: opening.cluster_id.clone(),
            settings,
            copy,
            loader: Loader::new(hard, metadata.clone()),
            metadata: metadata.clone(),
            peers,
            leadership,
            doors,
            caught_up,
            connection: None,
            candidate: 0,
            high_watermark: -1,
        };
        Ok((observer, metadata))
    }

    /// True from when everything was loaded that a leader had called committed.
    pub fn caught_up(&self) -> watch::Receiver<bool> {
        self.caught_up.subscribe()
    }

    /// Follows until the wish to stop comes, or the copy fails: then the subscriber is told.
    pub async fn run(mut self, mut shutdown: Shutdown) {
        loop {
            let next = tokio::select! {
                biased;
                () = shutdown.requested() => break,
                next = self.round() => next,
            };
            match next {
                Ok(Next::Now) => {}
                Ok(Next::After(pause_ms)) => {
                    let until = self.doors.clock.now().mono_ms.saturating_add(pause_ms);
                    tokio::select! {
                        biased;
                        () = shutdown.requested() => break,
                        () = self.doors.clock.sleep_until(until) => {}
                    }
                }
                Err(error) => return self.metadata.fail(&error),
            }
        }
        let closed = self.doors.spawner.in_place(|| self.copy.close());
        if let Err(error) = closed {
            tracing::warn!(%error, "the copy of the metadata log was not closed in order");
        }
    }

    /// One question and what its answer means.
    async fn round(&mut self) -> Result<Next, ControllerError> {
        let Some((address, peer)) = self.whom() else { return Ok(Next::After(REFUSED_MS)) };
        let timeout_ms = TIMEOUT_MS.saturating_add(u64::from(MAX_WAIT_MS.unsigned_abs()));
        match peer.ask(&self.question(), timeout_ms).await {
            Ok(response) => self.answered(&address, &peer, response).await,
            Err(error) => Ok(self.unanswered(&address, &error)),
        }
    }

    /// The leader if it is known, else whoever may know it, one after the other.
    fn whom(&mut self) -> Option<(Address, Peer)> {
        let leader = self.leadership.get().and_then(|leader| leader.address);
        let address = leader.or_else(|| {
            let candidates = self.leadership.candidates();
            candidates.get(self.candidate.checked_rem(candidates.len())?).cloned()
        })?;
        let peer = match self.connection.take() {
            Some((to, peer)) if to == address => peer,
            _ => self.peers.open(address.clone()),
        };
        self.connection = Some((address.clone(), peer.clone()));
        Some((address, peer))
    }

    fn question(&self) -> FetchRequest {
        let (fetch_offset, last_fetched_epoch) = self.copy.end();
        let partition = FetchPartition {
            partition: 0,
            current_leader_epoch: self.copy.leader().0,
            fetch_offset,
            last_fetched_epoch,
            log_start_offset: -1,
            partition_max_bytes: 0,
            replica_directory_id: self.settings.directory,
            high_watermark: self.high_watermark,
        };
        let topic = FetchTopic { topic: String::new(), topic_id: TOPIC_ID, partitions: vec![partition] };
        FetchRequest {
            max_wait_ms: MAX_WAIT_MS,
            min_bytes: 0,
            max_bytes: FETCH_BYTES,
            topics: vec![topic],
            cluster_id: Some(self.cluster_id.clone()),
            replica_state: ReplicaState { replica_id: self.node, replica_epoch: -1 },
            ..Default::default()
        }
    }

    fn unanswered(&mut self, address: &Address, error: &PeerError) -> Next {
        tracing::debug!(%address, %error, "no answer about the metadata log");
        self.somebody_else();
        Next::After(BACKOFF_MS)
    }

    /// The one that was asked does not lead, or does not answer.
    fn somebody_else(&mut self) {
        self.leadership.lost();
        self.candidate = self.candidate.wrapping_add(1);
    }

    async fn answered(
        &mut self,
        address: &Address,
        peer: &Peer,
        response: FetchResponse,
    ) -> Result<Next, ControllerError> {
        if let Some(next) = self.refused(address, response.error_code) {
            return Ok(next);
        }
        let topic = response.responses.into_iter().next();
        let Some(partition) = topic.and_then(|topic| topic.partitions.into_iter().next()) else {
            self.somebody_else();
            return Ok(Next::After(REFUSED_MS));
        };
        let leads = partition.error_code == ErrorCode::None.code();
        self.hear_of_leader(&partition, &response.node_endpoints, address, leads)?;
        if !leads {
            let told = self.leadership.get().is_some_and(|leader| leader.address.is_some());
            if !told {
                self.somebody_else();
            }
            return Ok(Next::After(BACKOFF_MS));
        }
        if partition.snapshot_id.end_offset >= 0 {
            let PartitionData { snapshot_id, .. } = partition;
            let id = SnapshotId { offset: snapshot_id.end_offset, epoch: snapshot_id.epoch };
            return self.fetch_snapshot(address, peer, id).await;
        }
        self.doors.spawner.in_place(|| take(&mut self.copy, &mut self.loader, &partition, &self.doors))?;
        self.high_watermark = partition.high_watermark.max(self.high_watermark);
        if partition.diverging_epoch.end_offset < 0 && self.copy.end().0 >= self.high_watermark {
            self.caught_up.send_if_modified(|caught_up| !std::mem::replace(caught_up, true));
        }
        let (copy, image, now) = (&mut self.copy, self.metadata.image(), self.doors.clock.now());
        let bytes = self.settings.snapshot_bytes;
        self.doors.spawner.in_place(|| copy.snapshot_if_due(&image, bytes, now))?;
        Ok(Next::Now)
    }

    /// A whole answer that is an error.
    fn refused(&mut self, address: &Address, code: i16) -> Option<Next> {
        match ErrorCode::from_code(code) {
            Some(ErrorCode::None) => return None,
            Some(ErrorCode::InconsistentClusterId) => tracing::error!(
                %address, cluster_id = %self.cluster_id,
                "the controller belongs to another cluster: see controller.quorum.bootstrap.servers, and cluster.id in this node's meta.properties"
            ),
            code => tracing::warn!(%address, ?code, "the controller refuses to give the metadata log"),
        }
        self.somebody_else();
        Some(Next::After(REFUSED_MS))
    }

    fn hear_of_leader(
        &mut self,
        partition: &PartitionData,
        endpoints: &[NodeEndpoint],
        asked: &Address,
        leads: bool,
    ) -> Result<(), ControllerError> {
        let told = &partition.current_leader;
        if told.leader_epoch < 0 {
            return Ok(());
        }
        let leader = Some(told.leader_id).filter(|id| *id >= 0);
        let copy = &mut self.copy;
        if self.doors.spawner.in_place(|| copy.follow(told.leader_epoch, leader))? {
            tracing::info!(epoch = told.leader_epoch, leader = told.leader_id, "the metadata log is led by");
        }
        let at = leader.map(|id| {
            let named = endpoints.iter().find(|endpoint| endpoint.node_id == id);
            let named = named.and_then(|endpoint| {
                let port = u16::try_from(endpoint.port).ok()?;
                Some(Address { host: endpoint.host.clone(), port })
            });
            (id, named.or_else(|| leads.then(|| asked.clone())))
        });
        self.leadership.set(told.leader_epoch, at);
        Ok(())
    }

    /// Fetches a whole snapshot, part by part, and begins from it.
    async fn fetch_snapshot(
        &mut self,
        address: &Address,
        peer: &Peer,
        id: SnapshotId,
    ) -> Result<Next, ControllerError> {
        tracing::info!(offset = id.offset, epoch = id.epoch, "fetching a snapshot of the metadata log");
        let mut bytes = BytesMut::new();
        loop {
            let position = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            let response = match peer.ask(&self.snapshot_question(id, position), TIMEOUT_MS).await {
                Ok(response) => response,
                Err(error) => return Ok(self.unanswered(address, &error)),
            };
            if let Some(next) = self.refused(address, response.error_code) {
                return Ok(next);
            }
            let part = response.topics.into_iter().flat_map(|topic| topic.partitions).next();
            let Some(part) = part.filter(|part| part.error_code == ErrorCode::None.code()) else {
                // Another leader, or a newer snapshot: the next fetch tells.
                return Ok(Next::After(BACKOFF_MS));
            };
            let ResponsePartitionSnapshot { size, unaligned_records, .. } = part;
            bytes.extend_from_slice(&unaligned_records);
            if i64::try_from(bytes.len()).is_ok_and(|length| length >= size) {
                break;
            }
            if unaligned_records.is_empty() {
                return Ok(Next::After(BACKOFF_MS));
            }
        }
        let (copy, loader, now) = (&mut self.copy, &mut self.loader, self.doors.clock.now());
        self.doors.spawner.in_place(|| copy.install(id, &bytes, now, loader))?;
        Ok(Next::Now)
    }

    fn snapshot_question(&self, id: SnapshotId, position: i64) -> FetchSnapshotRequest {
        let partition = RequestPartitionSnapshot {
            partition: 0,
            current_leader_epoch: self.copy.leader().0,
            snapshot_id: WireId { end_offset: id.offset, epoch: id.epoch },
            position,
            replica_directory_id: self.settings.directory,
        };
        let topic = RequestTopicSnapshot { name: TOPIC_NAME.to_owned(), partitions: vec![partition] };
        FetchSnapshotRequest {
            replica_id: self.node,
            max_bytes: FETCH_BYTES,
            topics: vec![topic],
            cluster_id: Some(self.cluster_id.clone()),
        }
    }
}

/// Takes in what the leader sent.
fn take(
    copy: &mut Copy,
    loader: &mut Loader,
    partition: &PartitionData,
    doors: &Doors,
) -> Result<(), ControllerError> {
    let now = doors.clock.now();
    let diverging = &partition.diverging_epoch;
    if diverging.end_offset >= 0 {
        return copy.cut_back(EpochEnd { epoch: diverging.epoch, end_offset: diverging.end_offset }, now);
    }
    if let Some(records) = partition.records.as_ref().filter(|records| !records.is_empty()) {
        copy.append(&mut BytesMut::from(&records[..]), now)?;
    }
    copy.load(partition.high_watermark, loader)
}
