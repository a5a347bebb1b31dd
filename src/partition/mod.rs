//! The data plane: a partition's log, who may write to it, what is committed, and who waits.
//!
//! [`Partitions`] opens and closes the logs as the metadata says; [`Table`] finds them; a [`Partition`]
//! appends and reads as its leader, or copies its leader's log; [`Waiters`] tells long polls and waiting produces.

mod cleaner;
mod error;
mod follower;
mod in_sync;
mod leader;
mod log_dir;
mod maintenance;
mod neighbours;
mod partitions;
mod replica;
mod startup;
mod table;
mod wait;

pub use cleaner::CleanerSettings;
pub use error::PartitionError;
pub use follower::{LeaderState, Truncated};
pub use in_sync::{Assignment, Change, FollowerFetch};
pub use leader::IsrState;
pub use log_dir::LogDir;
pub use maintenance::Schedule;
pub use neighbours::Proposal;
pub use partitions::{Doors, Partitions, Settings};
pub use replica::{Acks, Fetched, Isolation, Partition, Read};
pub use table::{Table, Topic};
pub use wait::{Sees, Waiter, Waiters};
