//! Batches of the metadata log and of snapshots, built and read.

use std::path::Path;

use barnabas_protocol::batch::{
    Attributes, BatchView, Caps, Fault, HEADER_BYTES, Header, MAGIC, OVERHEAD_BYTES, Scratch,
};
use barnabas_protocol::messages::Message;
use barnabas_protocol::messages::records::control::{
    LeaderChangeMessage, LeaderChangeVoter, SnapshotFooterRecord, SnapshotHeaderRecord,
};
use barnabas_protocol::messages::records::{RecordError, from_self_versioned};

use crate::clock::Now;
use crate::controller::error::ControllerError;
use crate::controller::record::{self, Record};

/// Kinds of control records.
const LEADER_CHANGE: i16 = 2;
const SNAPSHOT_HEADER: i16 = 3;
const SNAPSHOT_FOOTER: i16 = 4;

/// What a batch holds.
#[derive(Debug)]
pub(super) enum Batch {
    /// Metadata, with offsets.
    Records(Vec<(i64, Record)>),
    /// A snapshot's first batch.
    SnapshotHeader {
        /// Append time of the last record that the snapshot replaces.
        last_timestamp_ms: i64,
    },
    /// A snapshot's last batch.
    SnapshotFooter,
    /// Other control records: they concern the quorum, not the metadata.
    Control,
}

/// Metadata records as a batch.
pub(super) fn data(records: &[Record], base_offset: i64, epoch: i32, now: Now) -> Vec<u8> {
    let values: Vec<Vec<u8>> = records.iter().map(record::to_bytes).collect();
    let mut builder = builder(base_offset, epoch, now, false);
    for value in &values {
        builder.push(None, value);
    }
    builder.finish()
}

/// The batch that begins an epoch.
pub(super) fn leader_change(node: i32, base_offset: i64, epoch: i32, now: Now) -> Vec<u8> {
    let voter = LeaderChangeVoter { voter_id: node, ..Default::default() };
    let message = LeaderChangeMessage {
        version: 0,
        leader_id: node,
        voters: vec![voter.clone()],
        granting_voters: vec![voter],
    };
    control(LEADER_CHANGE, &message, base_offset, epoch, now)
}

/// The first batch of a snapshot.
pub(super) fn snapshot_header(last_timestamp_ms: i64, epoch: i32, now: Now) -> Vec<u8> {
    let message = SnapshotHeaderRecord { version: 0, last_contained_log_timestamp: last_timestamp_ms };
    control(SNAPSHOT_HEADER, &message, 0, epoch, now)
}

/// The last batch of a snapshot.
pub(super) fn snapshot_footer(base_offset: i64, epoch: i32, now: Now) -> Vec<u8> {
    control(SNAPSHOT_FOOTER, &SnapshotFooterRecord { version: 0 }, base_offset, epoch, now)
}

fn control(kind: i16, message: &impl Message, base_offset: i64, epoch: i32, now: Now) -> Vec<u8> {
    let [high, low] = kind.to_be_bytes();
    let mut builder = builder(base_offset, epoch, now, true);
    builder.push(Some(&[0, 0, high, low]), &message.to_bytes(0));
    builder.finish()
}

/// Checks a batch and reads what is in it.
pub(super) fn read(batch: &BatchView<'_>, path: &Path) -> Result<Batch, ControllerError> {
    let damaged = |fault: Fault| ControllerError::Batch { path: path.into(), fault };
    batch.check_crc().map_err(damaged)?;
    let header = *batch.header();
    let mut scratch = Scratch::default();
    let mut records = Vec::new();
    for read in batch.records(&mut scratch, Caps::default()).map_err(damaged)? {
        let read = read.map_err(damaged)?;
        let offset = read.offset(header.base_offset);
        let failed = |error| ControllerError::Record { path: path.into(), offset, error };
        let value = read.value.unwrap_or_default();
        if header.attributes.control() {
            return control_record(read.key.unwrap_or_default(), value).map_err(failed);
        }
        records.push((offset, Record::decode(value).map_err(failed)?));
    }
    Ok(Batch::Records(records))
}

fn control_record(key: &[u8], value: &[u8]) -> Result<Batch, RecordError> {
    match key {
        [_, _, high, low] if i16::from_be_bytes([*high, *low]) == SNAPSHOT_HEADER => {
            let header: SnapshotHeaderRecord = from_self_versioned(value)?;
            Ok(Batch::SnapshotHeader { last_timestamp_ms: header.last_contained_log_timestamp })
        }
        [_, _, high, low] if i16::from_be_bytes([*high, *low]) == SNAPSHOT_FOOTER => {
            Ok(Batch::SnapshotFooter)
        }
        _ => Ok(Batch::Control),
    }
}

/// Until the batch room's builder is there.
struct Builder {
    header: Header,
    records: Vec<u8>,
}

fn builder(base_offset: i64, epoch: i32, now: Now, control: bool) -> Builder {
    let header = Header {
        base_offset,
        length: 0,
        leader_epoch: epoch,
        magic: MAGIC,
        crc: 0,
        attributes: Attributes(0).with_control(control),
        last_offset_delta: -1,
        base_timestamp: now.wall_ms,
        max_timestamp: now.wall_ms,
        producer_id: -1,
        producer_epoch: -1,
        base_sequence: -1,
        record_count: 0,
    };
    Builder { header, records: Vec::new() }
}

impl Builder {
    fn push(&mut self, key: Option<&[u8]>, value: &[u8]) {
        self.header.last_offset_delta += 1;
        self.header.record_count += 1;
        let mut body = vec![0, 0];
        zigzag(&mut body, i64::from(self.header.last_offset_delta));
        zigzag(&mut body, key.map_or(-1, |key| i64::try_from(key.len()).unwrap_or_default()));
        body.extend_from_slice(key.unwrap_or_default());
        zigzag(&mut body, i64::try_from(value.len()).unwrap_or_default());
        body.extend_from_slice(value);
        body.push(0);
        zigzag(&mut self.records, i64::try_from(body.len()).unwrap_or_default());
        self.records.extend_from_slice(&body);
    }

    fn finish(mut self) -> Vec<u8> {
        self.header.length =
            i32::try_from(self.records.len() + HEADER_BYTES - OVERHEAD_BYTES).unwrap_or(i32::MAX);
        let covered = self.header.to_bytes();
        let crc = crc32c::crc32c(covered.get(21..).unwrap_or_default());
        self.header.crc = crc32c::crc32c_append(crc, &self.records);
        let mut bytes = self.header.to_bytes().to_vec();
        bytes.extend_from_slice(&self.records);
        bytes
    }
}

fn zigzag(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while rest >= 0x80 {
        out.push(u8::try_from(rest & 0x7f).unwrap_or_default() | 0x80);
        rest >>= 7;
    }
    out.push(u8::try_from(rest).unwrap_or_default());
}
