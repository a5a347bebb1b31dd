//! The copy of a group of segments while it is written.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use barnabas_protocol::batch::Header;

use crate::clock::Now;
use crate::disk::{Disk, DiskFile, OpenMode};
use crate::storage::AbortedTransaction;
use crate::storage::active::Active;
use crate::storage::segment::{INDEX, LOG, Segment, TIME_INDEX, TXN_INDEX};
use crate::storage::txn_index;

pub(super) const CLEANED: &str = "cleaned";
pub(super) const SWAP: &str = "swap";

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 512 << 10;

/// A copy that is complete and synced, beside the segments that it stands for.
#[derive(Debug)]
pub struct Cleaned {
    pub(super) old: Vec<Arc<Segment>>,
    pub(super) segment: Arc<Segment>,
    /// Which files it has.
    pub(super) extensions: Vec<&'static str>,
}

/// The copy being written.
#[derive(Debug)]
pub(super) struct Output {
    disk: Arc<dyn Disk>,
    file: Arc<dyn DiskFile>,
    active: Active,
    aborted: Vec<AbortedTransaction>,
    buffer: Vec<u8>,
    written: u64,
}

/// The name of one of a segment's files, with a suffix.
pub(super) fn suffixed(segment: &Segment, extension: &str, suffix: &str) -> PathBuf {
    let mut name = segment.path(extension).into_os_string();
    name.push(".");
    name.push(suffix);
    name.into()
}

impl Output {
    pub(super) fn new(disk: &Arc<dyn Disk>, dir: &Arc<Path>, base: i64, now: Now) -> io::Result<Output> {
        let segment = Segment::new(Arc::clone(dir), base, 0, 0, 0);
        let file = disk.open(&suffixed(&segment, LOG, CLEANED), OpenMode::Truncate)?;
        let active = Active::new(Arc::new(segment), now);
        let (aborted, buffer) = (Vec::new(), Vec::new());
        Ok(Output { disk: Arc::clone(disk), file, active, aborted, buffer, written: 0 })
    }

    pub(super) fn append(&mut self, bytes: &[u8], header: &Header, interval_bytes: u32) -> io::Result<()> {
        self.active.note(header, interval_bytes);
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES { self.write_out() } else { Ok(()) }
    }

    pub(super) fn note_aborted(&mut self, aborted: AbortedTransaction) {
        self.aborted.push(aborted);
    }

    fn write_out(&mut self) -> io::Result<()> {
        self.file.write_at(self.written, &self.buffer)?;
        self.file.start_sync(self.written, self.buffer.len() as u64);
        self.written = self.written.saturating_add(self.buffer.len() as u64);
        self.buffer.clear();
        Ok(())
    }

    /// Removes what was written.
    pub(super) fn discard(self) -> io::Result<()> {
        self.disk.remove_file(&suffixed(&self.active.segment, LOG, CLEANED))
    }

    /// Writes everything out and syncs it.
    pub(super) fn finish(mut self, old: Vec<Arc<Segment>>) -> io::Result<Cleaned> {
        let disk = self.disk.clone();
        if !self.buffer.is_empty() {
            self.write_out()?;
        }
        self.active.complete_indexes();
        self.active.publish();
        let segment = &self.active.segment;
        let mut indexes = vec![
            (INDEX, segment.offsets.bytes(disk.as_ref())?),
            (TIME_INDEX, segment.times.bytes(disk.as_ref())?),
        ];
        if !self.aborted.is_empty() {
            indexes.push((TXN_INDEX, txn_index::bytes(&self.aborted)));
        }
        let modified_ms = match old.last() {
            Some(last) => disk.meta(&last.path(LOG))?.map(|meta| meta.modified_ms),
            None => None,
        };
        let mut extensions = Vec::with_capacity(4);
        for (extension, bytes) in indexes {
            let file = disk.open(&suffixed(segment, extension, CLEANED), OpenMode::Truncate)?;
            file.write_at(0, &bytes)?;
            file.sync_data()?;
            extensions.push(extension);
        }
        self.file.sync_data()?;
        if let Some(modified_ms) = modified_ms {
            // Retention of records without a timestamp goes by it.
            self.file.set_modified(modified_ms)?;
        }
        extensions.push(LOG);
        Ok(Cleaned { segment: Arc::new(segment.sealed()), old, extensions })
    }
}
