//! The metadata image as the group coordinator sees it.

use std::sync::Arc;

use crate::controller::Image;
use crate::controller::image::TopicImage;
use crate::coordinator::group::view::{Cluster, Overrides, Topic};
use crate::ids::{TopicName, Uuid};

/// One image.
#[derive(Clone, Debug)]
pub struct ImageCluster(pub Arc<Image>);

fn topic(image: &Arc<TopicImage>) -> Topic {
    Topic { id: image.id, name: image.name.clone(), partitions: image.partition_count() }
}

impl Cluster for ImageCluster {
    fn topic(&self, name: &str) -> Option<Topic> {
        self.0.topic(name).map(topic)
    }

    fn topic_by_id(&self, id: Uuid) -> Option<Topic> {
        self.0.topic_by_id(id).map(topic)
    }

    fn names(&self) -> Vec<TopicName> {
        self.0.topics().map(|topic| topic.name.clone()).collect()
    }

    fn racks(&self, topic: Uuid) -> Vec<Vec<Arc<str>>> {
        let rack = |broker: &i32| self.0.broker(*broker)?.rack.clone();
        let topic = self.0.topic_by_id(topic).into_iter();
        let partitions = topic.flat_map(|topic| topic.partitions());
        partitions.map(|partition| partition.replicas.iter().filter_map(rack).collect()).collect()
    }

    fn version(&self) -> i64 {
        self.0.offset()
    }

    fn overrides(&self, group: &str) -> Overrides {
        let own = self.0.group_config(group);
        let for_all = self.0.cluster_config();
        let number = |text: Option<&String>| text.and_then(|text| text.trim().parse().ok());
        let interval = own.get("consumer.assignment.interval.ms");
        Overrides {
            session_ms: number(own.get("consumer.session.timeout.ms")),
            heartbeat_ms: number(own.get("consumer.heartbeat.interval.ms")),
            assignment_interval_ms: number(
                interval.or_else(|| for_all.get("group.consumer.assignment.interval.ms")),
            ),
        }
    }
}
