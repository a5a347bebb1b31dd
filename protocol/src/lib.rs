//! Bytes to meaning and back: Kafka's frames, headers, messages and record batches.
//!
//! Nothing here knows of sockets, files, tokio or brokers. Whatever a client sent is bounded
//! before memory is reserved for it, and a value that exists has been checked.

pub mod api;
pub mod batch;
pub mod codec;
pub mod error;
pub mod fetch;
pub mod frame;
pub mod header;
mod hot;
#[allow(missing_docs)] // The fields are Kafka's.
pub mod messages;
pub mod produce;
pub mod uuid;
pub mod varint;

pub use api::ApiKey;
pub use codec::{DecodeError, Reader, Writer};
pub use error::ErrorCode;
pub use hot::{LeaderIdAndEpoch, NodeEndpoint, TopicRef};
pub use uuid::Uuid;
