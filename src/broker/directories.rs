//! The directories that were chosen for replicas, as AssignReplicasToDirs says it.

use std::collections::BTreeMap;

use barnabas_protocol::messages::AssignReplicasToDirsRequest;
use barnabas_protocol::messages::assign_replicas_to_dirs::{
    RequestDirectoryData, RequestPartitionData, RequestTopicData,
};

use crate::ids::Uuid;

/// Topics, partitions and directories, by directory and topic.
pub fn request(broker: i32, epoch: i64, chosen: &[(Uuid, i32, Uuid)]) -> AssignReplicasToDirsRequest {
    let mut by_directory: BTreeMap<Uuid, BTreeMap<Uuid, Vec<RequestPartitionData>>> = BTreeMap::new();
    for (topic, partition_index, directory) in chosen {
        let topics = by_directory.entry(*directory).or_default();
        topics.entry(*topic).or_default().push(RequestPartitionData { partition_index: *partition_index });
    }
    let directories = by_directory.into_iter().map(|(id, topics)| {
        let topics =
            topics.into_iter().map(|(topic_id, partitions)| RequestTopicData { topic_id, partitions });
        RequestDirectoryData { id, topics: topics.collect() }
    });
    AssignReplicasToDirsRequest { broker_id: broker, broker_epoch: epoch, directories: directories.collect() }
}
