//! The classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.
//!
//! A group goes Empty → PreparingRebalance → CompletingRebalance → Stable, and back to PreparingRebalance whenever
//! its members change. What survives a fail-over is the record written when the leader's assignment arrives, when
//! a static member is replaced in a stable group, and when the group empties.

pub mod expire;
pub mod heartbeat;
pub mod join;
pub mod leave;
pub mod rebalance;
pub mod state;
pub mod sync;
