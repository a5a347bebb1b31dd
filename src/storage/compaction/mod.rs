//! Compaction: of all records of a key, the last one stays.
//!
//! A [`Plan`] says how much of a log is dirty and whether that is enough. A [`Cleaning`] first reads the dirty part
//! and notes the last offset of every key, then copies the segments, a group at a time, without the records that a
//! later one replaces. Each copy takes the place of its segments by renames:
//!
//! ```text
//! 0.log 100.log 200.log            the group
//! 0.log.cleaned                    being written; thrown away at the next opening
//! 0.log.swap                       complete: from here on the next opening finishes the exchange
//! 0.log.deleted 100.log.deleted …  the old ones, on their way out
//! 0.log                            in place
//! ```
//!
//! Batches keep their range of offsets, so that every offset stays valid; the active segment is never touched.
//! What stays is what Kafka's cleaner leaves, byte for byte.

mod cleaning;
mod filter;
mod key_map;
mod output;
mod plan;
mod swap;
mod transactions;

pub use cleaning::{CleanError, Cleaning, Limits, Outcome, Step};
pub use output::Cleaned;
pub use plan::Plan;

pub(super) use swap::finish_interrupted;

#[cfg(test)]
mod cleaning_test;
#[cfg(test)]
mod model_test;
