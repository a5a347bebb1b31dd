//! The producers' state at an offset: the newest sound snapshot and the batches after it.

use std::path::Path;

use crate::disk::{Disk, OpenMode};
use crate::storage::appender::marker_of;
use crate::storage::log::Log;
use crate::storage::producers::{self, Producers};
use crate::storage::scan::{Found, HeaderScan, ScanError};
use crate::storage::segment::Segment;

/// What the producers have written below `end`; those silent since before `oldest` (ms) are forgotten. Snapshots
/// beyond `end` are removed. From `scanned_from` on, snapshots and transaction indexes are made again.
pub(crate) fn reload_producers(
    log: &Log,
    end: i64,
    oldest: i64,
    scanned_from: Option<i64>,
) -> Result<Producers, ScanError> {
    let disk = log.disk.as_ref();
    let (from, mut producers) = newest_snapshot(disk, &log.dir, end.min(scanned_from.unwrap_or(end)))?;
    producers.expire(oldest);
    if from >= end {
        return Ok(producers);
    }
    let segments = log.segments.load();
    let first = segments.partition_point(|segment| segment.base <= from).saturating_sub(1);
    for segment in segments.iter().skip(first).filter(|segment| segment.base < end) {
        let scanned = scanned_from.is_some_and(|scanned| segment.base >= scanned);
        if scanned && segment.base > from {
            let path = log.dir.join(producers::file_name(segment.base));
            disk.open(&path, OpenMode::Truncate)?.write_at(0, &producers::encode(&producers))?;
        }
        replay(disk, segment, from..end, &mut producers, scanned)?;
    }
    Ok(producers)
}

fn newest_snapshot(disk: &dyn Disk, dir: &Path, end: i64) -> Result<(i64, Producers), ScanError> {
    let mut offsets: Vec<i64> =
        disk.list(dir)?.iter().filter_map(|entry| producers::parse_file_name(&entry.name)).collect();
    offsets.sort_unstable();
    while let Some(offset) = offsets.pop() {
        let path = dir.join(producers::file_name(offset));
        if offset <= end {
            let bytes = disk.read(&path)?;
            if let Some(producers) = producers::decode(&bytes) {
                return Ok((offset, producers));
            }
        }
        disk.remove_file(&path)?;
    }
    Ok((0, Producers::default()))
}

fn replay(
    disk: &dyn Disk,
    segment: &Segment,
    range: std::ops::Range<i64>,
    producers: &mut Producers,
    note_aborted: bool,
) -> Result<(), ScanError> {
    let file = segment.file(disk)?;
    let start =
        segment.find(disk, range.start, segment.bytes())?.map_or(segment.bytes(), |found| found.position);
    let mut scan = HeaderScan::new(file.as_ref(), start, segment.bytes());
    while let Some(Found { position, header }) = scan.next()? {
        if header.base_offset >= range.end {
            break;
        }
        let Some(producer) = header.producer() else { continue };
        if !header.attributes.control() {
            producers.apply(&header, &producer);
            continue;
        }
        let mut bytes = vec![0; header.total_bytes()];
        file.read_at(position, &mut bytes)?;
        if let Some(marker) = marker_of(&bytes) {
            match producers.apply_marker(&header, &producer, marker) {
                Some(aborted) if note_aborted => segment.aborted.append(disk, aborted)?,
                _ => {}
            }
        }
    }
    Ok(())
}
