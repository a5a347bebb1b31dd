//! The segment that is being written.

use std::io;
use std::sync::Arc;

use barnabas_protocol::batch::Header;

use super::scan::{HeaderScan, ScanError};
use super::segment::{LOG, Segment};
use super::{LogConfig, offset_index, time_index};
use crate::clock::Now;
use crate::disk::{Disk, OpenMode};

/// Reserved space grows with the segment, within these bounds.
const LEAST_RESERVE_BYTES: u64 = 256 << 10;
const MOST_RESERVE_BYTES: u64 = 16 << 20;

/// What only the writer knows of the active segment.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) segment: Arc<Segment>,
    pub(super) bytes: u64,
    bytes_since_index: u64,
    /// Largest timestamp (ms) and the last offset of the first batch that has it.
    largest: (i64, i64),
    last_time_entry: i64,
    offset_entries: u64,
    time_entries: u64,
    /// Of the first batch, ms.
    first_timestamp: Option<i64>,
    created_ms: i64,
    reserved: Reserved,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reserved {
    /// Blocks up to here; 0 if none are.
    To(u64),
    /// The disk cannot do it.
    Never,
}

/// What is known of a batch before it has its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming {
    pub(super) bytes: u64,
    pub(super) largest_timestamp: i64,
    pub(super) last_offset: i64,
}

impl Active {
    /// An empty segment.
    pub(super) fn new(segment: Arc<Segment>, now: Now) -> Active {
        Active {
            segment,
            bytes: 0,
            bytes_since_index: 0,
            largest: (-1, -1),
            last_time_entry: -1,
            offset_entries: 0,
            time_entries: 0,
            first_timestamp: None,
            created_ms: now.wall_ms,
            reserved: Reserved::To(0),
        }
    }

    /// A segment that has been written before, its indexes up to date. Also gives the offset after its last batch.
    pub(super) fn resume(
        disk: &dyn Disk,
        segment: &Arc<Segment>,
        now: Now,
    ) -> Result<(Active, i64), ScanError> {
        // Not kept open: of many logs few are written soon.
        let file = disk.open(&segment.path(LOG), OpenMode::Read)?;
        let bytes = segment.bytes();
        let last_time = segment.times.last(disk)?;
        let from = segment.offsets.last(disk)?.map_or(0, |(_, position)| u64::from(position));
        let mut active = Active::new(Arc::clone(segment), now);
        active.offset_entries = segment.offsets.len() as u64;
        active.time_entries = segment.times.len() as u64;
        if let Some((timestamp, relative)) = last_time {
            active.last_time_entry = timestamp;
            active.largest = (timestamp, segment.base.saturating_add(i64::from(relative)));
        }
        let mut first = HeaderScan::new(Arc::clone(&file), 0, bytes);
        active.first_timestamp = first.next()?.map(|found| found.header.max_timestamp);
        let mut end = segment.base;
        let mut scan = HeaderScan::new(file, from, bytes);
        while let Some(found) = scan.next()? {
            end = found.header.next_offset();
            if found.header.max_timestamp > active.largest.0 {
                active.largest = (found.header.max_timestamp, found.header.last_offset());
            }
        }
        active.bytes = bytes;
        segment.publish(bytes, active.largest.0);
        Ok((active, end))
    }

    /// Must the next batch go to a new segment?
    pub(super) fn must_roll(
        &self,
        config: &LogConfig,
        incoming: &Incoming,
        jitter_ms: i64,
        now: Now,
    ) -> bool {
        let age_ms = match self.first_timestamp {
            Some(first) if first >= 0 => incoming.largest_timestamp.saturating_sub(first),
            _ => now.wall_ms.saturating_sub(self.created_ms),
        };
        let index_bytes = u64::from(config.segment_index_bytes);
        let time_capacity = (index_bytes / time_index::ENTRY_BYTES as u64).saturating_sub(1);
        self.bytes.saturating_add(incoming.bytes) > u64::from(config.segment_bytes)
            || (self.bytes > 0 && age_ms > config.roll_ms().saturating_sub(jitter_ms))
            || self.offset_entries >= index_bytes / offset_index::ENTRY_BYTES as u64
            || self.time_entries >= time_capacity
            || incoming.last_offset.saturating_sub(self.segment.base) > i64::from(i32::MAX)
    }

    /// Writes a batch behind the others: one write.
    pub(super) fn write(&mut self, disk: &dyn Disk, bytes: &[u8], config: &LogConfig) -> io::Result<()> {
        let file = self.segment.file(disk)?;
        let end = self.bytes.saturating_add(bytes.len() as u64);
        if let Reserved::To(reserved) = self.reserved
            && end > reserved
            && (end >= LEAST_RESERVE_BYTES || config.preallocate)
        {
            let limit = u64::from(config.segment_bytes).max(end);
            let step = end.clamp(LEAST_RESERVE_BYTES, MOST_RESERVE_BYTES);
            let to = if config.preallocate { limit } else { end.saturating_add(step).min(limit) };
            // Only a favour: a full disk shows at the write.
            self.reserved = match file.reserve(self.bytes, to - self.bytes) {
                Ok(()) => Reserved::To(to),
                Err(_) => Reserved::Never,
            };
        }
        file.write_at(self.bytes, bytes)
    }

    /// Notes a batch that now lies behind the others, and indexes it where Kafka does.
    pub(super) fn note(&mut self, header: &Header, interval_bytes: u32) {
        let last_offset = header.last_offset();
        if self.bytes == 0 {
            self.first_timestamp = Some(header.max_timestamp);
        }
        if header.max_timestamp > self.largest.0 {
            self.largest = (header.max_timestamp, last_offset);
        }
        if self.bytes_since_index > u64::from(interval_bytes)
            && let Ok(position) = u32::try_from(self.bytes)
        {
            self.segment.offsets.append(self.segment.relative(last_offset), position);
            self.offset_entries += 1;
            self.index_time();
            self.bytes_since_index = 0;
        }
        let size = header.total_bytes() as u64;
        self.bytes += size;
        self.bytes_since_index += size;
    }

    /// Lets readers see what was noted.
    pub(super) fn publish(&self) {
        self.segment.publish(self.bytes, self.largest.0);
    }

    /// Adds the last entry of the time index: nothing more comes.
    pub(super) fn complete_indexes(&mut self) {
        self.index_time();
    }

    fn index_time(&mut self) {
        let (timestamp, offset) = self.largest;
        if timestamp > self.last_time_entry {
            self.segment.times.append((timestamp, self.segment.relative(offset)));
            self.last_time_entry = timestamp;
            self.time_entries += 1;
        }
    }

    /// Completes the indexes, writes them out and gives reserved space back.
    pub(super) fn finish(&mut self, disk: &dyn Disk, sync: bool) -> io::Result<()> {
        self.index_time();
        self.segment.write_indexes(disk, sync)?;
        let file = self.segment.file(disk)?;
        if self.reserved != Reserved::To(0) {
            file.set_len(self.bytes)?;
        }
        if sync { file.sync_data() } else { Ok(()) }
    }
}
