//! Batches of the metadata log and of snapshots, built and read.

use std::path::Path;

use barnabas_protocol::batch::{BatchBuilder, BatchView, BuildError, Caps, ControlType, Fault, Scratch};
use barnabas_protocol::messages::Message;
use barnabas_protocol::messages::records::control::{
    LeaderChangeMessage, LeaderChangeVoter, SnapshotFooterRecord, SnapshotHeaderRecord,
};
use barnabas_protocol::messages::records::{RecordError, from_self_versioned};

use crate::clock::Now;
use crate::controller::error::ControllerError;
use crate::controller::record::{self, Record};

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
pub(super) fn data(
    records: &[Record],
    base_offset: i64,
    epoch: i32,
    now: Now,
) -> Result<Vec<u8>, BuildError> {
    let mut batch = BatchBuilder::new().base_offset(base_offset).leader_epoch(epoch);
    for record in records {
        batch.append(now.wall_ms, None, Some(&record::to_bytes(record)));
    }
    batch.finish()
}

/// The batch that begins an epoch.
pub(super) fn leader_change(node: i32, epoch: i32, now: Now) -> Result<Vec<u8>, BuildError> {
    let voter = LeaderChangeVoter { voter_id: node, ..Default::default() };
    let message = LeaderChangeMessage {
        version: 0,
        leader_id: node,
        voters: vec![voter.clone()],
        granting_voters: vec![voter],
    };
    control(ControlType::LeaderChange, &message, 0, epoch, now)
}

/// The first batch of a snapshot.
pub(super) fn snapshot_header(last_timestamp_ms: i64, epoch: i32, now: Now) -> Result<Vec<u8>, BuildError> {
    let message = SnapshotHeaderRecord { version: 0, last_contained_log_timestamp: last_timestamp_ms };
    control(ControlType::SnapshotHeader, &message, 0, epoch, now)
}

/// The last batch of a snapshot.
pub(super) fn snapshot_footer(base_offset: i64, epoch: i32, now: Now) -> Result<Vec<u8>, BuildError> {
    control(ControlType::SnapshotFooter, &SnapshotFooterRecord { version: 0 }, base_offset, epoch, now)
}

fn control(
    kind: ControlType,
    message: &impl Message,
    base_offset: i64,
    epoch: i32,
    now: Now,
) -> Result<Vec<u8>, BuildError> {
    let mut batch = BatchBuilder::new().base_offset(base_offset).leader_epoch(epoch);
    batch.append_control(kind, now.wall_ms, &message.to_bytes(0));
    batch.finish()
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
            return control_record(ControlType::of(&read), value).map_err(failed);
        }
        records.push((offset, Record::decode(value).map_err(failed)?));
    }
    Ok(Batch::Records(records))
}

fn control_record(kind: Option<ControlType>, value: &[u8]) -> Result<Batch, RecordError> {
    match kind {
        Some(ControlType::SnapshotHeader) => {
            let header: SnapshotHeaderRecord = from_self_versioned(value)?;
            Ok(Batch::SnapshotHeader { last_timestamp_ms: header.last_contained_log_timestamp })
        }
        Some(ControlType::SnapshotFooter) => Ok(Batch::SnapshotFooter),
        _ => Ok(Batch::Control),
    }
}
