//! Coordinators: replicated state machines over the internal topics.
//!
//! A machine (`group/`, `transaction/`) decides and is pure; [`machine`] says what a machine is. A
//! [`shard`] is one machine and the partition of the internal topic that holds its records, which it reaches
//! through [`log`]. The [`router`] knows the shards of this broker, loads them and fires their timers.
//! [`Groups`] and [`Transactions`] are what handlers hold; [`Markers`] carry a transaction's end to where it wrote.

pub mod group;
mod groups;
pub mod log;
pub mod machine;
mod markers;
mod partition_log;
mod re2;
mod records;
mod remote_markers;
mod remote_transactions;
mod router;
mod shard;
#[cfg(test)]
mod story;
mod timers;
pub mod transaction;
mod transactions;

pub use group::{GroupError, GroupSettings, Request, Response};
pub use groups::{Groups, OFFSETS_TOPIC};
pub use log::{LogFault, Marker, ShardLog};
pub use markers::{MarkerFault, Markers, Unsettled};
pub use partition_log::PartitionLog;
pub use records::Stored;
pub use remote_markers::Elsewhere;
pub use router::{Performer, Router};
pub use shard::{Answer, Reply, Unavailable};
pub use transaction::{TransactionError, TransactionSettings};
pub use transactions::{TRANSACTIONS_TOPIC, Transactions};
