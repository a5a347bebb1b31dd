//! Consumer groups (KIP-848): the broker assigns, members only report.
//!
//! A group's epoch rises with every change of members, subscriptions and topics. An assignor then computes what each
//! member is to have (its target), at most once per assignment interval. Members come to their targets one heartbeat
//! at a time: a partition is given up by its old owner, then taken by the new one. All of this is on record; only
//! sessions and what is being looked up live beside it. One file per verb.
//!
//! Members may speak the classic protocol ([`classic`]): a group with members changes its kind when the first consumer
//! comes (`upgrade`) and when the last one goes (`downgrade`), as `group.consumer.migration.policy` allows.

mod advance;
pub mod classic;
mod codec;
pub mod describe;
mod downgrade;
mod find;
mod hash;
pub mod heartbeat;
pub mod leave;
pub mod live;
pub mod offsets;
pub mod reconcile;
pub mod record;
pub mod regex;
pub mod state;
mod subscription;
mod target;
mod upgrade;

pub use codec::{decode, encode, is_ours};
pub use live::Live;
pub use record::Change;
pub use state::ConsumerGroup;

use super::GroupError;

/// A refusal, with Kafka's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The cause.
    pub error: GroupError,
    /// For the client's log.
    pub message: Option<String>,
}

impl Refused {
    pub(super) fn new(error: GroupError, message: String) -> Refused {
        Refused { error, message: Some(message) }
    }
}

impl From<GroupError> for Refused {
    fn from(error: GroupError) -> Refused {
        Refused { error, message: None }
    }
}
