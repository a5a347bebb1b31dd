//! Coordinators: replicated state machines over the internal topics.
//!
//! A machine (`group/`, later `transaction/`) decides and is pure; [`machine`] says what a machine is. A
//! [`shard`] is one machine and the partition of the internal topic that holds its records, which it reaches
//! through [`log`]. The [`router`] knows the shards of this broker, loads them and fires their timers.
//! [`Groups`] is what handlers hold.

pub mod group;
mod groups;
pub mod log;
pub mod machine;
mod partition_log;
mod records;
mod router;
mod shard;
#[cfg(test)]
mod story;
mod timers;

pub use group::{GroupError, GroupSettings, Request, Response};
pub use groups::{Groups, OFFSETS_TOPIC};
pub use log::{LogFault, ShardLog};
pub use partition_log::PartitionLog;
pub use records::Stored;
pub use router::Router;
pub use shard::{Answer, Reply, Unavailable};
