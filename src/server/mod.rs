//! From sockets to handlers and back: listeners, connections, dispatch, ordered replies, memory limits.
//!
//! A connection is one task. It owns a receive buffer only while bytes of a request are in it
//! ([`Memory`]), starts whole frames through [`dispatch`] and sends replies in order.

mod connection;
mod dispatch;
mod hang_ups;
mod inbox;
mod listener;
mod memory;
mod outbox;

pub use hang_ups::HangUps;
pub use listener::{Connections, Door, accept};
pub use memory::Memory;
