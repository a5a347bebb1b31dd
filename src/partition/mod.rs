//! The data plane: a partition's log, who may write to it, what is committed, and who waits.

mod wait;

pub use wait::{Waiter, Waiters};
