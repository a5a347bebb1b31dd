//! A controller that follows simple rules at once: it registers, fences, elects and changes in-sync sets.

use std::collections::BTreeMap;
use std::sync::Arc;

use barnabas::controller::image::PartitionImage;
use barnabas::controller::record::Record;
use barnabas::controller::state::Hard;
use barnabas::controller::{Image, Loader, Metadata, Position};
use barnabas::ids::Uuid;
use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::alter_partition::{ResponsePartitionData, ResponseTopicData};
use barnabas_protocol::messages::records::metadata::{
    BrokerEndpoint, BrokerRegistrationChangeRecord, PartitionChangeRecord, PartitionRecord,
    RegisterBrokerRecord, TopicRecord,
};
use barnabas_protocol::messages::{AlterPartitionRequest, AlterPartitionResponse};
use parking_lot::Mutex;

use super::NODES;
use super::links::Links;
use super::node::port;

pub const CLUSTER: &str = "sim";
pub const TOPIC: &str = "t";
pub const TOPIC_ID: Uuid = Uuid([7; 16]);
/// A broker that is not heard of for so long is fenced, ms.
const SESSION_MS: u64 = 900;

struct State {
    loader: Loader,
    metadata: Metadata,
    /// Committed batches; a batch's number is its offset.
    log: Vec<Vec<Record>>,
    heard_ms: BTreeMap<i32, u64>,
}

pub struct Controller {
    state: Mutex<State>,
    links: Arc<Links>,
}

/// An image with nothing in it, and what makes it grow.
pub fn empty() -> (Metadata, Loader) {
    let image = Image::empty(CLUSTER, 1);
    let metadata = Metadata::new(image.clone());
    (metadata.clone(), Loader::new(Hard::new(image), metadata))
}

pub fn position(offset: usize) -> Position {
    Position { offset: offset as i64, epoch: 1, timestamp_ms: 0 }
}

impl State {
    fn write(&mut self, records: Vec<Record>) {
        let at = position(self.log.len());
        self.loader.take(at, &records).expect("good records");
        self.log.push(records);
    }

    fn partitions(&self) -> Vec<Arc<PartitionImage>> {
        let image = self.metadata.image();
        image.topic(TOPIC).map(|topic| topic.partitions().to_vec()).unwrap_or_default()
    }

    fn epoch_of(&self, broker: i32) -> i64 {
        self.metadata.image().broker(broker).map_or(-1, |broker| broker.epoch)
    }

    fn is_fenced(&self, broker: i32) -> bool {
        self.metadata.image().broker(broker).is_none_or(|broker| broker.fenced)
    }

    fn set_fenced(&mut self, broker_id: i32, fenced: i8) {
        let broker_epoch = self.epoch_of(broker_id);
        let change = BrokerRegistrationChangeRecord {
            broker_id,
            broker_epoch,
            fenced,
            ..BrokerRegistrationChangeRecord::default()
        };
        self.write(vec![change.into()]);
    }

    /// Puts leaders where there are none, out of those in sync that live.
    fn elect(&mut self) {
        for partition in self.partitions() {
            let alive: Vec<i32> =
                partition.isr.iter().copied().filter(|broker| !self.is_fenced(*broker)).collect();
            // The last one in sync stays in the set, dead or not: only it surely has everything.
            let isr = if alive.is_empty() { partition.isr[..1].to_vec() } else { alive.clone() };
            let leads = alive.contains(&partition.leader);
            let leader = if leads { partition.leader } else { alive.first().copied().unwrap_or(-1) };
            if isr == partition.isr && leader == partition.leader {
                continue;
            }
            let change = PartitionChangeRecord {
                partition_id: partition.index,
                topic_id: TOPIC_ID,
                isr: Some(isr),
                leader: if leader == partition.leader { -2 } else { leader },
                ..PartitionChangeRecord::default()
            };
            self.write(vec![change.into()]);
        }
    }
}

impl Controller {
    pub fn new(partitions: i32, links: Arc<Links>) -> Arc<Controller> {
        let (metadata, loader) = empty();
        let mut state = State { loader, metadata, log: Vec::new(), heard_ms: BTreeMap::new() };
        for id in NODES {
            state.write(vec![registration(id, state.log.len() as i64)]);
            state.set_fenced(id, -1);
        }
        let mut topic: Vec<Record> = vec![TopicRecord { name: TOPIC.to_owned(), topic_id: TOPIC_ID }.into()];
        for index in 0..partitions {
            let mut replicas = NODES.to_vec();
            replicas.rotate_left(index as usize % NODES.len());
            topic.push(
                PartitionRecord {
                    partition_id: index,
                    topic_id: TOPIC_ID,
                    leader: replicas[0],
                    isr: replicas.clone(),
                    directories: vec![Uuid::ZERO; replicas.len()],
                    replicas,
                    leader_epoch: 0,
                    partition_epoch: 0,
                    ..PartitionRecord::default()
                }
                .into(),
            );
        }
        state.write(topic);
        Arc::new(Controller { state: Mutex::new(state), links })
    }

    /// A broker has started: everything it has to know comes from the log.
    pub fn registered(&self, id: i32, now_ms: u64) {
        let mut state = self.state.lock();
        if !state.is_fenced(id) {
            // Nobody knows yet that its last process has ended: it is in sync no more.
            state.set_fenced(id, 1);
            state.elect();
        }
        let epoch = state.log.len() as i64;
        state.write(vec![registration(id, epoch)]);
        state.set_fenced(id, -1);
        state.heard_ms.insert(id, now_ms);
        state.elect();
    }

    /// A broker's connection was closed.
    pub fn left(&self, id: i32) {
        let mut state = self.state.lock();
        if !state.is_fenced(id) {
            state.set_fenced(id, 1);
            state.elect();
        }
    }

    /// A broker that runs and is connected.
    pub fn heard(&self, id: i32, now_ms: u64) {
        let mut state = self.state.lock();
        state.heard_ms.insert(id, now_ms);
        if state.is_fenced(id) {
            state.set_fenced(id, -1);
            state.elect();
        }
    }

    pub fn tick(&self, now_ms: u64) {
        let mut state = self.state.lock();
        for id in NODES {
            let silent = state.heard_ms.get(&id).is_some_and(|heard| now_ms - heard > SESSION_MS);
            if silent && !state.is_fenced(id) {
                state.set_fenced(id, 1);
                state.elect();
            }
        }
    }

    /// The batches from an offset on.
    pub fn since(&self, offset: usize) -> Vec<Vec<Record>> {
        self.state.lock().log[offset..].to_vec()
    }

    pub fn epoch_of(&self, broker: i32) -> i64 {
        self.state.lock().epoch_of(broker)
    }

    pub fn in_sync(&self) -> Vec<(i32, Vec<i32>)> {
        let partitions = self.state.lock().partitions();
        partitions.iter().map(|partition| (partition.index, partition.isr.clone())).collect()
    }

    /// Each partition has somebody in sync besides this broker, and a leader.
    pub fn others_in_sync(&self, id: i32) -> bool {
        let state = self.state.lock();
        state
            .partitions()
            .iter()
            .all(|partition| partition.isr.iter().any(|broker| *broker != id && !state.is_fenced(*broker)))
    }

    pub fn all_in_sync(&self, nodes: &[i32]) -> bool {
        let partitions = self.state.lock().partitions();
        partitions.iter().all(|partition| partition.isr.len() == nodes.len() && partition.leader >= 0)
    }

    pub fn describe(&self) -> String {
        let state = self.state.lock();
        format!("{:?}", state.partitions())
    }

    /// AlterPartition, by Kafka's rules.
    pub fn alter(&self, request: &AlterPartitionRequest) -> Option<AlterPartitionResponse> {
        if !self.links.reaches_controller(request.broker_id) {
            return None;
        }
        let mut state = self.state.lock();
        if state.epoch_of(request.broker_id) != request.broker_epoch {
            let error_code = ErrorCode::StaleBrokerEpoch.code();
            return Some(AlterPartitionResponse { error_code, ..AlterPartitionResponse::default() });
        }
        let mut topics = Vec::new();
        for topic in &request.topics {
            let mut partitions = Vec::new();
            for wanted in &topic.partitions {
                let known = state.partitions()[wanted.partition_index as usize].clone();
                let eligible = wanted.new_isr_with_epochs.iter().all(|member| {
                    !state.is_fenced(member.broker_id)
                        && (member.broker_epoch == -1
                            || member.broker_epoch == state.epoch_of(member.broker_id))
                });
                let error = if known.leader != request.broker_id || wanted.leader_epoch > known.leader_epoch {
                    ErrorCode::InvalidRequest
                } else if wanted.leader_epoch < known.leader_epoch {
                    ErrorCode::FencedLeaderEpoch
                } else if wanted.partition_epoch != known.partition_epoch {
                    ErrorCode::InvalidUpdateVersion
                } else if !eligible {
                    ErrorCode::IneligibleReplica
                } else {
                    let isr = wanted.new_isr_with_epochs.iter().map(|member| member.broker_id).collect();
                    let change = PartitionChangeRecord {
                        partition_id: wanted.partition_index,
                        topic_id: TOPIC_ID,
                        isr: Some(isr),
                        ..PartitionChangeRecord::default()
                    };
                    state.write(vec![change.into()]);
                    ErrorCode::None
                };
                let now = state.partitions()[wanted.partition_index as usize].clone();
                partitions.push(ResponsePartitionData {
                    partition_index: wanted.partition_index,
                    error_code: error.code(),
                    leader_id: now.leader,
                    leader_epoch: now.leader_epoch,
                    isr: now.isr.clone(),
                    leader_recovery_state: 0,
                    partition_epoch: now.partition_epoch,
                });
            }
            topics.push(ResponseTopicData { topic_id: topic.topic_id, partitions });
        }
        Some(AlterPartitionResponse { topics, ..AlterPartitionResponse::default() })
    }
}

fn registration(id: i32, broker_epoch: i64) -> Record {
    let endpoint = BrokerEndpoint {
        name: "PLAINTEXT".to_owned(),
        host: "127.0.0.1".to_owned(),
        port: port(id),
        security_protocol: 0,
    };
    RegisterBrokerRecord {
        broker_id: id,
        broker_epoch,
        incarnation_id: Uuid([id as u8; 16]),
        end_points: vec![endpoint],
        ..RegisterBrokerRecord::default()
    }
    .into()
}
