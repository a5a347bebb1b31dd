//! Stories: events in, records and replies out. Each ends with the log replayed from its beginning, and with a snapshot
//! taken and read: both must give the same image.

use barnabas_protocol::error::ErrorCode;
use barnabas_protocol::messages::records::metadata::{
    BrokerRegistrationChangeRecord, PartitionRecord, TopicRecord,
};

use super::activation::{Node, activate};
use super::features;
use super::*;
use crate::controller::image::Endpoint;
use crate::ids::Uuid;

/// A cluster of one node, and everything it wrote.
pub(crate) struct Story {
    pub(crate) hard: Hard,
    pub(crate) log: Vec<Record>,
}

/// Rules that know a few topic settings.
pub(crate) struct FewRules;

impl ConfigRules for FewRules {
    fn check(&self, _: &ConfigResource, _: &Overrides, after: &Overrides) -> Result<(), Refusal> {
        let known =
            ["cleanup.policy", "retention.ms", "min.insync.replicas", "unclean.leader.election.enable"];
        match after.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                Err(Refusal::new(ErrorCode::InvalidConfig, format!("Unknown topic config name: {name}")))
            }
            None => Ok(()),
        }
    }

    fn is_list(&self, _: ResourceKind, name: &str) -> bool {
        name == "cleanup.policy"
    }

    fn default_value(&self, _: ResourceKind, name: &str) -> Option<String> {
        (name == "cleanup.policy").then(|| "delete".to_owned())
    }

    fn describe_topic(&self, _: &Image, overrides: &Overrides) -> Vec<TopicSetting> {
        let setting = |(name, value): (&String, &String)| TopicSetting {
            name: name.clone(),
            value: Some(value.clone()),
            read_only: false,
            source: 1,
            sensitive: false,
        };
        overrides.iter().map(setting).collect()
    }
}

pub(crate) fn node() -> Node {
    let endpoint =
        Endpoint { listener: "PLAINTEXT".into(), host: "localhost".into(), port: 9092, security_protocol: 0 };
    Node {
        id: 1,
        joins_alone: true,
        incarnation: Uuid([9; 16]),
        endpoints: vec![endpoint.clone()],
        controller_endpoints: vec![Endpoint { listener: "CONTROLLER".into(), port: 9093, ..endpoint }],
        rack: None,
        directories: vec![Uuid([7; 16])],
        min_insync_replicas: 1,
        stopped_cleanly: false,
    }
}

pub(crate) fn view() -> View<'static> {
    View {
        num_partitions: 3,
        default_replication_factor: 1,
        min_insync_replicas: 1,
        unclean_leader_election: false,
        rules: &FewRules,
    }
}

/// The id of a topic that [`Story::topic`] makes.
pub(crate) fn topic_id(name: &str) -> Uuid {
    Uuid([name.bytes().next().unwrap_or_default(); 16])
}

pub(crate) fn nothing() -> Hard {
    Hard::new(Image::empty("cluster", 5))
}

pub(crate) fn fresh() -> Vec<Record> {
    features::fresh().map(Record::from).collect()
}

impl Story {
    /// A formatted node that has started.
    pub(crate) fn started() -> Story {
        let mut story = Story { hard: nothing(), log: Vec::new() };
        story.restart(&node());
        story
    }

    pub(crate) fn restart(&mut self, node: &Node) {
        let next = i64::try_from(self.log.len()).unwrap();
        let records = activate(&self.hard, &view(), &fresh(), node, next);
        self.write(records);
    }

    pub(crate) fn write(&mut self, records: Vec<Record>) {
        for record in records {
            apply(&mut self.hard, &record).unwrap();
            self.log.push(record);
        }
    }

    /// Another broker registers and is let in.
    pub(crate) fn join(&mut self, id: i32) {
        let first = self.image().broker(1).unwrap();
        let mut broker = brokers::to_record(first);
        broker.broker_id = id;
        broker.broker_epoch = i64::try_from(self.log.len()).unwrap();
        broker.incarnation_id = Uuid([u8::try_from(id).unwrap(); 16]);
        broker.log_dirs = vec![Uuid([u8::try_from(id).unwrap() + 100; 16])];
        self.write(vec![broker.into()]);
    }

    /// A broker is fenced, or not any more; partitions stay as they are.
    pub(crate) fn fence(&mut self, id: i32, fenced: bool) {
        let broker_epoch = self.image().broker(id).unwrap().epoch;
        let fenced = if fenced { 1 } else { -1 };
        let change =
            BrokerRegistrationChangeRecord { broker_id: id, broker_epoch, fenced, ..Default::default() };
        self.write(vec![change.into()]);
    }

    /// A topic of one partition, led by the first of its replicas, all of them in sync.
    pub(crate) fn topic(&mut self, name: &str, replicas: &[i32]) {
        let partition = PartitionRecord {
            partition_id: 0,
            leader_epoch: 0,
            partition_epoch: 0,
            topic_id: topic_id(name),
            replicas: replicas.to_vec(),
            isr: replicas.to_vec(),
            leader: replicas[0],
            directories: vec![Uuid([7; 16]); replicas.len()],
            ..Default::default()
        };
        let topic = TopicRecord { name: name.to_owned(), topic_id: topic_id(name) };
        self.write(vec![topic.into(), partition.into()]);
    }

    /// Sets a topic's setting.
    pub(crate) fn configure(&mut self, topic: &str, name: &str, value: &str) {
        let record = configs::record(&ConfigResource::topic(topic), name, Some(&value.to_owned()));
        self.write(vec![record.into()]);
    }

    pub(crate) fn image(&self) -> &Image {
        &self.hard.image
    }

    /// Runs a verb, writes what it decided.
    pub(crate) fn run<R>(&mut self, verb: impl FnOnce(&Image, &View<'_>) -> Decision<R>) -> R {
        let decision = verb(&self.hard.image, &view());
        self.write(decision.records);
        decision.reply
    }

    /// The end of every story.
    pub(crate) fn the_end(self) {
        let mut replayed = nothing();
        for record in &self.log {
            let bytes = crate::controller::record::to_bytes(record);
            apply(&mut replayed, &Record::decode(&bytes).unwrap()).unwrap();
        }
        assert_eq!(replayed.image, self.hard.image, "the log replayed gives another image");
        let mut restored = nothing();
        for record in to_records(&self.hard.image) {
            apply(&mut restored, &record).unwrap();
        }
        assert_eq!(restored.image, self.hard.image, "the snapshot restored gives another image");
    }
}
