//! Topics that the broker makes for itself.

use super::image::Overrides;
use super::verbs::NewTopic;
use crate::config::Config;

/// Committed offsets and groups.
pub const CONSUMER_OFFSETS: &str = "__consumer_offsets";
/// Transactions.
pub const TRANSACTION_STATE: &str = "__transaction_state";
/// Share groups.
pub const SHARE_GROUP_STATE: &str = "__share_group_state";

/// Topics that clients are told to keep their hands off.
pub fn is_internal(name: &str) -> bool {
    matches!(name, CONSUMER_OFFSETS | TRANSACTION_STATE | SHARE_GROUP_STATE)
}

/// A topic as it is made when somebody needs it: an internal one with its own settings, any other with the defaults.
pub fn new_topic(name: &str, config: &Config) -> NewTopic {
    let configs = |pairs: &[(&str, &str)]| -> Overrides {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let topic = |partitions, replication_factor, configs| NewTopic {
        name: name.to_owned(),
        partitions,
        replication_factor,
        configs,
    };
    match name {
        CONSUMER_OFFSETS => {
            let settings = &config.offsets;
            let segment_bytes = settings.segment_bytes.to_string();
            let configs = configs(&[
                ("cleanup.policy", "compact"),
                ("compression.type", "producer"),
                ("segment.bytes", &segment_bytes),
            ]);
            topic(settings.num_partitions, settings.replication_factor, configs)
        }
        TRANSACTION_STATE => {
            let settings = &config.transactions;
            let (min_isr, segment_bytes) = (settings.min_isr.to_string(), settings.segment_bytes.to_string());
            let configs = configs(&[
                ("cleanup.policy", "compact"),
                ("compression.type", "uncompressed"),
                ("min.insync.replicas", &min_isr),
                ("segment.bytes", &segment_bytes),
                ("unclean.leader.election.enable", "false"),
            ]);
            topic(settings.num_partitions, settings.replication_factor, configs)
        }
        _ => topic(-1, -1, Overrides::new()),
    }
}
