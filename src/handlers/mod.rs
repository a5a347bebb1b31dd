//! One file per API. The table of handlers is also what ApiVersions advertises: an API without a complete
//! handler is not in it.

mod add_offsets_to_txn;
mod add_partitions_to_txn;
mod allocate_producer_ids;
mod alter_configs;
mod alter_partition;
mod alter_partition_reassignments;
mod api_versions;
mod assign_replicas_to_dirs;
mod broker_heartbeat;
mod broker_registration;
mod config_change;
mod consumer_group_describe;
mod consumer_group_heartbeat;
mod controller_call;
mod controller_registration;
mod create_partitions;
mod create_topics;
mod delete_groups;
mod delete_records;
mod delete_topics;
mod describe_cluster;
mod describe_configs;
mod describe_groups;
mod describe_log_dirs;
mod describe_producers;
mod describe_quorum;
mod describe_topic_partitions;
mod describe_transactions;
mod elect_leaders;
mod end_txn;
mod envelope;
mod error;
mod fetch;
mod fetch_snapshot;
mod find_coordinator;
mod forward;
mod group;
mod handler;
mod hash_order;
mod heartbeat;
mod incremental_alter_configs;
mod init_producer_id;
mod join_group;
mod leave_group;
mod list_config_resources;
mod list_groups;
mod list_offsets;
mod list_partition_reassignments;
mod list_transactions;
mod metadata;
mod metadata_fetch;
mod offset_commit;
mod offset_delete;
mod offset_fetch;
mod offset_for_leader_epoch;
mod operations;
mod out;
mod produce;
mod quorum;
mod rooms;
mod sync_group;
mod transaction;
mod transactional_produce;
mod txn_offset_commit;
mod unregister_broker;
mod write_txn_markers;

use std::ops::RangeInclusive;

use barnabas_protocol::ApiKey;

pub use api_versions::newer as newer_api_versions;
pub use error::partition as partition_error;
pub use fetch::FetchSessions;
pub use forward::start as forward;
pub use handler::{
    Answer, CloseReason, Ctx, Operation, Outcome, Resource, Session, Side, Ticket, after_all,
    before_it_begins, blocking, when,
};
pub use out::{Mark, Out, SEND_FILE, cut_short};
pub use rooms::Rooms;

/// A handler in the table.
pub struct Row {
    /// Which API.
    pub key: ApiKey,
    /// The versions it lists in ApiVersions.
    pub versions: RangeInclusive<i16>,
    /// What it asks for is the active controller's to decide.
    pub for_controller: bool,
    /// Decodes, authorizes, asks a room; the body is the frame behind its header.
    pub start: Start,
}

type Start = fn(&Ctx<'_>, &mut [u8], &mut Out) -> Answer;

/// Answered where it is asked.
const fn here(key: ApiKey, versions: RangeInclusive<i16>, start: Start) -> Row {
    Row { key, versions, for_controller: false, start }
}

/// Answered by the active controller.
const fn decides(key: ApiKey, versions: RangeInclusive<i16>, start: Start) -> Row {
    Row { key, versions, for_controller: true, start }
}

/// Every API served, by key.
pub const TABLE: &[Row] = &[
    here(ApiKey::Produce, 0..=13, produce::start),
    here(ApiKey::Fetch, 4..=18, fetch::start),
    here(ApiKey::ListOffsets, 1..=11, list_offsets::start),
    here(ApiKey::Metadata, 0..=13, metadata::start),
    here(ApiKey::OffsetCommit, 2..=10, offset_commit::start),
    here(ApiKey::OffsetFetch, 1..=10, offset_fetch::start),
    here(ApiKey::FindCoordinator, 0..=6, find_coordinator::start),
    here(ApiKey::JoinGroup, 0..=9, join_group::start),
    here(ApiKey::Heartbeat, 0..=4, heartbeat::start),
    here(ApiKey::LeaveGroup, 0..=5, leave_group::start),
    here(ApiKey::SyncGroup, 0..=5, sync_group::start),
    here(ApiKey::DescribeGroups, 0..=6, describe_groups::start),
    here(ApiKey::ListGroups, 0..=5, list_groups::start),
    here(ApiKey::ApiVersions, 0..=5, api_versions::start),
    decides(ApiKey::CreateTopics, 2..=7, create_topics::start),
    decides(ApiKey::DeleteTopics, 1..=6, delete_topics::start),
    here(ApiKey::DeleteRecords, 0..=2, delete_records::start),
    here(ApiKey::InitProducerId, 0..=5, init_producer_id::start),
    here(ApiKey::OffsetForLeaderEpoch, 2..=4, offset_for_leader_epoch::start),
    here(ApiKey::AddPartitionsToTxn, 0..=5, add_partitions_to_txn::start),
    here(ApiKey::AddOffsetsToTxn, 0..=4, add_offsets_to_txn::start),
    here(ApiKey::EndTxn, 0..=5, end_txn::start),
    here(ApiKey::WriteTxnMarkers, 1..=2, write_txn_markers::start),
    here(ApiKey::TxnOffsetCommit, 0..=6, txn_offset_commit::start),
    here(ApiKey::DescribeConfigs, 1..=4, describe_configs::start),
    decides(ApiKey::AlterConfigs, 0..=2, alter_configs::start),
    here(ApiKey::DescribeLogDirs, 1..=5, describe_log_dirs::start),
    decides(ApiKey::CreatePartitions, 0..=3, create_partitions::start),
    here(ApiKey::DeleteGroups, 0..=3, delete_groups::start),
    decides(ApiKey::ElectLeaders, 0..=2, elect_leaders::start),
    decides(ApiKey::AlterPartitionReassignments, 0..=1, alter_partition_reassignments::start),
    decides(ApiKey::ListPartitionReassignments, 0..=0, list_partition_reassignments::start),
    here(ApiKey::OffsetDelete, 0..=0, offset_delete::start),
    decides(ApiKey::DescribeQuorum, 0..=2, describe_quorum::start),
    here(ApiKey::DescribeCluster, 0..=2, describe_cluster::start),
    decides(ApiKey::UnregisterBroker, 0..=0, unregister_broker::start),
    here(ApiKey::DescribeProducers, 0..=0, describe_producers::start),
    here(ApiKey::DescribeTransactions, 0..=0, describe_transactions::start),
    here(ApiKey::ListTransactions, 0..=2, list_transactions::start),
    here(ApiKey::DescribeTopicPartitions, 0..=0, describe_topic_partitions::start),
    decides(ApiKey::IncrementalAlterConfigs, 0..=1, incremental_alter_configs::start),
    here(ApiKey::ConsumerGroupHeartbeat, 0..=1, consumer_group_heartbeat::start),
    here(ApiKey::ConsumerGroupDescribe, 0..=1, consumer_group_describe::start),
    here(ApiKey::ListConfigResources, 0..=1, list_config_resources::start),
];

/// What controllers serve at their own listeners, by key.
pub const CONTROLLER_TABLE: &[Row] = &[
    here(ApiKey::Fetch, 13..=18, metadata_fetch::start),
    here(ApiKey::ApiVersions, 0..=5, api_versions::start),
    decides(ApiKey::CreateTopics, 2..=7, create_topics::start),
    decides(ApiKey::DeleteTopics, 1..=6, delete_topics::start),
    decides(ApiKey::AlterConfigs, 0..=2, alter_configs::start),
    decides(ApiKey::CreatePartitions, 0..=3, create_partitions::start),
    decides(ApiKey::ElectLeaders, 0..=2, elect_leaders::start),
    decides(ApiKey::IncrementalAlterConfigs, 0..=1, incremental_alter_configs::start),
    decides(ApiKey::AlterPartitionReassignments, 0..=1, alter_partition_reassignments::start),
    decides(ApiKey::ListPartitionReassignments, 0..=0, list_partition_reassignments::start),
    decides(ApiKey::DescribeQuorum, 0..=2, describe_quorum::start),
    here(ApiKey::AlterPartition, 2..=3, alter_partition::start),
    here(ApiKey::Envelope, 0..=0, envelope::start),
    here(ApiKey::FetchSnapshot, 0..=1, fetch_snapshot::start),
    here(ApiKey::DescribeCluster, 0..=2, describe_cluster::start),
    here(ApiKey::BrokerRegistration, 0..=4, broker_registration::start),
    here(ApiKey::BrokerHeartbeat, 0..=2, broker_heartbeat::start),
    decides(ApiKey::UnregisterBroker, 0..=0, unregister_broker::start),
    here(ApiKey::AllocateProducerIds, 0..=0, allocate_producer_ids::start),
    here(ApiKey::ControllerRegistration, 0..=0, controller_registration::start),
    here(ApiKey::AssignReplicasToDirs, 0..=0, assign_replicas_to_dirs::start),
    here(ApiKey::Quorum, 0..=0, quorum::start),
];

/// What is served to whom.
pub fn table(side: Side) -> &'static [Row] {
    match side {
        Side::Broker => TABLE,
        Side::Controller => CONTROLLER_TABLE,
    }
}

/// The handler of an API.
pub fn row(side: Side, key: ApiKey) -> Option<&'static Row> {
    table(side).iter().find(|row| row.key == key)
}
