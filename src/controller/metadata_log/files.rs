//! The log's files in the hands of the one who writes them.

use std::path::Path;

use barnabas_protocol::batch::{BatchView, Batches, Caps, Origin, RawBatch, Rules, Scratch, TimestampRule};

use super::{LARGEST_BATCH, Position, SnapshotId, batches};
use crate::clock::Now;
use crate::controller::error::ControllerError;
use crate::controller::record::Record;
use crate::storage::{Appender, Log};

/// Bytes read at once while replaying.
const READ_BYTES: u64 = 1 << 20;

/// What is written to.
pub(in crate::controller) struct Files {
    pub(in crate::controller) appender: Appender,
    pub(in crate::controller) scratch: Scratch,
    pub(in crate::controller) bytes_since_snapshot: u64,
}

impl Files {
    /// Over an opened log.
    pub(in crate::controller) fn new(appender: Appender) -> Files {
        Files { appender, scratch: Scratch::default(), bytes_since_snapshot: 0 }
    }

    /// Appends a batch to the file.
    pub(in crate::controller) fn append(
        &mut self,
        bytes: &mut [u8],
        epoch: i32,
        now: Now,
    ) -> Result<Position, ControllerError> {
        let path = self.appender.log().dir().to_path_buf();
        let damaged = |fault| ControllerError::Batch { path: path.clone(), fault };
        let rules = Rules {
            origin: Origin::Coordinator,
            max_bytes: usize::try_from(LARGEST_BATCH).unwrap_or(usize::MAX),
            compacted: false,
            timestamps: TimestampRule::Create { before_max_ms: i64::MAX, after_max_ms: i64::MAX },
            now_ms: now.wall_ms,
            caps: Caps::default(),
            codec: None,
        };
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let raw = RawBatch::sole(bytes, true).map_err(damaged)?;
        let batch = raw.validate(&rules, &mut self.scratch).map_err(damaged)?;
        let appended = self.appender.append(batch, epoch, Origin::Coordinator, now)?;
        self.bytes_since_snapshot = self.bytes_since_snapshot.saturating_add(length);
        Ok(Position { offset: appended.last_offset, epoch, timestamp_ms: now.wall_ms })
    }

    /// What a snapshot holds need not be kept. Blocks.
    pub(in crate::controller) fn trim(
        &mut self,
        snapshot: SnapshotId,
        now: Now,
    ) -> Result<(), ControllerError> {
        self.bytes_since_snapshot = 0;
        self.appender.advance_log_start(snapshot.offset)?;
        if let Some(removal) = self.appender.retention(snapshot.offset, now)?.removal {
            // Whoever reads in a removed file has it open; whoever comes later is given the snapshot.
            removal.run()?;
        }
        Ok(())
    }
}

/// What takes a batch: its place and its records.
pub(in crate::controller) type Take<'a> = dyn FnMut(Position, &[Record]) -> Result<(), ControllerError> + 'a;

/// Gives every batch between two offsets in order; control batches have no records. Gives the bytes it took.
pub(in crate::controller) fn replay(
    log: &Log,
    from: i64,
    to: i64,
    take: &mut Take<'_>,
) -> Result<u64, ControllerError> {
    let path = log.dir();
    walk(log, from, to, &mut |batch| {
        let header = batch.header();
        let (offset, epoch) = (header.last_offset(), header.leader_epoch);
        take(Position { offset, epoch, timestamp_ms: header.max_timestamp }, &records(batch, from, path)?)
    })
}

/// Gives every batch between two offsets in order. Gives the bytes it took.
pub(in crate::controller) fn walk(
    log: &Log,
    from: i64,
    to: i64,
    take: &mut dyn FnMut(&BatchView<'_>) -> Result<(), ControllerError>,
) -> Result<u64, ControllerError> {
    let path = log.dir();
    let mut next = from;
    let mut total = 0_u64;
    while next < to {
        let slice = log.read(next, READ_BYTES, true, to)?;
        let bytes = slice.chunk.load().map_err(ControllerError::io("read", path))?;
        let before = next;
        for batch in Batches::new(&bytes) {
            let batch = batch.map_err(|fault| ControllerError::Batch { path: path.into(), fault })?;
            take(&batch)?;
            next = batch.header().next_offset();
            total = total.saturating_add(u64::try_from(batch.bytes().len()).unwrap_or_default());
        }
        if next == before {
            let what = format!("nothing can be read at offset {next}");
            return Err(ControllerError::Corrupt { path: path.into(), what });
        }
    }
    Ok(total)
}

/// The metadata records of a batch from an offset on.
pub(in crate::controller) fn records(
    batch: &BatchView<'_>,
    from: i64,
    path: &Path,
) -> Result<Vec<Record>, ControllerError> {
    match batches::read(batch, path)? {
        batches::Batch::Records(records) => {
            Ok(records.into_iter().filter(|(offset, _)| *offset >= from).map(|(_, record)| record).collect())
        }
        batches::Batch::Control(_) => Ok(Vec::new()),
    }
}
