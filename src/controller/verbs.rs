//! What can be asked of the controller: one method per verb. Each answer comes when all it speaks of is durable and
//! published; the receiver errs if the broker stops before.

use barnabas_protocol::error::ErrorCode;
use barnabas_protocol::messages::create_topics::{CreatableTopic, CreatableTopicConfig};
use barnabas_protocol::messages::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreateTopicsRequest, CreateTopicsResponse,
    ElectLeadersRequest, ElectLeadersResponse,
};
use tokio::sync::oneshot::Receiver;

use super::driver::Controller;
use super::image::Overrides;
use super::state::configs::{self, ConfigChange};
use super::state::topics::{self, Deleted, Doomed, Drawn};
use super::state::{Decision, Refusal, directories, elections, partitions};
use crate::ids::Uuid;

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

impl Controller {
    /// CreateTopics.
    pub fn create_topics(&self, request: &CreateTopicsRequest) -> Receiver<CreateTopicsResponse> {
        let drawn = self.draw(request.topics.len());
        self.submit(|image, view| topics::create(image, view, request, &drawn))
    }

    /// Makes a topic unless it is there. Succeeds in both cases.
    pub fn ensure_topic(&self, topic: &NewTopic) -> Receiver<Result<(), Refusal>> {
        let request = CreateTopicsRequest { topics: vec![creatable(topic)], ..Default::default() };
        let drawn = self.draw(1);
        self.submit(|image, view| {
            let Decision { records, reply } = topics::create(image, view, &request, &drawn);
            let made = reply.topics.into_iter().next().unwrap_or_default();
            let reply = match ErrorCode::from_code(made.error_code) {
                Some(ErrorCode::None | ErrorCode::TopicAlreadyExists) => Ok(()),
                code => {
                    let code = code.unwrap_or(ErrorCode::UnknownServerError);
                    Err(Refusal { code, message: made.error_message })
                }
            };
            Decision { records, reply }
        })
    }

    /// Makes those of the topics that are not there, all in one; nobody waits for it.
    pub fn make_topics(&self, topics: &[NewTopic]) {
        if !topics.is_empty() {
            let topics = topics.iter().map(creatable).collect();
            drop(self.create_topics(&CreateTopicsRequest { topics, ..Default::default() }));
        }
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

    /// Notes the log directories that this broker chose: topic, partition, directory.
    pub fn assign_directories(&self, chosen: &[(Uuid, i32, Uuid)]) -> Receiver<()> {
        let node = self.shared.settings.node_id;
        self.submit(|image, _| directories::assign(image, node, chosen))
    }

    /// One of this broker's log directories has failed.
    pub fn directory_failed(&self, directory: Uuid) -> Receiver<()> {
        let node = self.shared.settings.node_id;
        self.submit(|image, _| directories::failed(image, node, directory))
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
