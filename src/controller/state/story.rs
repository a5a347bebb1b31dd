//! Stories: events in, records and replies out. Each ends with the log replayed from its beginning, and with a snapshot
//! taken and read: both must give the same image.

use barnabas_protocol::error::ErrorCode;

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

/// Rules that know three topic settings.
pub(crate) struct FewRules;

impl ConfigRules for FewRules {
    fn check(&self, _: &ConfigResource, _: &Overrides, after: &Overrides) -> Result<(), Refusal> {
        let known = ["cleanup.policy", "retention.ms", "min.insync.replicas"];
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
        incarnation: Uuid([9; 16]),
        endpoints: vec![endpoint.clone()],
        controller_endpoints: vec![Endpoint { listener: "CONTROLLER".into(), port: 9093, ..endpoint }],
        rack: None,
        directories: vec![Uuid([7; 16])],
        min_insync_replicas: 1,
        stopped_cleanly: false,
    }
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
        let records = activate(&self.hard, &fresh(), node, next);
        self.write(records);
    }

    pub(crate) fn write(&mut self, records: Vec<Record>) {
        for record in records {
            apply(&mut self.hard, &record).unwrap();
            self.log.push(record);
        }
    }

    pub(crate) fn image(&self) -> &Image {
        &self.hard.image
    }

    /// Runs a verb, writes what it decided.
    pub(crate) fn run<R>(&mut self, verb: impl FnOnce(&Image, &View<'_>) -> Decision<R>) -> R {
        let view = View { num_partitions: 3, default_replication_factor: 1, rules: &FewRules };
        let decision = verb(&self.hard.image, &view);
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
