//! The record batch, version 2: Kafka's unit of appending, storing and fetching.
//!
//! A client's bytes become a [`RawBatch`] (one complete batch, cut out of a buffer), then a [`ValidBatch`]
//! (everything in it has been checked, [`Facts`] tell what it holds), which the leader [stamps](ValidBatch::stamp)
//! in place. Readers of logs and fetch answers walk [`Batches`] of [`BatchView`]s. A [`BatchBuilder`] makes new ones.
//! Nothing here copies or allocates unless a batch is compressed or refused.

mod build;
mod codec;
mod control;
mod cursor;
mod fault;
mod header;
mod pack;
mod recompress;
mod records;
mod snappy;
mod stamp;
mod stream;
mod unpack;
mod validate;
mod view;

pub use build::{BatchBuilder, BuildError, NewHeader};
pub use codec::{Caps, Codec};
pub use control::{ControlType, EndTxnMarker};
pub use fault::{Class, Fault, Malformed, RecordCause, RecordFault};
pub use header::{
    Attributes, HEADER_BYTES, Header, MAGIC, NO_TIMESTAMP, OVERHEAD_BYTES, PREFIX_BYTES, Producer,
    sequence_plus,
};
pub use records::{Headers, Record, RecordHeader, Records};
pub use stamp::Stamp;
pub use unpack::Scratch;
pub use validate::{Facts, Origin, Rules, TimestampRule, ValidBatch};
pub use view::{BatchView, Batches, RawBatch, peek_transactional};

#[cfg(test)]
mod batch_test;
#[cfg(test)]
mod faults_test;
