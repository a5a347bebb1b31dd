//! What a controller writes when it begins to lead.

use barnabas_protocol::messages::records::metadata::{
    AbortTransactionRecord, BeginTransactionRecord, BrokerRegistrationChangeRecord, EndTransactionRecord,
};

use super::super::election::{Elected, Election, elect};
use super::super::image::{
    BrokerImage, ConfigResource, ControllerImage, Endpoint, Image, NO_LEADER, PartitionImage, ResourceKind,
};
use super::super::record::Record;
use super::features::{ELR_VERSION, METADATA_VERSION};
use super::partition_change::{Touched, touched_where};
use super::{Hard, View, brokers, configs, directories, elections, features};
use crate::ids::Uuid;

/// A node with the controller's role, at its start.
#[derive(Clone, Debug)]
pub struct Node {
    /// `node.id`.
    pub id: i32,
    /// It is a broker as well, and the only controller: it need not ask anybody to be let in.
    pub joins_alone: bool,
    /// Drawn for this run of the process.
    pub incarnation: Uuid,
    /// The advertised listeners, with the ports that were bound.
    pub endpoints: Vec<Endpoint>,
    /// The controller's listeners.
    pub controller_endpoints: Vec<Endpoint>,
    /// `broker.rack`.
    pub rack: Option<String>,
    /// Ids of the log directories that work.
    pub directories: Vec<Uuid>,
    /// `min.insync.replicas`, which a fresh cluster makes the dynamic default (KIP-966).
    pub min_insync_replicas: i32,
    /// The last run stopped in order: every replica has all that it acknowledged.
    pub stopped_cleanly: bool,
}

/// The records of a start: first those of a fresh cluster, then the node's registration, then the elections that
/// it makes possible. `next_offset` is where the first of them will be.
pub fn activate(
    hard: &Hard,
    view: &View<'_>,
    fresh: &[Record],
    node: &Node,
    next_offset: i64,
) -> Vec<Record> {
    let image = &hard.image;
    let mut records = Vec::new();
    if hard.in_transaction() {
        records.push(AbortTransactionRecord { reason: Some("controller failover".to_owned()) }.into());
    }
    if image.feature(METADATA_VERSION) == 0 {
        records.push(BeginTransactionRecord { name: Some("Bootstrap records".to_owned()) }.into());
        records.extend_from_slice(fresh);
        records.extend(default_min_isr(image, fresh, node));
        records.push(EndTransactionRecord::default().into());
    }
    records.push(brokers::controller_to_record(&controller(node)).into());
    if !node.joins_alone {
        return records;
    }
    let before = i64::try_from(records.len()).unwrap_or(i64::MAX);
    let broker = broker(node, next_offset.saturating_add(before));
    records.push(brokers::to_record(&broker).into());
    // A broker registers fenced; here its directories are open by then.
    let unfenced = BrokerRegistrationChangeRecord {
        broker_id: node.id,
        broker_epoch: broker.epoch,
        fenced: -1,
        cordoned_log_dirs: Some(Vec::new()),
        ..Default::default()
    };
    records.push(unfenced.into());
    records.extend(elections(image, view, node));
    records
}

fn default_min_isr(image: &Image, fresh: &[Record], node: &Node) -> Option<Record> {
    let elr = fresh.iter().any(
        |record| matches!(record, Record::FeatureLevel(level) if level.name == ELR_VERSION && level.feature_level > 0),
    );
    let all = ConfigResource::new(ResourceKind::Broker, "");
    let value = node.min_insync_replicas.to_string();
    let set = image.cluster_config().contains_key("min.insync.replicas");
    (elr && !set).then(|| configs::record(&all, "min.insync.replicas", Some(&value)).into())
}

fn controller(node: &Node) -> ControllerImage {
    ControllerImage {
        id: node.id,
        incarnation: node.incarnation,
        zk_migration_ready: false,
        endpoints: node.controller_endpoints.clone(),
        features: features::supported(),
    }
}

fn broker(node: &Node, epoch: i64) -> BrokerImage {
    BrokerImage {
        id: node.id,
        incarnation: node.incarnation,
        epoch,
        endpoints: node.endpoints.clone(),
        features: features::supported(),
        rack: node.rack.as_deref().map(Into::into),
        fenced: true,
        in_controlled_shutdown: false,
        directories: node.directories.clone(),
        cordoned: None,
    }
}

/// After a crash this node may have lost what was not flushed: it leaves the ISR where others are in it, and where it
/// is alone a new leader epoch tells clients to look. Partitions that Kafka left without a leader at its stop get one.
/// Those in directories that do not work have none.
fn elections(image: &Image, view: &View<'_>, node: &Node) -> Vec<Record> {
    let crashed = !node.stopped_cleanly;
    let works = |partition: &PartitionImage| {
        let directory = partition.directory_of(node.id).unwrap_or_default();
        directories::is_online(directory, &node.directories)
    };
    let others = |partition: &PartitionImage| partition.isr.iter().any(|id| *id != node.id);
    let left = |partition: &PartitionImage| {
        crashed && works(partition) && partition.isr.contains(&node.id) && others(partition)
    };
    let mut records = touched_where(image, view, Touched::Lost(node.id), left);
    for topic in image.topics() {
        for partition in topic.partitions().iter().filter(|partition| !left(partition)) {
            if !works(partition) {
                records.extend(directories::without(image, topic.id, partition, node.id).map(Record::from));
                continue;
            }
            let elected = if partition.leader == node.id && crashed {
                Elected { leader: node.id, unclean: false }
            } else if partition.leader == NO_LEADER {
                elect(partition, |id| id == node.id, Election::Any)
            } else {
                continue;
            };
            if elected.leader != NO_LEADER {
                records.push(elections::won(topic.id, partition, elected).into());
            }
        }
    }
    records
}

#[cfg(test)]
mod activation_test;
