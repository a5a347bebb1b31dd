//! Reading and writing the values that messages are made of.
//!
//! [`Reader`] and [`Writer`] know the version and whether it is a flexible one (KIP-482); [`Wire`] is
//! what a type needs to be a field. What the bytes claim is never believed: a count must fit into what is
//! left, and everything decoded is charged to the reader's budget before memory is reserved.

mod reader;
mod wire;
mod writer;

pub use reader::{DECODED_SIZE_LIMIT, Reader};
pub use wire::{Nullable, Wire, differs, read_nullable, write_nullable};
pub use writer::Writer;

use thiserror::Error;

use crate::varint::VarintError;

/// Why bytes are not the message they should be. Whoever sent them broke the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The bytes end before the value does.
    #[error("{needed} bytes are needed where {left} are left")]
    Truncated {
        /// Bytes the value needs.
        needed: usize,
        /// Bytes that are there.
        left: usize,
    },
    /// An array claims more elements than the bytes that are left can hold.
    #[error("an array of {count} elements cannot fit into the {left} bytes that are left")]
    CountTooLarge {
        /// Elements claimed.
        count: usize,
        /// Bytes that are there.
        left: usize,
    },
    /// Decoded, the message would take more memory than it is granted.
    #[error("decoded, it would take more than the {limit} bytes that a request may")]
    OverBudget {
        /// The whole budget, in bytes.
        limit: usize,
    },
    /// A compact string of more than 32767 bytes.
    #[error("a string of {0} bytes is too long")]
    StringTooLong(usize),
    /// A length that is negative where that does not mean null.
    #[error("a length is negative")]
    NegativeLength,
    /// A null where this version has none.
    #[error("null where a value is required")]
    NullNotAllowed,
    /// A varint of more than five bytes.
    #[error("a varint is too long")]
    BadVarint,
    /// The message has no such version.
    #[error("version {0} is not supported")]
    UnsupportedVersion(i16),
    /// A tagged field that this version does not have.
    #[error("tag {tag} is not valid in version {version}")]
    InvalidTag {
        /// The tag.
        tag: u32,
        /// The version of the message.
        version: i16,
    },
}

impl DecodeError {
    pub(crate) fn from_varint(error: VarintError, left: usize) -> DecodeError {
        match error {
            VarintError::Truncated => DecodeError::Truncated { needed: left.saturating_add(1), left },
            VarintError::TooLong => DecodeError::BadVarint,
        }
    }
}

#[cfg(test)]
mod codec_test;
