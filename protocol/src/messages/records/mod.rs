//! The messages that Kafka keeps in logs and files.
//!
//! Three framings stand around them. Records of the metadata log carry their type and version in front
//! ([`metadata`]). Keys of `__consumer_offsets`, `__transaction_state` and `__share_group_state` begin with
//! the record type and values with their version: [`OffsetsRecord`], [`TransactionRecord`], [`ShareRecord`].
//! What stands alone is prefixed with its version ([`to_versioned`], [`from_versioned`]), except for the
//! control records whose first field it is ([`from_self_versioned`]).

pub mod aborted_txn;
pub mod classic_group;
pub mod consumer_group;
pub mod consumer_protocol;
pub mod control;
pub mod metadata;
pub mod producer_snapshot;
pub mod share_group;
pub mod share_state;
pub mod streams_group;
pub mod transaction_log;

mod keyed;

pub use keyed::{OffsetsRecord, ShareRecord, TransactionRecord};

use thiserror::Error;

use crate::codec::{DecodeError, Reader, Wire, Writer};
use crate::messages::Message;

/// Why bytes are not the record they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// The log has no record of this type in Kafka 4.4; a newer broker may have written it.
    #[error("unknown record type {0}")]
    UnknownType(i64),
    /// A metadata record in a frame of another version than 1.
    #[error("unknown frame version {0} of a metadata record")]
    UnknownFrame(u32),
    /// The bytes are malformed, or of a version that Kafka 4.4 does not have.
    #[error(transparent)]
    Malformed(#[from] DecodeError),
}

/// The message's bytes behind its version (two bytes).
pub fn to_versioned(message: &impl Message, version: i16) -> Vec<u8> {
    let mut out = version.to_be_bytes().to_vec();
    message.encode(&mut Writer::new(&mut out, version));
    out
}

/// Reads a message that stands behind its version (two bytes).
pub fn from_versioned<M: Message>(bytes: &[u8]) -> Result<M, DecodeError> {
    let mut r = Reader::new(bytes, 0);
    let version = i16::read(&mut r)?;
    M::from_bytes(r.rest(), version)
}

/// Reads a message whose first field (two bytes) is its version.
pub fn from_self_versioned<M: Message>(bytes: &[u8]) -> Result<M, DecodeError> {
    let version = i16::read(&mut Reader::new(bytes, 0))?;
    M::from_bytes(bytes, version)
}

#[cfg(test)]
mod records_test;
