//! The task that copies from one leader.

use std::collections::BTreeMap;
use std::sync::Arc;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::fetch::{
    FetchPartition, FetchTopic, ForgottenTopic, PartitionData, ReplicaState,
};
use barnabas_protocol::messages::list_offsets::{ListOffsetsPartition, ListOffsetsTopic};
use barnabas_protocol::messages::{FetchRequest, FetchResponse, ListOffsetsRequest};
use tokio::sync::mpsc;
use tracing::{debug, info, warn};

use super::fetchers::Common;
use super::session::{Ask, Key, Plan, Session};
use crate::partition::{LeaderState, Partition, PartitionError, Truncated};
use crate::peer::{Peer, PeerError};

/// Topics go by id from here on.
const FIRST_VERSION: i16 = 13;
const LAST_VERSION: i16 = 18;
/// ListOffsets: the end and the start.
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
/// The first pause after a failure, in ms; each further one is twice as long, up to `replica.fetch.backoff.ms`. Most
/// failures are of a leader that has not heard yet that it leads.
const FIRST_REST_MS: u64 = 20;

/// What a fetcher is told.
pub(super) enum Order {
    /// Copies a partition in a leader epoch.
    Follow { key: Key, partition: Arc<Partition>, epoch: i32 },
    /// Does so no more.
    Leave { key: Key },
}

struct Copying {
    partition: Arc<Partition>,
    epoch: i32,
    /// Not asked for before this monotonic ms.
    rests_until_ms: u64,
    /// The last pause, in ms; 0 after a success.
    rested_ms: u64,
}

impl Copying {
    fn new(partition: Arc<Partition>, epoch: i32) -> Copying {
        Copying { partition, epoch, rests_until_ms: 0, rested_ms: 0 }
    }
}

/// What is to be done about a partition after an answer.
#[derive(Clone, Copy)]
enum Next {
    /// It goes on.
    Go,
    /// After a pause.
    Rest,
    /// Its offset is not in the leader's log.
    OutOfRange,
    /// Never again in this epoch.
    End,
}

/// See the module.
pub(super) struct Fetcher {
    common: Common,
    leader: i32,
    peer: Peer,
    orders: mpsc::UnboundedReceiver<Order>,
    copying: BTreeMap<Key, Copying>,
    session: Session,
    /// The last request failed: said once.
    failing: bool,
}

impl Fetcher {
    pub(super) fn new(
        common: Common,
        leader: i32,
        peer: Peer,
        orders: mpsc::UnboundedReceiver<Order>,
    ) -> Fetcher {
        let (copying, session) = (BTreeMap::new(), Session::default());
        Fetcher { common, leader, peer, orders, copying, session, failing: false }
    }

    /// Copies until nobody gives orders any more.
    pub(super) async fn run(mut self) {
        loop {
            while let Ok(order) = self.orders.try_recv() {
                self.obey(order);
            }
            let now_ms = self.common.clock.now().mono_ms;
            let wanted = self.wanted(now_ms);
            if wanted.is_empty() {
                let next = self.copying.values().map(|copying| copying.rests_until_ms).min();
                let clock = self.common.clock.clone();
                tokio::select! {
                    biased;
                    order = self.orders.recv() => match order {
                        Some(order) => self.obey(order),
                        None => return,
                    },
                    () = clock.sleep_until(next.unwrap_or(u64::MAX)) => {}
                }
                continue;
            }
            let plan = self.session.plan(&wanted);
            let request = self.request(&plan);
            let (peer, timeout_ms) = (self.peer.clone(), self.common.settings.timeout_ms);
            let mut fetch =
                std::pin::pin!(peer.ask_within(&request, FIRST_VERSION..=LAST_VERSION, timeout_ms));
            let answer = loop {
                tokio::select! {
                    biased;
                    order = self.orders.recv() => match order {
                        Some(order) => self.obey(order),
                        None => return,
                    },
                    answer = &mut fetch => break answer,
                }
            };
            self.answered(&wanted, answer).await;
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Follow { key, partition, epoch } => {
                self.copying.insert(key, Copying::new(partition, epoch));
            }
            Order::Leave { key } => {
                self.copying.remove(&key);
            }
        }
    }

    fn wanted(&self, now_ms: u64) -> BTreeMap<Key, Ask> {
        let awake = self.copying.iter().filter(|(_, copying)| copying.rests_until_ms <= now_ms);
        let ask = |copying: &Copying| {
            let (offset, last_epoch) = copying.partition.end_of_copy();
            Ask {
                epoch: copying.epoch,
                offset,
                last_epoch: last_epoch.unwrap_or(-1),
                log_start: copying.partition.log().start_offset(),
                high_watermark: copying.partition.high_watermark(),
            }
        };
        awake.map(|(key, copying)| (*key, ask(copying))).collect()
    }

    fn request(&self, plan: &Plan) -> FetchRequest {
        let settings = &self.common.settings;
        let mut topics: Vec<FetchTopic> = Vec::new();
        for ((topic_id, partition), ask) in &plan.asks {
            if topics.last().is_none_or(|topic| topic.topic_id != *topic_id) {
                topics.push(FetchTopic { topic_id: *topic_id, ..FetchTopic::default() });
            }
            let Some(topic) = topics.last_mut() else { continue };
            topic.partitions.push(FetchPartition {
                partition: *partition,
                current_leader_epoch: ask.epoch,
                fetch_offset: ask.offset,
                last_fetched_epoch: ask.last_epoch,
                log_start_offset: ask.log_start,
                partition_max_bytes: settings.partition_max_bytes,
                high_watermark: ask.high_watermark,
                ..FetchPartition::default()
            });
        }
        let mut forgotten: Vec<ForgottenTopic> = Vec::new();
        for (topic_id, partition) in &plan.forgotten {
            match forgotten.last_mut().filter(|topic| topic.topic_id == *topic_id) {
                Some(topic) => topic.partitions.push(*partition),
                None => forgotten.push(ForgottenTopic {
                    topic_id: *topic_id,
                    partitions: vec![*partition],
                    ..ForgottenTopic::default()
                }),
            }
        }
        FetchRequest {
            replica_id: settings.node,
            replica_state: ReplicaState {
                replica_id: settings.node,
                replica_epoch: (self.common.broker_epoch)(),
            },
            max_wait_ms: settings.wait_max_ms,
            min_bytes: settings.min_bytes,
            max_bytes: settings.response_max_bytes,
            session_id: plan.session_id,
            session_epoch: plan.session_epoch,
            topics,
            forgotten_topics_data: forgotten,
            ..FetchRequest::default()
        }
    }

    async fn answered(&mut self, asked: &BTreeMap<Key, Ask>, answer: Result<FetchResponse, PeerError>) {
        let response = match answer {
            Ok(response) => response,
            Err(error) => {
                self.session.lost();
                self.all_rest(asked, &error);
                return;
            }
        };
        let code = ErrorCode::from_code(response.error_code).unwrap_or(ErrorCode::UnknownServerError);
        if !code.is_none() {
            if !self.session.refused(code) {
                self.all_rest(asked, &code.name());
            }
            return;
        }
        self.failing = false;
        self.session.answered(response.session_id);
        let spawner = self.common.spawner;
        let lost = spawner.in_place(|| self.take(asked, response));
        for key in lost {
            let next = self.find_place(key).await;
            self.settle(key, next);
        }
    }

    /// Nothing is known of what the leader would have said.
    fn all_rest(&mut self, asked: &BTreeMap<Key, Ask>, why: &dyn std::fmt::Display) {
        if !std::mem::replace(&mut self.failing, true) {
            info!(leader = self.leader, "cannot fetch, partitions are not copied meanwhile: {why}");
        }
        for key in asked.keys() {
            self.settle(*key, Next::Rest);
        }
    }

    /// Takes everything that came; gives the partitions whose offset is not in the leader's log.
    fn take(&mut self, asked: &BTreeMap<Key, Ask>, response: FetchResponse) -> Vec<Key> {
        let mut lost = Vec::new();
        for topic in response.responses {
            for data in topic.partitions {
                let key = (topic.topic_id, data.partition_index);
                let (Some(ask), Some(copying)) = (asked.get(&key), self.copying.get(&key)) else { continue };
                // What was asked for before the leader changed is no answer to what is wanted now.
                if ask.epoch != copying.epoch || ask.offset != copying.partition.log().end_offset() {
                    continue;
                }
                match self.take_one(copying, &data) {
                    Next::OutOfRange => lost.push(key),
                    next => self.settle(key, next),
                }
            }
        }
        lost
    }

    fn take_one(&self, copying: &Copying, data: &PartitionData) -> Next {
        let id = copying.partition.id();
        let code = ErrorCode::from_code(data.error_code).unwrap_or(ErrorCode::UnknownServerError);
        match code {
            ErrorCode::None => {}
            ErrorCode::OffsetOutOfRange => return Next::OutOfRange,
            ErrorCode::FencedLeaderEpoch => {
                debug!(partition = %id, "the leader has a newer epoch: the metadata will say which");
                return Next::End;
            }
            ErrorCode::UnknownLeaderEpoch
            | ErrorCode::NotLeaderOrFollower
            | ErrorCode::UnknownTopicOrPartition
            | ErrorCode::UnknownTopicId
            | ErrorCode::InconsistentTopicId => {
                debug!(partition = %id, code = code.name(), "not copied for now");
                return Next::Rest;
            }
            other => {
                warn!(partition = %id, leader = self.leader, "the leader does not serve it: {}", other.name());
                return Next::Rest;
            }
        }
        let now = self.common.clock.now();
        if data.diverging_epoch.epoch >= 0 {
            let theirs = (data.diverging_epoch.epoch, data.diverging_epoch.end_offset);
            let truncated = copying.partition.truncate_diverging(copying.epoch, theirs, now);
            return self.reshaped(copying, "the leader's log is another", truncated);
        }
        let leader = LeaderState {
            epoch: copying.epoch,
            high_watermark: data.high_watermark,
            log_start: data.log_start_offset,
        };
        let records = data.records.as_deref().unwrap_or_default();
        match copying.partition.copy(records, leader, now) {
            Ok(_) => Next::Go,
            Err(error) => self.failed(copying, &error),
        }
    }

    fn failed(&self, copying: &Copying, error: &PartitionError) -> Next {
        match error {
            // Somebody else leads by now, or the directory has failed, which is told elsewhere.
            PartitionError::NotLeader | PartitionError::Offline | PartitionError::UnknownTopicOrPartition => {
                Next::End
            }
            other => {
                warn!(partition = %copying.partition.id(), leader = self.leader, "not copied: {other}");
                Next::Rest
            }
        }
    }

    fn reshaped(&self, copying: &Copying, why: &str, result: Result<Truncated, PartitionError>) -> Next {
        match result {
            Ok(truncated) => {
                let (id, end) = (copying.partition.id(), truncated.end);
                info!(partition = %id, leader = self.leader, "{why}: cut at offset {end}");
                if truncated.recovery_point_moved {
                    self.common.partitions.note_truncation(&copying.partition);
                }
                Next::Go
            }
            Err(error) => self.failed(copying, &error),
        }
    }

    fn settle(&mut self, key: Key, next: Next) {
        let Some(copying) = self.copying.get_mut(&key) else { return };
        match next {
            Next::Go => copying.rested_ms = 0,
            Next::Rest | Next::OutOfRange => {
                let pause_ms = copying.rested_ms.saturating_mul(2).max(FIRST_REST_MS);
                copying.rested_ms = pause_ms.min(self.common.settings.backoff_ms);
                let now_ms = self.common.clock.now().mono_ms;
                copying.rests_until_ms = now_ms.saturating_add(copying.rested_ms);
            }
            Next::End => {
                self.copying.remove(&key);
            }
        }
    }

    /// The offset is not in the leader's log: it ends before, or begins after.
    async fn find_place(&mut self, key: Key) -> Next {
        let Some(copying) = self.copying.get(&key) else { return Next::End };
        let (partition, epoch) = (copying.partition.clone(), copying.epoch);
        let Some(leader_end) = self.offset_of(&partition, epoch, LATEST).await else { return Next::Rest };
        let end = partition.log().end_offset();
        let (spawner, now) = (self.common.spawner, self.common.clock.now());
        if leader_end < end {
            warn!(partition = %partition.id(), end, leader_end, "the leader has less: records are lost");
            let cut = spawner.in_place(|| partition.truncate(epoch, leader_end, now));
            return self.reshaped(&Copying::new(partition, epoch), "the leader has less", cut);
        }
        let Some(leader_start) = self.offset_of(&partition, epoch, EARLIEST).await else { return Next::Rest };
        if leader_start <= end {
            return Next::Go;
        }
        let begun = spawner.in_place(|| partition.restart(epoch, leader_start, now));
        let copying = Copying::new(partition, epoch);
        self.reshaped(&copying, "the leader no longer has what follows", begun)
    }

    async fn offset_of(&self, partition: &Partition, epoch: i32, timestamp: i64) -> Option<i64> {
        let wanted = ListOffsetsPartition {
            partition_index: partition.id().partition,
            current_leader_epoch: epoch,
            timestamp,
        };
        let request = ListOffsetsRequest {
            replica_id: self.common.settings.node,
            topics: vec![ListOffsetsTopic {
                name: partition.id().topic.to_string(),
                partitions: vec![wanted],
            }],
            ..ListOffsetsRequest::default()
        };
        let response = self.peer.ask(&request, self.common.settings.timeout_ms).await.ok()?;
        let found = response.topics.first()?.partitions.first()?;
        (found.error_code == 0 && found.offset >= 0).then_some(found.offset)
    }
}
