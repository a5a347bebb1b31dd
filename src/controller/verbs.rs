//! What can be asked of the controller: one method per verb. Each answer comes when all it speaks of is durable and
//! published; the receiver errs if the broker stops before.

use barnabas_protocol::error::ErrorCode;
use barnabas_protocol::messages::create_topics::{CreatableTopic, CreatableTopicConfig};
use barnabas_protocol::messages::{
    AllocateProducerIdsRequest, AllocateProducerIdsResponse, AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse, AlterPartitionRequest, AlterPartitionResponse,
    AssignReplicasToDirsRequest, AssignReplicasToDirsResponse, BrokerHeartbeatRequest,
    BrokerHeartbeatResponse, BrokerRegistrationRequest, BrokerRegistrationResponse,
    ControllerRegistrationRequest, ControllerRegistrationResponse, CreatePartitionsRequest,
    CreatePartitionsResponse, CreateTopicsRequest, CreateTopicsResponse, ElectLeadersRequest,
    ElectLeadersResponse,
};
use tokio::sync::oneshot::Receiver;

use super::driver::Controller;
use super::image::Overrides;
use super::state::configs::{self, ConfigChange};
use super::state::topics::{self, Deleted, Doomed, Drawn};
use super::state::{
    Decision, Refusal, alter_partition, directories, elections, partitions, producer_ids, reassignments,
    registration,
};
use crate::ids::Uuid;

/// How long the making of a topic may take that the broker makes by itself, in ms.
const CREATE_MS: i32 = 30_000;

/// A topic that the broker makes by itself, because somebody needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTopic {
    /// Its name.
    pub name: String,
    /// How many partitions; -1 for `num.partitions`.
    pub partitions: i32,
    /// How many replicas; -1 for `default.replication.factor`.
    pub replication_factor: i16,
    /// What is configured for it.
    pub configs: Overrides,
}

/// The request that makes topics.
pub(super) fn request_for(topics: &[NewTopic]) -> CreateTopicsRequest {
    let topics = topics.iter().map(creatable).collect();
    CreateTopicsRequest { topics, timeout_ms: CREATE_MS, ..Default::default() }
}

impl Controller {
    /// CreateTopics.
    pub fn create_topics(&self, request: &CreateTopicsRequest) -> Receiver<CreateTopicsResponse> {
        let drawn = self.draw(request.topics.len());
        self.submit(|image, view| topics::create(image, view, request, &drawn))
    }

    /// Deletes topics by name or id; none may be named twice in the same way.
    pub fn delete_topics(&self, doomed: &[Doomed]) -> Receiver<Vec<Deleted>> {
        self.submit(|image, _| topics::delete(image, doomed))
    }

    /// CreatePartitions.
    pub fn create_partitions(&self, request: &CreatePartitionsRequest) -> Receiver<CreatePartitionsResponse> {
        let start = self.draw(0).start;
        self.submit(|image, _| partitions::create(image, request, start))
    }

    /// ElectLeaders.
    pub fn elect_leaders(&self, request: &ElectLeadersRequest) -> Receiver<ElectLeadersResponse> {
        self.submit(|image, _| elections::elect_leaders(image, request))
    }

    /// Changes configurations; one answer per change.
    pub fn alter_configs(
        &self,
        changes: &[ConfigChange],
        validate_only: bool,
    ) -> Receiver<Vec<Result<(), Refusal>>> {
        self.submit(|image, view| configs::alter(image, view.rules, changes, validate_only))
    }

    /// One of this broker's log directories has failed.
    pub fn directory_failed(&self, directory: Uuid) -> Receiver<()> {
        let node = self.shared.settings.node_id;
        self.submit(|image, _| directories::failed(image, node, directory))
    }

    /// AssignReplicasToDirs.
    pub fn assign_directories(
        &self,
        request: &AssignReplicasToDirsRequest,
    ) -> Receiver<AssignReplicasToDirsResponse> {
        self.submit(|image, _| told(partitions::assign_directories(image, request)))
    }

    /// AllocateProducerIds.
    pub fn allocate_producer_ids(
        &self,
        request: &AllocateProducerIdsRequest,
    ) -> Receiver<AllocateProducerIdsResponse> {
        self.submit(|image, _| told(producer_ids::answer(image, request)))
    }

    /// AlterPartition.
    pub fn alter_partition(&self, request: &AlterPartitionRequest) -> Receiver<AlterPartitionResponse> {
        self.submit(|image, view| told(alter_partition::alter(image, view, request)))
    }

    /// BrokerRegistration.
    pub fn register_broker(
        &self,
        request: &BrokerRegistrationRequest,
    ) -> Receiver<BrokerRegistrationResponse> {
        self.submit_with_sessions(|image, view, sessions, moment| {
            told(registration::register(image, view, sessions, moment, request))
        })
    }

    /// ControllerRegistration.
    pub fn register_controller(
        &self,
        request: &ControllerRegistrationRequest,
    ) -> Receiver<ControllerRegistrationResponse> {
        self.submit(|image, _| registration::register_controller(image, request))
    }

    /// BrokerHeartbeat.
    pub fn broker_heartbeat(&self, request: &BrokerHeartbeatRequest) -> Receiver<BrokerHeartbeatResponse> {
        let answer = self.submit_with_sessions(|image, view, sessions, moment| {
            told(registration::heartbeat(image, view, sessions, moment, request))
        });
        self.shared.alarm.notify_one();
        answer
    }

    /// AlterPartitionReassignments.
    pub fn reassign_partitions(
        &self,
        request: &AlterPartitionReassignmentsRequest,
    ) -> Receiver<AlterPartitionReassignmentsResponse> {
        self.submit(|image, view| reassignments::alter(image, view, request))
    }

    /// UnregisterBroker.
    pub fn unregister_broker(&self, broker: i32) -> Receiver<Result<(), Refusal>> {
        self.submit(|image, view| registration::unregister(image, view, broker))
    }

    fn draw(&self, topics: usize) -> Drawn {
        let rng = &self.shared.doors.rng;
        let start = usize::try_from(rng.below(1 << 31)).unwrap_or_default();
        Drawn { topic_ids: (0..topics).map(|_| rng.uuid()).collect(), start }
    }
}

fn creatable(topic: &NewTopic) -> CreatableTopic {
    let config = |(name, value): (&String, &String)| CreatableTopicConfig {
        name: name.clone(),
        value: Some(value.clone()),
    };
    CreatableTopic {
        name: topic.name.clone(),
        num_partitions: topic.partitions,
        replication_factor: topic.replication_factor,
        configs: topic.configs.iter().map(config).collect(),
        ..Default::default()
    }
}

/// A refusal as the answer that has its code.
fn told<R: Coded>(decision: Decision<Result<R, Refusal>>) -> Decision<R> {
    let Decision { records, reply } = decision;
    Decision { records, reply: reply.unwrap_or_else(|refusal| R::refused(refusal.code)) }
}

/// An answer that has room for one code.
trait Coded {
    fn refused(code: ErrorCode) -> Self;
}

macro_rules! coded {
    ($($response:ident),*) => {
        $(impl Coded for $response {
            fn refused(code: ErrorCode) -> $response {
                $response { error_code: code.code(), ..Default::default() }
            }
        })*
    };
}

coded!(
    AssignReplicasToDirsResponse,
    AllocateProducerIdsResponse,
    AlterPartitionResponse,
    BrokerRegistrationResponse,
    BrokerHeartbeatResponse
);
