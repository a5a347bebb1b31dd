//! One file per API. The table of handlers is also what ApiVersions advertises: an API without a complete
//! handler is not in it.

mod add_offsets_to_txn;
mod add_partitions_to_txn;
mod alter_configs;
mod api_versions;
mod config_change;
mod consumer_group_describe;
mod consumer_group_heartbeat;
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
mod error;
mod fetch;
mod find_coordinator;
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
mod offset_commit;
mod offset_delete;
mod offset_fetch;
mod offset_for_leader_epoch;
mod operations;
mod out;
mod produce;
mod rooms;
mod sync_group;
mod transaction;
mod transactional_produce;
mod txn_offset_commit;
mod write_txn_markers;

use std::ops::RangeInclusive;

use barnabas_protocol::ApiKey;

pub use api_versions::newer as newer_api_versions;
pub use fetch::FetchSessions;
pub use handler::{
    Answer, CloseReason, Ctx, Operation, Outcome, Resource, Session, Ticket, after_all, before_it_begins,
    blocking, when,
};
pub use out::{Mark, Out, SEND_FILE, cut_short};
pub use rooms::Rooms;

/// A handler in the table.
pub struct Row {
    /// Which API.
    pub key: ApiKey,
    /// The versions it lists in ApiVersions.
    pub versions: RangeInclusive<i16>,
    /// Decodes, authorizes, asks a room; the body is the frame behind its header.
    pub start: fn(&Ctx<'_>, &mut [u8], &mut Out) -> Answer,
}

/// Every API served, by key.
pub const TABLE: &[Row] = &[
    Row { key: ApiKey::Produce, versions: 0..=13, start: produce::start },
    Row { key: ApiKey::Fetch, versions: 4..=18, start: fetch::start },
    Row { key: ApiKey::ListOffsets, versions: 1..=11, start: list_offsets::start },
    Row { key: ApiKey::Metadata, versions: 0..=13, start: metadata::start },
    Row { key: ApiKey::OffsetCommit, versions: 2..=10, start: offset_commit::start },
    Row { key: ApiKey::OffsetFetch, versions: 1..=10, start: offset_fetch::start },
    Row { key: ApiKey::FindCoordinator, versions: 0..=6, start: find_coordinator::start },
    Row { key: ApiKey::JoinGroup, versions: 0..=9, start: join_group::start },
    Row { key: ApiKey::Heartbeat, versions: 0..=4, start: heartbeat::start },
    Row { key: ApiKey::LeaveGroup, versions: 0..=5, start: leave_group::start },
    Row { key: ApiKey::SyncGroup, versions: 0..=5, start: sync_group::start },
    Row { key: ApiKey::DescribeGroups, versions: 0..=6, start: describe_groups::start },
    Row { key: ApiKey::ListGroups, versions: 0..=5, start: list_groups::start },
    Row { key: ApiKey::ApiVersions, versions: 0..=5, start: api_versions::start },
    Row { key: ApiKey::CreateTopics, versions: 2..=7, start: create_topics::start },
    Row { key: ApiKey::DeleteTopics, versions: 1..=6, start: delete_topics::start },
    Row { key: ApiKey::DeleteRecords, versions: 0..=2, start: delete_records::start },
    Row { key: ApiKey::InitProducerId, versions: 0..=5, start: init_producer_id::start },
    Row { key: ApiKey::OffsetForLeaderEpoch, versions: 2..=4, start: offset_for_leader_epoch::start },
    Row { key: ApiKey::AddPartitionsToTxn, versions: 0..=5, start: add_partitions_to_txn::start },
    Row { key: ApiKey::AddOffsetsToTxn, versions: 0..=4, start: add_offsets_to_txn::start },
    Row { key: ApiKey::EndTxn, versions: 0..=5, start: end_txn::start },
    Row { key: ApiKey::WriteTxnMarkers, versions: 1..=2, start: write_txn_markers::start },
    Row { key: ApiKey::TxnOffsetCommit, versions: 0..=6, start: txn_offset_commit::start },
    Row { key: ApiKey::DescribeConfigs, versions: 1..=4, start: describe_configs::start },
    Row { key: ApiKey::AlterConfigs, versions: 0..=2, start: alter_configs::start },
    Row { key: ApiKey::DescribeLogDirs, versions: 1..=5, start: describe_log_dirs::start },
    Row { key: ApiKey::CreatePartitions, versions: 0..=3, start: create_partitions::start },
    Row { key: ApiKey::DeleteGroups, versions: 0..=3, start: delete_groups::start },
    Row { key: ApiKey::ElectLeaders, versions: 0..=2, start: elect_leaders::start },
    Row {
        key: ApiKey::ListPartitionReassignments,
        versions: 0..=0,
        start: list_partition_reassignments::start,
    },
    Row { key: ApiKey::OffsetDelete, versions: 0..=0, start: offset_delete::start },
    Row { key: ApiKey::DescribeQuorum, versions: 0..=2, start: describe_quorum::start },
    Row { key: ApiKey::DescribeCluster, versions: 0..=2, start: describe_cluster::start },
    Row { key: ApiKey::DescribeProducers, versions: 0..=0, start: describe_producers::start },
    Row { key: ApiKey::DescribeTransactions, versions: 0..=0, start: describe_transactions::start },
    Row { key: ApiKey::ListTransactions, versions: 0..=2, start: list_transactions::start },
    Row { key: ApiKey::DescribeTopicPartitions, versions: 0..=0, start: describe_topic_partitions::start },
    Row { key: ApiKey::IncrementalAlterConfigs, versions: 0..=1, start: incremental_alter_configs::start },
    Row { key: ApiKey::OffsetDelete, versions: 0..=0, start: offset_delete::start },
    Row { key: ApiKey::ConsumerGroupHeartbeat, versions: 0..=1, start: consumer_group_heartbeat::start },
    Row { key: ApiKey::ConsumerGroupDescribe, versions: 0..=1, start: consumer_group_describe::start },
    Row { key: ApiKey::ListConfigResources, versions: 0..=1, start: list_config_resources::start },
];

/// The handler of an API.
pub fn row(key: ApiKey) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.key == key)
}
