//! Batches of the metadata log and of snapshots, built and read.

use std::path::Path;

use barnabas_protocol::batch::{BatchBuilder, BatchView, BuildError, Caps, ControlType, Fault, Scratch};
use barnabas_protocol::messages::Message;
use barnabas_protocol::messages::records::control::{
    KRaftVersionRecord, LeaderChangeMessage, LeaderChangeVoter, SnapshotFooterRecord, SnapshotHeaderRecord,
};
use barnabas_protocol::messages::records::{RecordError, from_self_versioned};

use super::voters::Voters;
use crate::clock::Now;
use crate::controller::error::ControllerError;
use crate::controller::record::{self, Record};
use crate::ids::Uuid;

/// What a batch holds.
#[derive(Debug)]
pub(in crate::controller) enum Batch {
    /// Metadata, with offsets.
    Records(Vec<(i64, Record)>),
    /// What concerns the quorum or the snapshot, not the metadata.
    Control(Vec<Control>),
}

/// A control record.
#[derive(Debug)]
pub(in crate::controller) enum Control {
    /// An epoch begins.
    LeaderChange,
    /// A snapshot begins.
    SnapshotHeader(SnapshotHeaderRecord),
    /// A snapshot is complete.
    SnapshotFooter,
    /// Who votes from here on.
    Voters(Voters),
    /// Others.
    Other,
}

/// Metadata records as a batch.
pub(in crate::controller) fn data(
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

/// The batch that begins an epoch: who leads, who votes.
pub(in crate::controller) fn leader_change(
    leader: i32,
    voters: impl IntoIterator<Item = (i32, Uuid)>,
    epoch: i32,
    now: Now,
) -> Result<Vec<u8>, BuildError> {
    let voters: Vec<LeaderChangeVoter> = voters
        .into_iter()
        .map(|(voter_id, voter_directory_id)| LeaderChangeVoter { voter_id, voter_directory_id })
        .collect();
    // Directories are told where they are known: with voters that may change.
    let version = i16::from(voters.iter().any(|voter| !voter.voter_directory_id.is_zero()));
    let granting_voters = voters.iter().filter(|voter| voter.voter_id == leader).cloned().collect();
    let message = LeaderChangeMessage { version, leader_id: leader, voters, granting_voters };
    control([(ControlType::LeaderChange, message.to_bytes(version))], 0, epoch, now)
}

/// The batch that says who votes from here on.
pub(in crate::controller) fn voters(voters: &Voters, epoch: i32, now: Now) -> Result<Vec<u8>, BuildError> {
    control([(ControlType::KRaftVoters, voters.to_record().to_bytes(0))], 0, epoch, now)
}

/// The first batch of a snapshot; voters only if they may change.
pub(super) fn snapshot_header(
    header: &SnapshotHeaderRecord,
    voters: Option<&Voters>,
    epoch: i32,
    now: Now,
) -> Result<Vec<u8>, BuildError> {
    let mut records = vec![(ControlType::SnapshotHeader, header.to_bytes(0))];
    if let Some(voters) = voters {
        let version = KRaftVersionRecord { version: 0, kraft_version: 1 };
        records.push((ControlType::KRaftVersion, version.to_bytes(0)));
        records.push((ControlType::KRaftVoters, voters.to_record().to_bytes(0)));
    }
    control(records, 0, epoch, now)
}

/// The last batch of a snapshot.
pub(super) fn snapshot_footer(base_offset: i64, epoch: i32, now: Now) -> Result<Vec<u8>, BuildError> {
    let footer = SnapshotFooterRecord { version: 0 }.to_bytes(0);
    control([(ControlType::SnapshotFooter, footer)], base_offset, epoch, now)
}

fn control(
    records: impl IntoIterator<Item = (ControlType, Vec<u8>)>,
    base_offset: i64,
    epoch: i32,
    now: Now,
) -> Result<Vec<u8>, BuildError> {
    let mut batch = BatchBuilder::new().base_offset(base_offset).leader_epoch(epoch);
    for (kind, value) in records {
        batch.append_control(kind, now.wall_ms, &value);
    }
    batch.finish()
}

/// Checks a batch and reads what is in it.
pub(in crate::controller) fn read(batch: &BatchView<'_>, path: &Path) -> Result<Batch, ControllerError> {
    let damaged = |fault: Fault| ControllerError::Batch { path: path.into(), fault };
    batch.check_crc().map_err(damaged)?;
    let header = *batch.header();
    let mut scratch = Scratch::default();
    let (mut records, mut controls) = (Vec::new(), Vec::new());
    for read in batch.records(&mut scratch, Caps::default()).map_err(damaged)? {
        let read = read.map_err(damaged)?;
        let offset = read.offset(header.base_offset);
        let failed = |error| ControllerError::Record { path: path.into(), offset, error };
        let value = read.value.unwrap_or_default();
        if header.attributes.control() {
            controls.push(control_record(ControlType::of(&read), value).map_err(failed)?);
        } else {
            records.push((offset, Record::decode(value).map_err(failed)?));
        }
    }
    Ok(if header.attributes.control() { Batch::Control(controls) } else { Batch::Records(records) })
}

fn control_record(kind: Option<ControlType>, value: &[u8]) -> Result<Control, RecordError> {
    Ok(match kind {
        Some(ControlType::LeaderChange) => Control::LeaderChange,
        Some(ControlType::SnapshotHeader) => Control::SnapshotHeader(from_self_versioned(value)?),
        Some(ControlType::SnapshotFooter) => Control::SnapshotFooter,
        Some(ControlType::KRaftVoters) => Control::Voters(Voters::from_record(from_self_versioned(value)?)),
        _ => Control::Other,
    })
}
