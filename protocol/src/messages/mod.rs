//! Every message of Kafka 4.4, one declaration each, in a file named after it.
//!
//! Names, types, versions, defaults and tags are those of Kafka's schemas, in snake case; `dsl` says how a
//! message is declared. Structs inside messages are found in the message's module:
//! `messages::list_offsets::ListOffsetsTopic`.

mod dsl;
pub(crate) mod every_api;

pub mod add_offsets_to_txn;
pub mod add_partitions_to_txn;
pub mod add_raft_voter;
pub mod allocate_producer_ids;
pub mod alter_client_quotas;
pub mod alter_configs;
pub mod alter_partition;
pub mod alter_partition_reassignments;
pub mod alter_replica_log_dirs;
pub mod alter_share_group_offsets;
pub mod alter_user_scram_credentials;
pub mod api_versions;
pub mod assign_replicas_to_dirs;
pub mod begin_quorum_epoch;
pub mod broker_heartbeat;
pub mod broker_registration;
pub mod consumer_group_describe;
pub mod consumer_group_heartbeat;
pub mod controller_registration;
pub mod create_acls;
pub mod create_delegation_token;
pub mod create_partitions;
pub mod create_topics;
pub mod default_principal;
pub mod delete_acls;
pub mod delete_groups;
pub mod delete_records;
pub mod delete_share_group_offsets;
pub mod delete_share_group_state;
pub mod delete_topics;
pub mod describe_acls;
pub mod describe_client_quotas;
pub mod describe_cluster;
pub mod describe_configs;
pub mod describe_delegation_token;
pub mod describe_groups;
pub mod describe_log_dirs;
pub mod describe_producers;
pub mod describe_quorum;
pub mod describe_share_group_offsets;
pub mod describe_topic_partitions;
pub mod describe_transactions;
pub mod describe_user_scram_credentials;
pub mod elect_leaders;
pub mod end_quorum_epoch;
pub mod end_txn;
pub mod envelope;
pub mod expire_delegation_token;
pub mod fetch;
pub mod fetch_snapshot;
pub mod find_coordinator;
pub mod get_telemetry_subscriptions;
pub mod heartbeat;
pub mod incremental_alter_configs;
pub mod init_producer_id;
pub mod initialize_share_group_state;
pub mod join_group;
pub mod leave_group;
pub mod list_config_resources;
pub mod list_groups;
pub mod list_offsets;
pub mod list_partition_reassignments;
pub mod list_transactions;
pub mod metadata;
pub mod offset_commit;
pub mod offset_delete;
pub mod offset_fetch;
pub mod offset_for_leader_epoch;
pub mod produce;
pub mod push_telemetry;
pub mod quorum;
pub mod read_share_group_state;
pub mod read_share_group_state_summary;
pub mod records;
pub mod remove_raft_voter;
pub mod renew_delegation_token;
pub mod sasl_authenticate;
pub mod sasl_handshake;
pub mod share_acknowledge;
pub mod share_fetch;
pub mod share_group_describe;
pub mod share_group_heartbeat;
pub mod streams_group_describe;
pub mod streams_group_heartbeat;
pub mod streams_group_topology_description_update;
pub mod sync_group;
pub mod txn_offset_commit;
pub mod unregister_broker;
pub mod unregister_controller;
pub mod update_features;
pub mod update_raft_voter;
pub mod vote;
pub mod write_share_group_state;
pub mod write_txn_markers;

use std::fmt::Debug;

use crate::ApiKey;
use crate::codec::{DecodeError, Nullable, Reader, Writer};

/// A versioned message.
pub trait Message: Nullable + Clone + Debug + PartialEq + Send + Sync + 'static {
    /// Kafka's name for it.
    const NAME: &'static str;
    /// The first version that Kafka 4.4 has.
    const MIN_VERSION: i16;
    /// The last version that Kafka 4.4 has.
    const MAX_VERSION: i16;
    /// The first flexible version (KIP-482): compact lengths, tagged fields.
    const FIRST_FLEXIBLE: i16 = i16::MAX;

    /// Reads the message at the reader's version. Bytes that follow it are left alone.
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let version = r.version();
        if version < Self::MIN_VERSION || version > Self::MAX_VERSION {
            return Err(DecodeError::UnsupportedVersion(version));
        }
        r.set_flexible(version >= Self::FIRST_FLEXIBLE);
        Self::read(r)
    }

    /// Writes the message at the writer's version.
    fn encode(&self, w: &mut Writer<'_>) {
        w.set_flexible(w.version() >= Self::FIRST_FLEXIBLE);
        self.write(w);
    }

    /// Reads the message from bytes that begin with it.
    fn from_bytes(bytes: &[u8], version: i16) -> Result<Self, DecodeError> {
        Self::decode(&mut Reader::new(bytes, version))
    }

    /// The message's bytes in a version.
    fn to_bytes(&self, version: i16) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut Writer::new(&mut out, version));
        out
    }
}

/// What a client, a broker or a controller asks.
pub trait Request: Message {
    /// The API it belongs to.
    const KEY: ApiKey;
    /// What it is answered with.
    type Response: Response;
}

/// What a request is answered with.
pub trait Response: Message {
    /// The API it belongs to.
    const KEY: ApiKey;
}

/// A message kept in a log, keyed by a number of that log's own.
pub trait Record: Message {
    /// The number of its kind.
    const KEY: i16;
}

macro_rules! reexport {
    ($($name:ident = $key:literal, $module:ident: $request:ident => $response:ident;)*) => {
        $( pub use $module::{$request, $response}; )*
    };
}

every_api::every_api!(reexport);
pub use quorum::{QuorumRequest, QuorumResponse};

#[cfg(test)]
mod golden_test;
#[cfg(test)]
mod messages_test;
