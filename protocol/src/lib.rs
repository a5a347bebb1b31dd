//! Bytes to meaning and back: Kafka's frames, headers, messages and record batches.
//!
//! Nothing here knows of sockets, files, tokio or brokers. Whatever a client sent is bounded
//! before memory is reserved for it, and a value that exists has been checked.

pub mod api;
pub mod codec;
pub mod error;
pub mod frame;
pub mod header;
#[allow(missing_docs)] // The fields are Kafka's.
pub mod messages;
pub mod uuid;
pub mod varint;

pub use api::ApiKey;
pub use codec::{DecodeError, Reader, Writer};
pub use error::ErrorCode;
pub use uuid::Uuid;
