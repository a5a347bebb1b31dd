//! Reading: by offset, by timestamp.

use std::io;
use std::sync::Arc;

use barnabas_protocol::batch::{BatchView, OVERHEAD_BYTES, Scratch};

use super::log::{Log, Segments};
use super::scan::{Found, ScanError};
use super::segment::Segment;
use super::{AbortedTransaction, ReadError, ReadSlice, TimestampOffset};
use crate::disk::{Chunk, DiskFile};

impl Log {
    /// Bytes from the batch that holds `offset` on, at most `max_bytes`, of one segment, of batches below
    /// `upper_bound`. With `min_one` the first batch is whole whatever its size. Nothing at or beyond the bound.
    pub fn read(
        &self,
        offset: i64,
        max_bytes: u64,
        min_one: bool,
        upper_bound: i64,
    ) -> Result<ReadSlice, ReadError> {
        let upper = self.readable(offset, upper_bound)?;
        self.looking(|segments| self.slice(segments, offset, max_bytes, min_one, upper))
    }

    /// As [`Log::read`], with the aborted transactions that touch what is read.
    pub fn read_committed(
        &self,
        offset: i64,
        max_bytes: u64,
        min_one: bool,
        upper_bound: i64,
    ) -> Result<(ReadSlice, Vec<AbortedTransaction>), ReadError> {
        let upper = self.readable(offset, upper_bound)?;
        // From the same segments: those that take their places, or none, may no longer know of the transactions.
        self.looking(|segments| {
            let slice = self.slice(segments, offset, max_bytes, min_one, upper)?;
            let none = slice.chunk.is_empty() && !slice.first_cut;
            let aborted = if none { Vec::new() } else { self.aborted_in(segments, offset, slice.below)? };
            Ok((slice, aborted))
        })
    }

    /// Up to where may be read from an offset on; the offset itself if there is nothing.
    fn readable(&self, offset: i64, upper_bound: i64) -> Result<i64, ReadError> {
        // The end first: whatever the segments say later reaches at least as far.
        let end = self.end_offset();
        let start = self.start_offset();
        if offset < start || offset > end {
            return Err(ReadError::OutOfRange { offset, start, end });
        }
        Ok(upper_bound.min(end))
    }

    fn slice(
        &self,
        segments: &Segments,
        offset: i64,
        max_bytes: u64,
        min_one: bool,
        upper: i64,
    ) -> Result<ReadSlice, ScanError> {
        let nothing = ReadSlice { chunk: Chunk::EMPTY, first_cut: false, below: offset };
        if offset >= upper {
            return Ok(nothing);
        }
        let first = segments.partition_point(|segment| segment.base <= offset).saturating_sub(1);
        // Compaction may have left the segment without anything at or after the offset.
        for (at, segment) in segments.iter().enumerate().skip(first) {
            if segment.base >= upper {
                break;
            }
            let whole = segments.get(at + 1).is_some_and(|next| next.base <= upper);
            let limit = if whole { segment.bytes() } else { self.position_of(segment, upper)? };
            let Some((position, first_bytes)) = self.locate(segment, offset, limit, max_bytes)? else {
                continue;
            };
            let wanted = if min_one { max_bytes.max(first_bytes) } else { max_bytes };
            let length = wanted.min(limit - position);
            let first_cut = length < first_bytes;
            if length == 0 {
                return Ok(ReadSlice { chunk: Chunk::EMPTY, first_cut, below: offset });
            }
            let file = segment.file(self.disk.as_ref())?;
            let below = match segment.offsets.above(self.disk.as_ref(), position + length)? {
                Some(relative) => segment.base.saturating_add(i64::from(relative)),
                None => segments.get(at + 1).map_or_else(|| self.end_offset(), |next| next.base),
            };
            return Ok(ReadSlice { chunk: Chunk::File { file, position, length }, first_cut, below });
        }
        Ok(nothing)
    }

    /// Where the batch of an offset begins and how large it is; 0 if it is surely not larger than `max_bytes`.
    fn locate(
        &self,
        segment: &Segment,
        offset: i64,
        limit: u64,
        max_bytes: u64,
    ) -> Result<Option<(u64, u64)>, ScanError> {
        let disk = self.disk.as_ref();
        match self.boundaries.position(offset, segment.base) {
            Some(position) if position < limit => {
                let fits = max_bytes >= limit - position;
                let first_bytes = if fits { 0 } else { batch_bytes(segment.file(disk)?.as_ref(), position)? };
                Ok(Some((position, first_bytes.min(limit - position))))
            }
            _ => {
                let found = segment.find(disk, offset, limit)?;
                Ok(found.map(|found| (found.position, found.header.total_bytes() as u64)))
            }
        }
    }

    /// Where the batches of a segment that lie below an offset end.
    fn position_of(&self, segment: &Segment, offset: i64) -> Result<u64, ScanError> {
        if let Some(position) = self.boundaries.position(offset, segment.base) {
            return Ok(position);
        }
        let bytes = segment.bytes();
        let found = segment.find(self.disk.as_ref(), offset, bytes)?;
        Ok(found.map_or(bytes, |found| found.position))
    }

    /// The first record whose timestamp is `timestamp` (ms) or later. Reads, also compressed batches: may block.
    pub fn offset_for_timestamp(&self, timestamp: i64) -> Result<Option<TimestampOffset>, ReadError> {
        let start = self.start_offset();
        self.looking(|segments| {
            for segment in segments {
                if segment.largest_timestamp(self.disk.as_ref())? >= timestamp
                    && let Some(found) = self.search(segment, timestamp, start)?
                {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        })
    }

    /// The first record that has the largest timestamp. May block.
    pub fn max_timestamp(&self) -> Result<Option<TimestampOffset>, ReadError> {
        let start = self.start_offset();
        self.looking(|segments| {
            let mut largest: Option<(i64, &Segment)> = None;
            for segment in segments {
                let timestamp = segment.largest_timestamp(self.disk.as_ref())?;
                if timestamp >= 0 && largest.is_none_or(|(known, _)| timestamp > known) {
                    largest = Some((timestamp, segment));
                }
            }
            largest.map_or(Ok(None), |(timestamp, segment)| self.search(segment, timestamp, start))
        })
    }

    /// The first record of a segment, at or after `start`, whose timestamp is `timestamp` or later.
    fn search(
        &self,
        segment: &Segment,
        timestamp: i64,
        start: i64,
    ) -> Result<Option<TimestampOffset>, ScanError> {
        let disk = self.disk.as_ref();
        // The batch of an entry below the timestamp, or one before, is early enough.
        let relative = segment.times.lookup(disk, timestamp.saturating_sub(1))?;
        let from = segment.base.saturating_add(i64::from(relative)).max(start);
        let mut scan = segment.scan_from(disk, from)?;
        let mut scratch = Scratch::default();
        while let Some(found) = scan.next()? {
            if found.header.max_timestamp < timestamp || found.header.last_offset() < start {
                continue;
            }
            let bytes = read_batch(segment.file(disk)?.as_ref(), &found)?;
            let bad = |what: String| ScanError::Bad { position: found.position, what };
            let view = BatchView::first(&bytes).map_err(|fault| bad(fault.to_string()))?;
            let view = view.ok_or_else(|| bad("a batch is cut".into()))?;
            let first = view.find_time(timestamp, start, &mut scratch);
            if let Some((timestamp, offset)) = first.map_err(|fault| bad(fault.to_string()))? {
                let leader_epoch = found.header.leader_epoch;
                return Ok(Some(TimestampOffset { timestamp, offset, leader_epoch }));
            }
        }
        Ok(None)
    }

    /// Looks at the segments; once more if they changed meanwhile, which makes the files of old ones go away.
    fn looking<T>(&self, look: impl Fn(&Segments) -> Result<T, ScanError>) -> Result<T, ReadError> {
        let segments = self.segments.load_full();
        let error = match look(&segments) {
            Ok(result) => return Ok(result),
            Err(error) => error,
        };
        let now = self.segments.load_full();
        let error = if Arc::ptr_eq(&segments, &now) {
            error
        } else {
            match look(&now) {
                Ok(result) => return Ok(result),
                Err(error) => error,
            }
        };
        Err(match error {
            ScanError::Io(source) => ReadError::Storage(self.io("read")(source)),
            ScanError::Bad { position, what } => ReadError::Corrupt { position, what },
        })
    }
}

/// Size of the batch at a position, from its length field.
fn batch_bytes(file: &dyn DiskFile, position: u64) -> io::Result<u64> {
    let mut head = [0; OVERHEAD_BYTES];
    file.read_at(position, &mut head)?;
    let [.., a, b, c, d] = head;
    let length = u64::from(u32::from_be_bytes([a, b, c, d]));
    Ok(length.saturating_add(OVERHEAD_BYTES as u64))
}

fn read_batch(file: &dyn DiskFile, found: &Found) -> Result<Vec<u8>, ScanError> {
    let mut bytes = vec![0; found.header.total_bytes()];
    let read = file.read_at(found.position, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}
