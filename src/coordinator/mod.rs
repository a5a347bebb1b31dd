//! Coordinators: replicated state machines over the internal topics.
//!
//! A machine (`group/`, later `transaction/`) decides and is pure; a shard is one machine and the partition
//! of the internal topic that holds its records. [`machine`] says what a machine is.

pub mod machine;
