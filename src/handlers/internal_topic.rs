//! The topics that the broker makes for itself, with the settings Kafka gives them.

use crate::config::Config;
use crate::controller::NewTopic;

/// Groups and committed offsets.
pub const CONSUMER_OFFSETS: &str = "__consumer_offsets";
/// Transactions.
pub const TRANSACTION_STATE: &str = "__transaction_state";

/// How an internal topic is made; none for an ordinary one.
pub fn internal_topic(name: &str, config: &Config) -> Option<NewTopic> {
    let set = |pairs: &[(&str, String)]| {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    };
    let (partitions, replication_factor, configs) = match name {
        CONSUMER_OFFSETS => {
            let offsets = &config.offsets;
            let configs = set(&[
                ("cleanup.policy", "compact".to_owned()),
                ("compression.type", "producer".to_owned()),
                ("segment.bytes", offsets.segment_bytes.to_string()),
            ]);
            (offsets.num_partitions, offsets.replication_factor, configs)
        }
        TRANSACTION_STATE => {
            let transactions = &config.transactions;
            let configs = set(&[
                ("cleanup.policy", "compact".to_owned()),
                ("compression.type", "uncompressed".to_owned()),
                ("min.insync.replicas", transactions.min_isr.to_string()),
                ("segment.bytes", transactions.segment_bytes.to_string()),
                ("unclean.leader.election.enable", "false".to_owned()),
            ]);
            (transactions.num_partitions, transactions.replication_factor, configs)
        }
        _ => return None,
    };
    Some(NewTopic { name: name.to_owned(), partitions, replication_factor, configs })
}
